/**
 * Reads events for many readers. Readers at the same position with the same version, filter and permission share one
 * read and its bytes, so that an event for thousands of idle streams costs one read for each role.
 */
import { type EventPosition, eventMark } from 'resourced-contract/model/event'
import { exactText, remembered } from 'resourced-contract/model/plain-copy'
import type { ReadEvent, ReadEvents } from '../plan/plan-events.ts'
import type { EventStore } from '../storage/storage.ts'

/** Consecutive events as bytes of a stream. */
interface Piece {
  readonly bytes: Uint8Array
  /** How many events these are. */
  readonly events: number
  readonly last: EventPosition
}

/** What one read has found. */
export interface EventBatch {
  readonly pieces: readonly Piece[]
  /** The position up to which events were examined. */
  readonly last: EventPosition
  /** Whether there may be more after it now. */
  readonly more: boolean
  /** Whether events after the position of the plan are no longer kept, or the database has lost some before it. */
  readonly isExpired: boolean
}

// How long, in milliseconds, the result of a read may be sent: permissions hold at the moment of the read.
const freshness = 50
// Several reads of one process at once are enough: the others wait for their turn.
const mostReads = 4
const mostEvents = 100
// How many bytes the events of a read should have together, and how many one piece has.
const batchBytes = 262_144
const pieceBytes = 16_384
// The most bytes of results that are kept for further readers.
const mostKept = 16_777_216

/** Reads of one process. */
export class SharedReads {
  readonly #store: Pick<EventStore, 'read' | 'floor'>
  readonly #horizon: () => number
  readonly #write: (event: ReadEvent) => string
  readonly #results = new Map<string, Promise<EventBatch>>()
  readonly #textOf = remembered((value: object) => exactText(value))
  #waiting: (() => void)[] = []
  #running = 0
  #eventBytes = 1
  #keptBytes = 0

  /**
   * @param horizon the newest position that is known: results that are older are not shared
   * @param write makes the text of an event in a stream
   */
  constructor(store: Pick<EventStore, 'read' | 'floor'>, horizon: () => number, write: (event: ReadEvent) => string) {
    this.#store = store
    this.#horizon = horizon
    this.#write = write
  }

  /** How many events a read should have. */
  get limit(): number {
    return Math.max(1, Math.min(mostEvents, Math.floor(batchBytes / this.#eventBytes)))
  }

  /** Plans with the same key find the same events. Everything counts that a plan says about its reader. */
  keyOf({ resource: _resource, versionResource: _versionResource, limit: _limit, ...reader }: ReadEvents): string {
    return Object.entries(reader)
      .map(([name, value]) => `${name} ${typeof value === 'object' ? this.#textOf(value) : exactText(value)}`)
      .join(' ')
  }

  /**
   * Reads events, or takes the result of a read that runs or has just ended.
   *
   * @throws StorageFault
   */
  read(plan: ReadEvents): Promise<EventBatch> {
    const key = `${this.#horizon()} ${this.keyOf(plan)}`
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const reading = this.#readInTurn(plan)
    this.#results.set(key, reading)
    const forget = () => void this.#results.delete(key)
    reading.then((batch) => this.#keep(batch, forget), forget)
    return reading
  }

  #keep({ pieces }: EventBatch, forget: () => void): void {
    const size = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (this.#keptBytes + size > mostKept) {
      forget()
      return
    }
    this.#keptBytes += size
    setTimeout(() => {
      this.#keptBytes -= size
      forget()
    }, freshness).unref()
  }

  async #readInTurn(plan: ReadEvents): Promise<EventBatch> {
    if (this.#running >= mostReads) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running++
    try {
      const { events, position, mark, more, isLost = false } = await this.#store.read(plan)
      // Afterwards: events that are removed during the read count too.
      const isExpired = isLost || plan.after < (await this.#store.floor())
      return { pieces: this.#piecesOf(events), last: { position, mark }, more, isExpired }
    } finally {
      this.#running--
      this.#waiting.shift()?.()
    }
  }

  #piecesOf(events: readonly ReadEvent[]): Piece[] {
    const pieces: Piece[] = []
    let text = ''
    let length = 0
    let first = 0
    for (const [index, event] of events.entries()) {
      const written = this.#write(event)
      text += written
      length += written.length
      if (text.length < pieceBytes && index < events.length - 1) continue
      const last = { position: event.position, mark: eventMark(event.id) }
      pieces.push({ bytes: Buffer.from(text), events: index + 1 - first, last })
      text = ''
      first = index + 1
    }
    // One read with large events makes the next reads small; they grow again slowly.
    if (events.length > 0) this.#eventBytes = Math.max(length / events.length, this.#eventBytes * 0.9)
    return pieces
  }
}
