/** One stream of events: what a client has got, and what it gets next (EVT-6, EVT-7). */

import type { EventPosition } from 'resourced-contract/model/event'
import { commentText, idText, retryText } from '../../events/event-text.ts'
import type { EventFeed } from '../../events/feed.ts'
import type { SharedReads } from '../../events/shared-reads.ts'
import type { StreamBody, StreamSink } from '../../http/message.ts'
import type { ReadEvents } from '../../plan/plan-events.ts'
import type { Caller } from '../../policy/caller.ts'
import { isRetired, type Version } from '../../versions/versions.ts'
import type { StreamEnd } from '../observe/observe.ts'
import type { StreamCredential } from './stream-credential.ts'

/** What a stream needs of those who share it with others. */
export interface StreamServices {
  readonly reads: SharedReads
  /** The newest position, and its mark where it is known. */
  readonly newest: Pick<EventFeed, 'horizon' | 'mark'>
  readonly sealPosition: (position: EventPosition) => string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Gives the stream a turn, after those that wait already. */
  readonly enqueue: (stream: EventStream) => void
  /** Events were written. */
  readonly sent: (events: number) => void
  /** A stream has ended, or was never opened. */
  readonly closed: (stream: EventStream, reason: StreamEnd) => void
}

/** The request that a stream answers. */
export interface StreamRequest {
  readonly callerId: string
  /** For whom the stream counts; left out: the caller's id. */
  readonly account?: string
  readonly credential: StreamCredential
  /** The position after which it begins. */
  readonly after: EventPosition
  /** Plans the next read with the grants of the caller at this moment; `undefined`: the caller may read no events. */
  plan(caller: Caller, after: number, limit: number): ReadEvents | undefined
  /** The client's version. */
  readonly version: Pick<Version, 'sunsetAt'>
}

/** Why a stream ended, for people who read it. A client that reconnects gets the problem. */
export type EndReason = Exclude<StreamEnd, 'client' | 'slow'>

const reasons: Readonly<Record<EndReason, string>> = {
  credential: 'The credential has ended.',
  permission: 'You may read no events any more.',
  expired: 'The next events are no longer kept, or the database has lost its last changes.',
  failure: 'The events could not be read.',
  maintenance: 'The service is under maintenance.',
  version: 'The version is retired.',
  closing: 'The server is stopping.',
}

/** Milliseconds between two heartbeats. */
const heartbeat = 15_000
/** How long a response may wait to be opened, in milliseconds: its edge may have dropped it. */
const longestUnopened = 60_000
/** How long a client may leave unread what was written, in milliseconds. */
const longestBlocked = 30_000

/** An open stream. */
export class EventStream implements StreamBody {
  readonly kind = 'stream'
  readonly request: StreamRequest
  readonly #services: StreamServices
  #sink: StreamSink | undefined
  #after: EventPosition
  /** The database may have lost the event of the position. */
  #mustCheck = false
  #isClosed = false
  #isQueued = false
  #isWorking = false
  /** Since when the client has not read; `undefined`: it has. By `performance.now()`, as the others. */
  #blockedSince: number | undefined
  #nextHeartbeat: number
  readonly #madeAt = performance.now()

  constructor(request: StreamRequest, services: StreamServices) {
    this.request = request
    this.#services = services
    this.#after = request.after
    // Streams that were opened together do not need their heartbeats together.
    this.#nextHeartbeat = performance.now() + heartbeat * (0.5 + Math.random() / 2)
  }

  get isBlocked(): boolean {
    return this.#blockedSince !== undefined
  }

  open(sink: StreamSink): void {
    this.#sink = sink
    if (this.#isClosed) {
      sink.end()
      return
    }
    // Clients that lose their server do not all return at the same moment.
    const retry = 1_000 + Math.floor(Math.random() * 2_000)
    this.#write(Buffer.from(retryText(retry) + this.#idText()))
    this.wake()
  }

  drained(): void {
    this.#blockedSince = undefined
    this.wake()
  }

  closed(): void {
    this.#close('client')
  }

