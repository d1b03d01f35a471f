/** The body of a request, read: 413, 415 and malformed JSON are refused here (CON-6). */
import { isUtf8, parseContentType } from '../http/fields/content-type.ts'
import type { HttpRequest } from '../http/message.ts'
import { deepestNesting, readJson } from '../model/json/read-json.ts'
import { fault } from '../spec/faults.ts'
import { bodyTypes } from '../spec/media-types.ts'

/**
 * The media types that a method takes as a body.
 *
 * @param vendorType one that means `application/json` too: that of a version
 */
export function acceptedTypes(method: string, vendorType?: string): readonly string[] {
  const types = bodyTypes[method] ?? []
  return vendorType === undefined || types.length === 0 ? types : [...types, vendorType]
}

/** A body, and what it says it is. */
export interface Body {
  readonly value: unknown
  readonly mediaType: string
}

// Where the media types that would be taken are named (RFC 5789 section 2.2, RFC 10008 section 3).
const named: Readonly<Record<string, string>> = { PATCH: 'Accept-Patch', POST: 'Accept-Post', QUERY: 'Accept-Query' }

/**
 * Reads a JSON body.
 *
 * @param limit the most bytes allowed
 * @param vendorType a media type that means `application/json` too
 * @throws Fault UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, MALFORMED_JSON
 */
export async function readBody(request: HttpRequest, limit: number, vendorType?: string): Promise<Body> {
  const types = acceptedTypes(request.method, vendorType)
  const sent = request.headers['content-type']
  const type = sent === undefined ? undefined : parseContentType(sent)
  const encoded = !/^(identity)?$/i.test(request.headers['content-encoding']?.trim() ?? '')
  if (type === undefined || !types.includes(type.mediaType) || !isUtf8(type) || encoded) {
    // Too large is too large, whatever it is.
    if (Number(request.headers['content-length'] ?? 0) > limit) await request.readBody(limit)
    if (encoded) {
      // RFC 9110 section 15.5.16: the coding is named by Accept-Encoding.
      const headers = { 'Accept-Encoding': 'identity' }
      throw fault('UNSUPPORTED_MEDIA_TYPE', { detail: 'Send the body without a Content-Encoding.', headers })
    }
    const header = named[request.method]
    throw fault('UNSUPPORTED_MEDIA_TYPE', {
      detail: `Send the body as ${types.join(' or ')} in UTF-8, and say so in Content-Type.`,
      headers: header === undefined ? {} : { [header]: types.join(', ') },
    })
  }
  const value = readJson(await request.readBody(limit), { maxDepth: deepestNesting })
  return { value, mediaType: type.mediaType }
}
