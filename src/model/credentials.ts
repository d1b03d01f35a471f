/** What can be recognised as a secret wherever it stands: API keys, JWT (RFC 7519), passwords in addresses (SEC-3). */

const key = /rsk_[0-9A-Za-z]{49}/g
const token = /eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*/g
// A password may hold an @ or a slash that should have been escaped: the last @ of the word counts.
const password = /([a-z][a-z\d+.-]*:\/\/)[^\s"']*@/gi

/** A text with all of them taken out: what came where no credential belongs must not be told on. */
export function withoutCredentials(text: string): string {
  let rest = text
  if (rest.includes('rsk_')) rest = rest.replaceAll(key, 'rsk_***')
  if (rest.includes('eyJ')) rest = rest.replaceAll(token, 'eyJ***')
  return rest.includes('@') && rest.includes('://') ? rest.replaceAll(password, '$1***@') : rest
}

/** Whether an API key or a JWT stands in a text. */
export function holdsCredential(text: string): boolean {
  return (text.includes('rsk_') && text.search(key) !== -1) || (text.includes('eyJ') && text.search(token) !== -1)
}

/** The same for the path of an address, in which a key may be percent-encoded. */
export function pathWithoutCredentials(path: string): string {
  if (path.includes('%')) {
    try {
      const decoded = decodeURIComponent(path)
      if (holdsCredential(decoded)) return encodeURI(withoutCredentials(decoded))
    } catch {
      // It is refused for that; what stands in it is looked at as it came.
    }
  }
  return withoutCredentials(path)
}
