/** Variants of texts that cases ask with. */

/** A text as it is, or in capitals. */
export function textVariant(text: string, variant: string): string {
  return variant === 'upper' ? text.toUpperCase() : text
}

// No vowels: nothing that a search could take for an ending or leave out as a common word.
const letters = 'bcdfghjklmnpqrtv'

/** A word of letters alone that stands for a mark: searches take words apart at everything else. */
export function wordOf(mark: string): string {
  const digits = mark.slice(mark.lastIndexOf('-') + 1)
  return `z${digits.replaceAll(/[\da-f]/g, (digit) => letters[Number.parseInt(digit, 16)] as string)}z`
}

/**
 * A cursor as somebody could forge it: where it is readable once decoded, one letter or digit of what it says is
 * another; otherwise one of its characters.
 */
export function forgedCursor(cursor: string): string {
  const alphabet = /[-_]/.test(cursor) ? 'base64url' : 'base64'
  const decoded = Buffer.from(cursor, alphabet)
  const text = decoded.toString()
  const isReadable = /^[\x20-\x7e]+$/.test(text) && decoded.length > 1
  if (!isReadable || /^\d+$/.test(cursor)) return withAnother(cursor)
  const padding = cursor.endsWith('=')
  const forged = Buffer.from(withAnother(text, -1)).toString(alphabet)
  return padding ? forged : forged.replace(/=+$/, '')
}

/** With another letter or digit: in the middle, or the last, which is part of a value, not of a name. */
function withAnother(text: string, which?: -1): string {
  const places = [...text.matchAll(/[\da-z]/gi)].map(({ index }) => index)
  const at = places.at(which ?? Math.floor(places.length / 2))
  if (at === undefined) return `${text}x`
  const old = text[at] as string
  const other = old === '1' || old === 'b' ? (/\d/.test(old) ? '2' : 'c') : /\d/.test(old) ? '1' : 'b'
  return text.slice(0, at) + other + text.slice(at + 1)
}
