/** `Accept-Encoding` (RFC 9110 section 12.5.3): in which encoding a client wants a response that is kept in several. */
import Negotiator from 'negotiator'

/** How a response can be encoded; `identity` is the response as it is. */
export type Encoding = 'identity' | 'br' | 'gzip'

// In characters. Browsers send 30, and the work grows with the number of encodings.
const longest = 1000

/**
 * The encoding that a client likes best.
 *
 * @param available the smallest first
 */
export function encodingFor<Available extends Encoding>(
  { 'accept-encoding': accepted }: Readonly<Record<string, string | undefined>>,
  available: readonly Available[],
): Available | 'identity' {
  if (accepted === undefined || accepted.length > longest) return 'identity'
  // The types of the package lack the second parameter.
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accepted } }) as unknown as {
    encodings(available: readonly Available[], options: { preferred: readonly Available[] }): Available[]
  }
  // A client that refuses everything gets the response as it is, as the section allows.
  return negotiator.encodings(available, { preferred: available })[0] ?? 'identity'
}

/** `Content-Encoding`, and the request field that a response was chosen by. */
export function encodingHeaders(encoding: Encoding): Record<string, string> {
  const vary = { Vary: 'Accept-Encoding' }
  return encoding === 'identity' ? vary : { 'Content-Encoding': encoding, ...vary }
}

/** The entity tag of an encoding, which is a representation with a strong tag of its own (section 8.8.3.3). */
export function encodedTag(opaque: string, encoding: Encoding): string {
  return encoding === 'identity' ? opaque : `${opaque}-${encoding}`
}
