/** Events in memory, and clients that read streams of them. */
import { randomBytes, randomUUID } from 'node:crypto'
import { eventMark } from 'resourced-contract/model/event'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import type { StreamSink } from '../../http/message.ts'
import type { EventsOutcome, ReadEvent, ReadEvents } from '../../plan/plan-events.ts'
import type { Caller } from '../../policy/caller.ts'
import type { EventStore } from '../../storage/storage.ts'
import type { EventStream, StreamRequest } from './event-stream.ts'
import { EventStreams, type StreamsOptions } from './event-streams.ts'

/** A store whose events tests write. */
export class TrialStore implements EventStore {
  readonly events: ReadEvent[] = []
  reads = 0
  floorPosition = 0
  /** How many events one read examines. */
  examined = 1_000
  /** Whether the caller of a plan may read an event. */
  mayRead: (plan: ReadEvents, event: ReadEvent) => boolean = () => true

  write(record: string, more: { readonly size?: number } = {}): ReadEvent {
    const position = this.events.length + 1
    const id = randomUUID()
    const data = { record, text: 'x'.repeat(more.size ?? 1) }
    const json = JSON.stringify({ id, collection: 'tasks', record, kind: 'created', data })
    const event = { position, id, collection: 'tasks', record, kind: 'created', createdAt: '', json } as const
    this.events.push(event)
    return event
  }

  async read(plan: ReadEvents): Promise<EventsOutcome> {
    this.reads++
    const examined = this.events.slice(plan.after, plan.after + this.examined)
    const allowed = examined.filter((event) => this.mayRead(plan, event))
    const events = allowed.slice(0, plan.limit)
    const last = allowed.length > plan.limit ? events.at(-1) : examined.at(-1)
    const position = Math.max(last?.position ?? 0, plan.after)
    const isLost = plan.mark !== undefined && plan.mark !== (await this.mark(plan.after))
    return { events, position, mark: await this.mark(position), isLost, more: position < this.events.length }
  }

  async horizon(): Promise<number> {
    return this.events.length
  }

  async mark(position: number): Promise<number> {
    return eventMark(this.events[Math.min(position, this.events.length) - 1]?.id)
  }

  async floor(): Promise<number> {
    return this.floorPosition
  }

  async find(id: string): Promise<number | undefined> {
    const found = this.events.find((event) => event.id === id)
    return found === undefined || found.position <= this.floorPosition ? undefined : found.position
  }
}

/** A caller. */
export function callerOf(id: string, credential = 'own', expiresAt = 0): Caller {
  return { id, roles: [], claims: {}, credential, expiresAt }
}

/** Streams of a store, whose callers are checked by a function of the test. */
export function trialStreams(store: TrialStore, options: Partial<StreamsOptions> = {}): EventStreams {
  const authenticate = Object.assign(async () => callerOf('nobody'), { remembered: () => undefined, forget() {} })
  return new EventStreams({
    ...{ store, authenticate, authenticateOwn: undefined, secret: randomBytes(32), perCaller: 20, now: Date.now },
    paused: () => false,
    failed(error) {
      throw error
    },
    ...options,
  })
}

/** The request of a stream, whose permission is a predicate of the test's choice. */
export function requestOf(streams: EventStreams, more: Partial<StreamRequest> & { id?: string; grant?: Predicate }) {
  const { id = 'ann', grant = always, ...rest } = more
  const native = { method: 'GET', target: '/', headers: {}, secure: true, address: '' }
  const request: StreamRequest = {
    callerId: id,
    credential: streams.credentials.of(callerOf(id), native, true),
    after: { position: 0, mark: 0 },
    plan: (_, after, limit) => ({
      ...{ kind: 'read-events', resource: {} as Resource, version: 'v1', filter: always },
      ...{ after, limit, permitted: grant },
    }),
    version: { sunsetAt: undefined },
    ...rest,
  }
  return request
}

/** A client that reads a stream, or stops reading it. */
export class TrialClient implements StreamSink {
  text = ''
  /** How many bytes it takes before it stops to read. */
  room = Number.POSITIVE_INFINITY
  state: 'open' | 'ended' | 'aborted' = 'open'
  readonly stream: EventStream

  constructor(stream: EventStream) {
    this.stream = stream
    stream.open(this)
  }

  write(piece: Uint8Array): boolean {
    this.text += Buffer.from(piece).toString()
    this.room -= piece.length
    return this.room > 0
  }

  end(): void {
    this.state = 'ended'
  }

  abort(): void {
    this.state = 'aborted'
  }

  /** The records of the events that it has got. */
  get records(): string[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? '').record)
  }

  /** The last id that it has got, as `Last-Event-ID` sends it. */
  get lastEventId(): string | undefined {
    return [...this.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1]
  }
}
