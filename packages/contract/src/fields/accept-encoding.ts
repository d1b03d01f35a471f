/** `Accept-Encoding` (RFC 9110 section 12.5.3): in which encodings a client takes a response. */
import Negotiator from 'negotiator'

/** How a response can be encoded; `identity` is the response as it is. */
export type Encoding = 'identity' | Coding

/** A compression. */
export type Coding = 'zstd' | 'br' | 'gzip'

// In characters. Browsers send 30, and the work grows with the number of encodings.
const longest = 1000

/**
 * The encodings that a client takes, the one that it likes best first.
 *
 * @param accepted the value of the field; `undefined`: it was not sent
 * @param available in the order in which to choose among those that the client likes equally
 * @returns empty if the client takes none of them; it then gets the response as it is, as the section allows
 */
export function encodingsFor<Available extends Encoding>(
  accepted: string | undefined,
  available: readonly Available[],
): readonly (Available | 'identity')[] {
  if (accepted === undefined || accepted.length > longest) return ['identity']
  // The types of the package lack the second parameter.
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accepted } }) as unknown as {
    encodings(available: readonly Available[], options: { preferred: readonly Available[] }): Available[]
  }
  return negotiator.encodings(available, { preferred: available })
}

/** `Content-Encoding`, and the request field that a response was chosen by. */
export function encodingHeaders(encoding: Encoding): Record<string, string> {
  const vary = { Vary: 'Accept-Encoding' }
  return encoding === 'identity' ? vary : { 'Content-Encoding': encoding, ...vary }
}

/** The opaque tag of a compressed representation, which has a strong tag of its own (section 8.8.3.3). */
export function compressedTag(opaque: string, coding: Coding): string {
  return `${opaque}-${coding}`
}

/** The opaque tag of the representation that a tag of `compressedTag` belongs to. */
export function uncompressedTag(opaque: string): string {
  return opaque.replace(/-(?:zstd|br|gzip)$/, '')
}
