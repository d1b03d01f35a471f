/** Follows the events of an interface: a stream that reconnects by itself (EVT-6). */
import type { EventKind } from 'resourced-contract/model/event'
import type { Collection } from './collection.ts'
import { exchange, queryOf } from './exchange.ts'
import type { CollectionTypes } from './interface-types.ts'
import { ProblemError } from './problem-error.ts'
import { readServerSentEvents } from './read-server-sent-events.ts'
import { retryAfter, sleep } from './retrying.ts'
import type { CallOptions, Send } from './send.ts'

/** A change of a record. `data` is the record after the change, and `null` where it was deleted or purged. */
export type ChangeEvent<Types, Name extends keyof Types = keyof Types, Kind extends EventKind = EventKind> = {
  readonly [Each in Name]: Types[Each] extends CollectionTypes
    ? { readonly [K in Kind]: EventOf<Each, K, Types[Each]['record']> }[Kind]
    : never
}[Name]

interface EventOf<Name, Kind, Data> {
  readonly id: string
  readonly collection: Name
  /** The id of the record. */
  readonly record: string
  readonly kind: Kind
  readonly data: Kind extends 'deleted' | 'purged' ? null : Data
  /** The same for all changes of a request; `null`: unknown, or no request. */
  readonly request_id: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** Which events to follow, and from where on. */
export interface FollowOptions<Name, Kind> extends CallOptions {
  readonly collection?: Name | readonly Name[] | undefined
  /** The ids of records. */
  readonly record?: string | readonly string[] | undefined
  readonly kind?: Kind | readonly Kind[] | undefined
  /** The id of the last event that was processed; by default, the stream begins with the next event. */
  readonly lastEventId?: string | undefined
}

/** The types of the collection `events`. */
interface EventTypes<Types> extends CollectionTypes {
  readonly record: ChangeEvent<Types>
  readonly filter: Readonly<Record<string, unknown>>
}

/** The events of an interface: a function that follows them, and the calls of the collection. */
export interface Events<Types> extends Pick<Collection<EventTypes<Types>>, 'list' | 'all' | 'get'> {
  /**
   * Follows events. It reconnects as often as necessary, and continues after the last event.
   *
   * It ends when the signal is aborted.
   *
   * @throws ProblemError if the server refuses the stream: with 410 EVENTS_EXPIRED, read the records again
   * @example
   * for await (const { kind, data } of client.events({ collection: 'tasks', signal })) console.log(kind, data?.title)
   */
  <Name extends keyof Types = keyof Types, Kind extends EventKind = EventKind>(
    options?: FollowOptions<Name, Kind>,
  ): AsyncGenerator<ChangeEvent<Types, Name, Kind>, void, void>
}

// Three heartbeats. A connection that is lost without notice is silent for ever.
const longestSilence = 45_000
const longestPause = 30_000

/** Makes the function that follows events. */
export function followEvents(send: Send) {
  return async function* follow({
    signal,
    lastEventId,
    ...filters
  }: FollowOptions<string, string> = {}): AsyncGenerator<object, void, void> {
    let id = lastEventId
    let retry = 2000
    let failures = 0
    while (!signal?.aborted) {
      const silence = new AbortController()
      let timer: ReturnType<typeof setTimeout> | undefined
      const heard = () => {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), longestSilence)
      }
      let asked: number | undefined
      try {
        heard()
        const { body, headers, status } = await exchange(send, 'GET', `/events${queryOf(filters)}`, {
          headers: { accept: 'text/event-stream', 'last-event-id': id },
          ...{ stream: true, signal: AbortSignal.any(signal ? [signal, silence.signal] : [silence.signal]) },
        })
        if (!headers.get('content-type')?.startsWith('text/event-stream')) {
          throw new ProblemError(status, { detail: 'This is no stream of events: check the option url of the client.' })
        }
        for await (const block of readServerSentEvents(body as unknown as Response, heard)) {
          failures = 0
          retry = block.retry ?? retry
          id = block.id ?? id
          if (block.data !== undefined) yield JSON.parse(block.data)
        }
      } catch (error) {
        if (signal?.aborted) return
        if (error instanceof ProblemError && !isTemporary(error.status)) throw error
        if (error instanceof SyntaxError) throw error
        asked = retryAfter((error as Partial<ProblemError>).response)
      } finally {
        clearTimeout(timer)
        silence.abort()
      }
      const pause = Math.min(retry * 2 ** failures++, longestPause) * (0.5 + Math.random())
      await sleep((asked ?? 0) + pause, signal).catch(() => {})
    }
  }
}

function isTemporary(status: number): boolean {
  return status === 0 || status === 429 || status >= 500
}
