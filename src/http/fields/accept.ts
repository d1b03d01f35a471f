/** `Accept` (RFC 9110 section 12.5.1): whether what we have fits what the client takes. */
import Negotiator from 'negotiator'

// In characters. Browsers send 150; the work grows with the number of ranges, and so many are nobody's wishes.
const longest = 1000

/**
 * Whether a media type fits the value of `Accept`: the most specific range that covers it counts, and weight 0 is no.
 * No header, or one without ranges, takes everything, and so does one of over 1,000 characters: a server may always
 * disregard the field. What is no range covers nothing, and what is no weight is 0. Our JSON is UTF-8, so a range that
 * asks for that by a `charset` parameter fits too. Errors need not fit: they are sent as `application/problem+json`
 * whatever was asked for.
 *
 * @param mediaType without parameters, in lower case
 */
export function accepts(accept: string | undefined, mediaType = 'application/json'): boolean {
  if (accept === undefined || accept === '*/*' || accept === mediaType) return true
  if (accept.length > longest || !/[^ \t,]/.test(accept)) return true
  const available = [mediaType, `${mediaType}; charset=utf-8`]
  return new Negotiator({ headers: { accept } }).mediaTypes(available).length > 0
}
