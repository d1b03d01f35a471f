/** Why a server gave no answer, and what to do. */

/** A sentence for a failed connection. */
export function reasonOf({ origin, hostname, protocol, port }: URL, told: string): string {
  // OpenSSL says where in its sources it was.
  const failure = told.replace(/^.*:SSL routines:[^:]*:([^:]*):.*$/s, '$1').trim()
  const at = `${origin} does not answer`
  if (/ECONNREFUSED/.test(failure)) return `${at}: nothing listens there. Start the server, or mend the address.`
  if (/ENOTFOUND|EAI_AGAIN/.test(failure)) return `${at}: there is no host ${hostname}. Mend the address.`
  if (/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|no answer within/.test(failure)) {
    return `${at}: it cannot be reached from here (${failure}).`
  }
  if (/certificate|self.signed|CERT_|UNABLE_TO_|issuer|altnames/i.test(failure)) {
    return `The certificate of ${origin} is not trusted (${failure}). Give the one to trust with --cacert FILE, or trust any with --insecure.`
  }
  if (protocol === 'https:' && /EPROTO|wrong version number|packet length/i.test(told)) {
    return `${at} by HTTPS (${failure}). Perhaps it speaks plain HTTP: http://${hostname}${port && `:${port}`}`
  }
  if (protocol === 'http:' && /socket hang up|ECONNRESET|Parse Error/i.test(failure)) {
    return `${at} by plain HTTP (${failure}). Perhaps it speaks HTTPS: https://${hostname}${port && `:${port}`}`
  }
  return `${at}: ${failure}.`
}
