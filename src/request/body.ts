/** The body of a request, read: 413, 415 and malformed JSON are refused here (CON-6). */
import { isUtf8, parseContentType } from '../http/fields/content-type.ts'
import type { HttpRequest } from '../http/message.ts'
import { deepestNesting, readJson } from '../model/json/read-json.ts'
import { fault } from '../spec/faults.ts'

const accepted: Readonly<Record<string, readonly string[]>> = {
  POST: ['application/json'],
  PUT: ['application/json'],
  PATCH: ['application/json', 'application/merge-patch+json'],
}

/**
 * Reads a JSON body.
 *
 * @param limit the most bytes allowed
 * @throws Fault UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, MALFORMED_JSON
 */
export async function readBody(request: HttpRequest, limit: number): Promise<unknown> {
  const types = accepted[request.method] as readonly string[]
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
    const header = request.method === 'PATCH' ? 'Accept-Patch' : 'Accept-Post'
    throw fault('UNSUPPORTED_MEDIA_TYPE', {
      detail: `Send the body as ${types.join(' or ')} in UTF-8, and say so in Content-Type.`,
      headers: request.method === 'PUT' ? {} : { [header]: types.join(', ') },
    })
  }
  return readJson(await request.readBody(limit), { maxDepth: deepestNesting })
}
