/** A small cache of responses: reads ask whether they have changed, and 304 has no body (CON-4). */
import type { Send } from './send.ts'

interface Kept {
  readonly etag: string
  readonly text: string
}

const longestText = 65_536

/**
 * Keeps the last responses of GET, and asks only whether they have changed: 304 has no body.
 *
 * @param most the number of responses that are kept; texts of more than 64 KiB are not
 */
export function conditionalReads(send: Send, most: number): Send {
  const responses = new Map<string, Kept>()
  return async (request) => {
    // The address of a former state is also that of the present one.
    if (request.method !== 'GET' || request.stream || 'accept-datetime' in request.headers) return send(request)
    // What one caller may read is not for another.
    const address = `${request.headers['authorization']} ${request.path}`
    const kept = responses.get(address)
    const response = await send(
      kept === undefined ? request : { ...request, headers: { ...request.headers, 'if-none-match': kept.etag } },
    )
    if (response.status === 304 && kept !== undefined) {
      keep(address, kept)
      // A copy of its own for each caller, who may change it.
      return { ...response, status: 200, text: kept.text, body: JSON.parse(kept.text) }
    }
    const { status, text } = response
    const etag = response.headers.get('etag')
    if (status === 200 && etag && text.length <= longestText) keep(address, { etag, text })
    else responses.delete(address)
    return response
  }

  /** The oldest entry of a Map is its first one. */
  function keep(address: string, kept: Kept): void {
    responses.delete(address)
    responses.set(address, kept)
    const [oldest = ''] = responses.keys()
    if (responses.size > most) responses.delete(oldest)
  }
}
