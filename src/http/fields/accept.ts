/** `Accept` (RFC 9110 section 12.5.1): whether what we have fits what the client takes. */
import Negotiator from 'negotiator'

/**
 * Whether a media type fits the value of `Accept`. No header, or an empty one, takes everything. Our JSON is UTF-8, so
 * a range that asks for that by a `charset` parameter fits too.
 *
 * @param mediaType without parameters, in lower case
 */
export function accepts(accept: string | undefined, mediaType = 'application/json'): boolean {
  if (accept === undefined || accept === '*/*' || accept === mediaType || accept.trim() === '') return true
  const available = [mediaType, `${mediaType}; charset=utf-8`]
  return new Negotiator({ headers: { accept } }).mediaTypes(available).length > 0
}
