/** Removes secrets from texts: API keys, JWTs (RFC 7519), and passwords in URLs (SEC-3). */

const key = /rsk_[0-9A-Za-z]{49}/g
const token = /eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*/g
// A password may have an unescaped @ or slash, so it ends at the last @ of the word. USER@HOST is in our own messages.
const password = /([a-z][a-z\d+.-]*:\/\/)(?!USER@HOST:(?:5432|PORT)\/)[^\s"']*@/gi

/** The text with `***` for each secret, for logs and error messages. */
export function withoutCredentials(text: string): string {
  let rest = text
  if (rest.includes('rsk_')) rest = rest.replaceAll(key, 'rsk_***')
  if (rest.includes('eyJ')) rest = rest.replaceAll(token, 'eyJ***')
  return rest.includes('@') && rest.includes('://') ? rest.replaceAll(password, '$1***@') : rest
}

/** Whether a text contains an API key or a JWT. */
export function holdsCredential(text: string): boolean {
  return (text.includes('rsk_') && text.search(key) !== -1) || (text.includes('eyJ') && text.search(token) !== -1)
}

/** Whether a text is an API key or a JWT, and nothing else. */
export function isCredential(text: string): boolean {
  return holdsCredential(text) && /^(?:rsk_\*\*\*|eyJ\*\*\*)$/.test(withoutCredentials(text))
}

/** Like `withoutCredentials`, for the path of a URL, which may have a percent-encoded key. */
export function pathWithoutCredentials(path: string): string {
  if (path.includes('%')) {
    try {
      const decoded = decodeURIComponent(path)
      if (holdsCredential(decoded)) return encodeURI(withoutCredentials(decoded))
    } catch {
      // The request is refused for its malformed path, which is searched as it is.
    }
  }
  return withoutCredentials(path)
}
