/** Reads streams of events over real connections. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createNodeServer } from '../../packages/server/src/server/node/listener.ts'
import type { Trial } from '../harness.ts'
import { becomes } from '../open-files.ts'
import { type OpenAnswer, openAnswer } from './open-stream.ts'
import type { Transport } from './transports.ts'

/** A stream, as far as it came. */
export interface EventClient extends OpenAnswer {
  /** The data of its complete blocks. */
  // biome-ignore lint/suspicious/noExplicitAny: events of records of every collection
  events(): any[]
  /** The id of its last complete block. */
  lastEventId(): string | undefined
  /** Waits until there are so many events. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  until(count: number): Promise<any[]>
}

interface Asked {
  /** A caller of the trial. */
  readonly as?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

/** Serves a trial, and makes the function that opens streams of it. */
export async function streamsOf(
  context: TestContext,
  { app, keys }: Pick<Trial, 'app' | 'keys'>,
  transport: Transport = 'HTTP/1.1',
  tls?: Parameters<typeof createNodeServer>[0]['tls'],
) {
  const server = createNodeServer({ respond: app.respond, problem: app.refuse, tls })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(100))
  const open = async (path = '/v1/events', { as = 'root', headers = {}, method }: Asked = {}): Promise<EventClient> => {
    const authorization = `Bearer ${keys.get(as) ?? as}`
    const fields = { accept: 'text/event-stream', authorization, ...headers }
    const answer = await openAnswer(origin, path, transport, { ...(method && { method }), headers: fields })
    context.after(() => answer.leave())
    const valuesOf = (field: string) =>
      answer
        .text()
        .split('\n\n')
        .slice(0, -1)
        .flatMap((block) => block.split('\n').filter((line) => line.startsWith(`${field}: `)))
        .map((line) => line.slice(field.length + 2))
    const events = () => valuesOf('data').map((text) => JSON.parse(text))
    return {
      ...answer,
      events,
      lastEventId: () => valuesOf('id').at(-1),
      async until(count) {
        assert.ok(await becomes(() => valuesOf('data').length >= count), `${events().length} of ${count} events`)
        return events()
      },
    }
  }
  return { server, origin, open }
}
