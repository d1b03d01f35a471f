/**
 * The open streams of one process. They share the feed, reads, and the time that they take from requests: streams send
 * in short slices, and between two slices requests are answered.
 */

import { type EventPosition, eventMark } from 'resourced-contract/model/event'
import { type Fault, fault, issue } from 'resourced-contract/spec/faults'
import { eventText } from '../../events/event-text.ts'
import { EventFeed } from '../../events/feed.ts'
import { PositionTokens } from '../../events/position-token.ts'
import { SharedReads } from '../../events/shared-reads.ts'
import type { ReadEvent } from '../../plan/plan-events.ts'
import type { EventStore } from '../../storage/storage.ts'
import { Queue } from '../node/admission.ts'
import type { Observe, StreamEnd } from '../observe/observe.ts'
import { type EndReason, EventStream, type StreamRequest, type StreamServices } from './event-stream.ts'
import { type CredentialServices, StreamCredentials } from './stream-credential.ts'
import { OwnPlaces, type StreamPlaces } from './stream-places.ts'

/** What streams need of an application. */
export interface StreamsOptions extends CredentialServices {
  readonly store: EventStore
  /** The storage's cursor secret. */
  readonly secret: Uint8Array
  /** The most streams of one caller. */
  readonly perCaller: number
  /** The most streams of this process; 15,000 by default. */
  readonly most?: number | undefined
  /** Counts streams together with other processes; by default, this process counts alone. */
  readonly places?: StreamPlaces | undefined
  /** Whether the service is under maintenance. */
  paused(): boolean
  readonly observe?: Observe
  /** Is called if the database cannot be polled. */
  failed(error: unknown): void
}

// The length of a slice, in milliseconds.
const slice = 3
const tickInterval = 1_000
// Each blocked stream holds up to a hundred kilobytes.
const mostBlocked = 1_000
const defaultMost = 15_000

/** The open streams of one process. */
export class EventStreams {
  readonly credentials: StreamCredentials
  readonly #options: StreamsOptions
  readonly #feed: EventFeed
  readonly #tokens: PositionTokens
  readonly #services: StreamServices
  readonly #places: StreamPlaces
  readonly #streams = new Set<EventStream>()
  readonly #queue = new Queue<EventStream>()
  #isDraining = false
  #stopListening: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #rechecking: Promise<void> | undefined
  #mustRecheck = false
  /** Events that were written since the last report. */
  #sent = 0
  #isEnding = false

  constructor(options: StreamsOptions) {
    this.#options = options
    this.credentials = new StreamCredentials(options)
    this.#feed = new EventFeed(options)
    this.#places = options.places ?? new OwnPlaces()
    const tokens = new PositionTokens(options.secret)
    this.#tokens = tokens
    const sealPosition = (position: EventPosition) => tokens.seal(position)
    const textOf = ({ position, id, kind, json }: ReadEvent) =>
      eventText(sealPosition({ position, mark: eventMark(id) }), kind, json)
    this.#services = {
      reads: new SharedReads(options.store, () => this.#feed.horizon, textOf),
      newest: this.#feed,
      sealPosition,
      now: options.now,
      enqueue: (stream) => this.#enqueue(stream),
      sent: (events) => {
        this.#sent += events
      },
      closed: (stream, reason) => this.#closed(stream, reason),
    }
  }

  /** The number of open streams. */
  get size(): number {
    return this.#streams.size
  }

