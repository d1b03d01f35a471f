/** A receiver of webhooks: what it got, and what it answers. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'

/** A message that it got. */
export interface Message {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: events have data of every shape
  readonly event: any
}

/** What it answers: a status, or anything by hand. */
export type Answer = (message: Message, response: ServerResponse) => number | undefined

/** A receiver that listens. */
export interface Receiver {
  readonly url: string
  readonly port: number
  readonly got: Message[]
  answer: Answer
  /** The kinds of events that it got of a record, in their order. */
  typesOf(record: string): string[]
}

/** Starts a receiver, which ends with the test. */
export async function startReceiver(test: TestContext, answer: Answer = () => 204): Promise<Receiver> {
  const got: Message[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const message = { path: String(request.url), headers: request.headers, text, event: JSON.parse(text) }
    got.push(message)
    const status = receiver.answer(message, response)
    if (status !== undefined) response.writeHead(status).end('thanks')
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const receiver: Receiver = {
    ...{ url: `http://127.0.0.1:${port}/`, port, got, answer },
    typesOf: (record) => got.filter(({ event }) => event.subject === record).map(({ event }) => event.type),
  }
  return receiver
}

/** Whether a secret verifies a message, by the library of Standard Webhooks. */
export function isSignedBy(secret: string, { text, headers }: Message): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}
