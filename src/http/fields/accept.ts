/** `Accept` (RFC 9110 sections 12.4.2 and 12.5.1): its media ranges, and whether a client accepts a media type. */
import Negotiator from 'negotiator'

// In characters. Browsers send 150, and the work grows with the number of ranges.
const longest = 1000

/**
 * Whether `Accept` allows a media type: the most specific matching range counts, and weight 0 refuses. A missing field,
 * one without ranges, or one of over 1,000 characters accepts everything: a server may ignore the field. A malformed
 * range matches nothing, and a malformed weight is 0. JSON is UTF-8, so a range with `charset=utf-8` matches too.
 * Errors are sent as `application/problem+json` regardless of `Accept`.
 *
 * @param mediaType without parameters, in lower case
 */
export function accepts(accept: string | undefined, mediaType = 'application/json'): boolean {
  if (accept === undefined || accept === '*/*' || accept === mediaType) return true
  if (accept.length > longest || !/[^ \t,]/.test(accept)) return true
  const available = [mediaType, `${mediaType}; charset=utf-8`]
  return new Negotiator({ headers: { accept } }).mediaTypes(available).length > 0
}

/** A media range. */
interface MediaRange {
  /** Without parameters, in lower case: `text/*`. */
  readonly range: string
  /** 0 (not accepted) to 1; a malformed weight is 0. */
  readonly weight: number
}

const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/**
 * Reads the value of `Accept` in one pass. Malformed ranges are kept: they match no media type.
 */
export function mediaRanges(accept: string): MediaRange[] {
  return splitOutside(accept, ',').map((item) => {
    const [range = '', ...parameters] = splitOutside(item, ';').map((part) => part.trim().toLowerCase())
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    if (given === undefined) return { range, weight: 1 }
    return { range, weight: weight.test(given) ? Number(given) : 0 }
  })
}

/** Splits a list at a character, except in quoted text (section 5.6.4). */
function splitOutside(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator)
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '"') quoted = !quoted
    else if (quoted && character === '\\') index++
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, index))
      start = index + 1
    }
  }
  return [...parts, text.slice(start)]
}