  /**
   * The position after which a stream begins.
   *
   * @param lastEventId the last id that the client has got, of a stream or of an event; `undefined`: none
   * @throws Fault INVALID_CURSOR, EVENTS_EXPIRED
   */
  async positionAfter(lastEventId: string | undefined): Promise<EventPosition> {
    const { store } = this.#options
    const horizon = await this.#feed.read()
    if (lastEventId === undefined || lastEventId === '') return { position: horizon, mark: await store.mark(horizon) }
    const isId = eventId.test(lastEventId)
    const found = isId ? await this.#find(lastEventId) : this.#tokens.open(lastEventId)
    if (found === undefined && !isId) {
      throw fault('INVALID_CURSOR', { errors: [issue('foreignEventId', { header: 'Last-Event-ID' })] })
    }
    const isKept = found !== undefined && found.position >= (await store.floor())
    if (!isKept || !(await this.#reaches(found.position))) throw expired()
    const mark = await store.mark(found.position)
    // The database has lost the event after which the stream would begin, and has given its position again.
    if (found.mark !== mark && !(mark === 0 && (await store.floor()) > 0)) throw expired()
    return { position: found.position, mark }
  }

  /**
   * Opens a stream.
   *
   * @throws Fault TOO_MANY_STREAMS, OVERLOADED, SHUTTING_DOWN
   */
  async open(request: StreamRequest): Promise<EventStream> {
    const { perCaller, most = defaultMost } = this.#options
    if (this.#streams.size >= most) {
      throw fault('OVERLOADED', {
        detail: 'This server has as many streams as it can have. Try again shortly.',
        headers: { 'Retry-After': '10' },
      })
    }
    const { account = request.callerId } = request
    if (!(await this.#places.take(account, perCaller))) {
      throw fault('TOO_MANY_STREAMS', {
        detail: `You have ${perCaller} open streams, which is the most of one caller. Close one of them.`,
        headers: { 'Retry-After': '5' },
      })
    }
    if (this.#isEnding) {
      this.#places.release(account)
      throw fault('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } })
    }
    const stream = new EventStream(request, this.#services)
    this.#streams.add(stream)
    this.#options.observe?.({ kind: 'stream', state: 'opened' })
    this.#stopListening ??= this.#feed.listen((isBack) => this.#wakeAll(isBack))
    this.#timer ??= setInterval(() => this.#tick(), tickInterval).unref()
    return stream
  }

  /** Records were changed by this process: there may be new events. */
  wake(): void {
    this.#feed.wake()
  }

  /** A credential was revoked: ends the streams that it had. */
  recheck(): void {
    this.#mustRecheck = true
    this.#rechecking ??= this.#recheckAll().finally(() => {
      this.#rechecking = undefined
    })
  }

  /** Ends all streams; their clients reconnect. */
  endAll(reason: EndReason): void {
    for (const stream of [...this.#streams]) stream.end(reason)
  }

  /** Ends all streams, for good. */
  close(): void {
    this.#isEnding = true
    this.endAll('closing')
  }

  async #find(id: string): Promise<EventPosition | undefined> {
    const position = await this.#options.store.find(id)
    return position === undefined ? undefined : { position, mark: eventMark(id) }
  }

  /** Whether the horizon reaches a position soon: it does unless the database is an earlier copy. */
  async #reaches(position: number): Promise<boolean> {
    for (let attempt = 0; attempt < 20; attempt++) {
      if ((await this.#feed.read()) >= position) return true
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return false
  }

  #closed(stream: EventStream, reason: StreamEnd): void {
    if (!this.#streams.delete(stream)) return
    const { callerId: caller, account = caller } = stream.request
    this.#places.release(account)
    this.#options.observe?.({ kind: 'stream', state: 'ended', reason, caller })
    if (this.#streams.size > 0) return
    this.#reportSent()
    this.#stopListening?.()
    this.#stopListening = undefined
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #wakeAll(isBack: boolean): void {
    for (const stream of this.#streams) stream.wake(isBack)
  }

  #enqueue(stream: EventStream): void {
    this.#queue.push(stream)
    if (this.#isDraining) return
    this.#isDraining = true
    setImmediate(() => this.#drain())
  }

  #drain(): void {
    const until = performance.now() + slice
    for (let stream = this.#queue.shift(); stream !== undefined; stream = this.#queue.shift()) {
      void stream.turn()
      if (performance.now() >= until) break
    }
    this.#isDraining = this.#queue.length > 0
    if (this.#isDraining) setImmediate(() => this.#drain())
  }

  #reportSent(): void {
    if (this.#sent > 0) this.#options.observe?.({ kind: 'events-sent', events: this.#sent })
    this.#sent = 0
  }

  #tick(): void {
    this.#reportSent()
    if (this.#options.paused()) this.endAll('maintenance')
    const at = performance.now()
    let blocked = 0
    for (const stream of this.#streams) {
      // Streams are in the order in which they were opened.
      if (stream.isBlocked && ++blocked > mostBlocked) stream.abort()
      else stream.tick(at)
    }
  }

  /** In slices, and one round at a time: checks of API keys read the database. */
  async #recheckAll(): Promise<void> {
    while (this.#mustRecheck) {
      this.#mustRecheck = false
      let until = performance.now() + slice
      for (const stream of [...this.#streams]) {
        if (!stream.request.credential.isRevocable) continue
        const checking = stream.recheck()
        if (performance.now() < until) continue
        await checking
        await new Promise(setImmediate)
        until = performance.now() + slice
      }
    }
  }
}

function expired(): Fault {
  return fault('EVENTS_EXPIRED', {
    detail: 'The events after Last-Event-ID are no longer kept, or the database has lost some before it.',
  })
}

const eventId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