  #close(reason: StreamEnd): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#services.closed(this, reason)
  }

  /**
   * Asks for a turn if there may be new events.
   *
   * @param isBack whether the database may have lost the event of the position
   */
  wake(isBack = false): void {
    if (isBack) this.#mustCheck = true
    if (this.#sink === undefined || this.#isClosed || this.#isQueued || this.#isWorking || this.isBlocked) return
    if (!this.#mustCheck && !this.#isBehind()) return
    this.#isQueued = true
    this.#services.enqueue(this)
  }

  /** Whether the newest position is a later one, or the same with another event. */
  #isBehind(): boolean {
    const { position, mark } = this.#after
    const { newest } = this.#services
    return position < newest.horizon || (position === newest.horizon && mark !== (newest.mark ?? mark))
  }

  /** Sends the next events. */
  async turn(): Promise<void> {
    this.#isQueued = false
    this.#isWorking = true
    let goesOn = false
    try {
      goesOn = await this.#deliver()
    } catch {
      // Who reconnects gets the reason as a problem.
      this.end('failure')
    }
    this.#isWorking = false
    if (goesOn) this.wake()
  }

  /** Checks everything that time changes. Is called about once a second. */
  tick(at: number): void {
    const { credential, version } = this.request
    if (this.#isClosed) return
    if (this.#sink === undefined) {
      if (at - this.#madeAt > longestUnopened) this.closed()
    } else if (this.#blockedSince !== undefined && at - this.#blockedSince > longestBlocked) this.abort()
    else if (this.#services.now() >= credential.endsAt) this.end('credential')
    else if (at < this.#nextHeartbeat) {
      // A read may have found less than the newest position, where a transaction began meanwhile.
      this.wake()
    } else if (isRetired(version, this.#services.now())) this.end('version')
    else {
      this.#nextHeartbeat = at + heartbeat
      void this.#beat()
    }
  }

  /** Checks the credential, because one was revoked. */
  async recheck(): Promise<void> {
    try {
      await this.request.credential.check()
    } catch {
      this.end('credential')
    }
  }

  /** Ends the stream after what is written. */
  end(reason: EndReason): void {
    if (this.#isClosed) return
    const sink = this.#sink
    if (!this.isBlocked) sink?.write(Buffer.from(commentText(reasons[reason])))
    this.#close(reason)
    sink?.end()
  }

  /** Ends the stream of a client that reads too slowly. */
  abort(): void {
    const sink = this.#sink
    this.#close('slow')
    sink?.abort()
  }

  /** @returns whether there may be more to send */
  async #deliver(): Promise<boolean> {
    const { reads } = this.#services
    const caller = await this.#caller()
    const plan = caller && this.#plan(caller)
    if (plan === undefined) return false
    const key = reads.keyOf(plan)
    this.#mustCheck = false
    const batch = await reads.read(plan)
    // The read may have taken long, and the grants of its moment count.
    const callerNow = await this.#caller()
    const planNow = callerNow === caller ? plan : callerNow && this.#plan(callerNow)
    if (planNow === undefined || this.#isClosed) return false
    if (planNow !== plan && reads.keyOf(planNow) !== key) return true
    if (batch.isExpired) {
      this.end('expired')
      return false
    }
    for (const { bytes, events, last } of batch.pieces) {
      const mayGoOn = this.#write(bytes)
      this.#services.sent(events)
      this.#after = last
      if (!mayGoOn) return false
    }
    this.#after = batch.last
    return batch.more || batch.last.position > plan.after
  }

  /** The caller at this moment; `undefined`: the stream has ended. */
  async #caller(): Promise<Caller | undefined> {
    if (this.#isClosed) return undefined
    const { credential } = this.request
    try {
      // An application's credential may end while its last check still counts.
      if (this.#services.now() < credential.endsAt) return credential.known() ?? (await credential.check())
    } catch {}
    this.end('credential')
    return undefined
  }

  #plan(caller: Caller): ReadEvents | undefined {
    const { position, mark } = this.#after
    const plan = this.request.plan(caller, position, this.#services.reads.limit)
    if (plan === undefined) this.end('permission')
    return plan && { ...plan, mark }
  }

  async #beat(): Promise<void> {
    await this.recheck()
    // At fixed times, and always with a new id: nothing shows whether there were events that the caller may not read.
    if (!this.#isClosed && !this.isBlocked) this.#write(Buffer.from(`:\n${this.#idText()}`))
  }

  #idText(): string {
    return idText(this.#services.sealPosition(this.#after))
  }

  #write(bytes: Uint8Array): boolean {
    const mayGoOn = this.#sink?.write(bytes) ?? false
    if (!mayGoOn) this.#blockedSince ??= performance.now()
    return mayGoOn
  }
}
