/** `Accept` (RFC 9110 section 12.5.1): whether a client accepts a media type. */
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
