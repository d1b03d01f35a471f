/** Checks the TLS certificate: it can be read, is valid today, is for the host, and its key is private. */
import { X509Certificate } from 'node:crypto'
import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import {
  type CertificateFiles,
  certificateFor,
  loopback,
  readCertificate,
  type TlsOptions,
} from '../../server/node/certificates.ts'
import { type Diagnosis, ok, problem, warning } from './diagnosis.ts'
import { openToOthers } from './machine.ts'

const check = 'TLS'
const day = 86_400_000

/**
 * Checks the certificate.
 *
 * @param now milliseconds since 1970
 */
export function checkTls(options: TlsOptions, now = Date.now()): Diagnosis[] {
  const { host, trustProxy } = options
  let files: ReturnType<typeof certificateFor>
  try {
    files = certificateFor(options)
  } catch (error) {
    return [problem(check, (error as ConfigurationError).message)]
  }
  if (files === 'none') return [ok(check, trustProxy ? 'The proxy ends TLS.' : 'Plain HTTP on loopback.')]
  if (files !== 'local') return ofFiles(files, host, now)
  if (loopback.has(host)) return [ok(check, 'A local certificate for localhost, which the server renews.')]
  const finding = `Clients of other machines do not trust the local certificate, which is for localhost, not ${host}.`
  return [warning(check, finding, 'Give a certificate with --tls-cert and --tls-key.')]
}

function ofFiles({ cert, key }: CertificateFiles, host: string, now: number): Diagnosis[] {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(readCertificate({ cert, key }).cert)
  } catch (error) {
    if (error instanceof ConfigurationError) return [problem(check, error.message)]
    return [problem(check, `${cert} cannot be read as a certificate.`, 'Give a certificate in PEM form.')]
  }
  const others = openToOthers(check, key, statSync(key, { throwIfNoEntry: false }))
  return [validity(cert, certificate, now), ...names(cert, certificate, host), ...(others ? [others] : [])]
}

function validity(file: string, certificate: X509Certificate, now: number): Diagnosis {
  const [from, until] = [certificate.validFromDate, certificate.validToDate]
  const date = (moment: Date) => moment.toISOString().slice(0, 10)
  const renew = 'Renew it; servers that are running read the new files within ten seconds.'
  if (until.getTime() <= now) return problem(check, `${file} expired on ${date(until)}.`, renew)
  if (from.getTime() > now) {
    return problem(check, `${file} is not valid before ${date(from)}.`, 'Check the clock, or give another certificate.')
  }
  const days = Math.floor((until.getTime() - now) / day)
  const finding = `${file} is valid for ${days} more ${days === 1 ? 'day' : 'days'}, until ${date(until)}.`
  return days < 14 ? warning(check, finding, renew) : ok(check, finding)
}

/** Only a host that clients can name tells which name they use. */
function names(file: string, certificate: X509Certificate, host: string): Diagnosis[] {
  if (loopback.has(host) || host === '0.0.0.0' || host === '::') return []
  const fits = isIP(host) > 0 ? certificate.checkIP(host) : certificate.checkHost(host)
  if (fits !== undefined) return []
  const finding = `${file} is not for ${host}, but for ${certificate.subjectAltName ?? certificate.subject}.`
  return [warning(check, finding, `Clients that use ${host} refuse it: give a certificate for that name.`)]
}
