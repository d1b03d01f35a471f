/** A client of a server in another process, or in this one. */
import { Agent, request } from 'node:http'

/** An answer, its body read. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any
}

/**
 * Sends one request. Rejects where the connection ends before the answer does; the error has `isNewConnection` where it
 * was the first request of the connection.
 */
export type Send = (
  method: string,
  path: string,
  options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
) => Promise<Answer>

/** A client with connections of its own, kept alive: one, unless said. */
export function clientOf(origin: string, key: string, maxSockets = 1): { readonly send: Send; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets })
  const { hostname, port } = new URL(origin)
  const send: Send = (method, path, { body, headers } = {}) =>
    new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const of = bytes && { 'content-type': 'application/json', 'content-length': bytes.length }
      const all = { authorization: `Bearer ${key}`, ...of, ...headers }
      const sent = request({ agent, hostname, port, method, path, headers: all }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece) => {
          text += piece
        })
        answer.on('error', reject)
        answer.on('end', () => {
          const json = text === '' ? undefined : JSON.parse(text)
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, json })
        })
      })
      sent.on('error', (error) => reject(Object.assign(error, { isNewConnection: !sent.reusedSocket })))
      sent.end(bytes)
    })
  return { send, close: () => agent.destroy() }
}

/** Whether a request failed because its connection did: nobody knows what became of it. */
export function isConnectionLost(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE'
}

/**
 * Sends a read again where its new connection is reset. That may happen while threads are replaced: to connections that
 * arrive when a former thread stops to listen.
 */
export function sendAgain(send: Send): Send {
  const isReset = (error: unknown) =>
    isConnectionLost(error) && (error as { isNewConnection?: boolean }).isNewConnection === true
  return (...given) => send(...given).catch((error) => (isReset(error) ? send(...given) : Promise.reject(error)))
}
