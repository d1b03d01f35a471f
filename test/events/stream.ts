/** A stream of events, asked for without a socket. */
import type { StreamSink } from '../../packages/server/src/http/message.ts'
import type { Application } from '../../packages/server/src/server/app.ts'

/** What a client has got of a stream. */
export interface Stream {
  /** 410, or whatever it was refused with; 200: it is open, or was. */
  readonly status: number
  readonly text: string
  readonly isEnded: boolean
  /** The last id that the client has got, as `Last-Event-ID` sends it. */
  readonly lastEventId: string | undefined
  close(): void
}

/** Asks for the events of an application. */
export async function openStream(app: Application, key: string, lastEventId?: string): Promise<Stream> {
  const sent = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
  const headers = lastEventId === undefined ? sent : { ...sent, 'last-event-id': lastEventId }
  const readBody = async () => new Uint8Array()
  const asked = { method: 'GET', target: '/v1/events', headers, secure: true, address: '127.0.0.1', readBody }
  const { status, body } = await app.respond(asked)
  let text = ''
  let isEnded = false
  const end = () => {
    isEnded = true
  }
  const sink: StreamSink = {
    write(bytes) {
      text += Buffer.from(bytes).toString()
      return true
    },
    ...{ end, abort: end },
  }
  const stream = typeof body === 'object' && 'open' in body ? body : undefined
  stream?.open(sink)
  return {
    status,
    get text() {
      return text
    },
    get isEnded() {
      return isEnded
    },
    get lastEventId() {
      return [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1]
    },
    close: () => stream?.closed(),
  }
}
