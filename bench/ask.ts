/** One request and its whole answer, outside of any measurement. */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

/** What the load sends: one request of many. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** An answer. */
export interface Answer {
  readonly status: number
  /** As received, without those that Node adds by itself. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const timeout = 60_000
const added = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

/**
 * Asks once. Certificates are not looked at: the server is our own, on loopback.
 *
 * @throws Error of the connection
 */
export function ask(url: string, options: Partial<Request> = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = options
  const request = url.startsWith('https:') ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method, headers: { ...headers }, rejectUnauthorized: false, agent: false, timeout },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
        response.on('end', () => resolve(answerOf(response, Buffer.concat(chunks).toString())))
      },
    )
    asked.on('timeout', () => asked.destroy(new Error(`${url} did not answer within ${timeout} ms.`)))
    asked.on('error', reject).end(body)
  })
}

function answerOf(response: IncomingMessage, body: string): Answer {
  const headers: Record<string, string> = {}
  const { rawHeaders } = response
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (!added.has(name.toLowerCase())) headers[name] = rawHeaders[index + 1] as string
  }
  return { status: response.statusCode ?? 0, headers, body }
}
