/**
 * Which requests are worked on now, which wait for their turn, and which are turned away (LIM-4). Work is done in slices,
 * between which others are heard: new connections, and requests that arrive. See docs/decisions/021-overload.md.
 */
import { Queue } from './queue.ts'

/** Where overload begins, and what it may cost. Times in milliseconds. */
export interface Bounds {
  /** How long work may go on while others wait to be heard. */
  readonly slice: number
  /** For how long after a slice new connections come first: the system hands over one a turn of the event loop. */
  readonly welcome: number
  /** How long an accepted request may have to wait for its turn, as far as can be foreseen. */
  readonly wait: number
  /** The same while requests have been waiting for no longer than this: what passes so soon is no overload. */
  readonly burst: number
  /** How many requests may be worked on at once, those not counted that wait for their client. */
  readonly inFlight: number
  /** The part of the time that turning away may take while there is work. */
  readonly refusing: number
  /** How long rejected clients are held before rejections get half as much time again: clients that give up reconnect. */
  readonly patience: number
  /** What rejecting one request costs besides its response: reading the request, and holding and releasing its connection. */
  readonly reading: number
}

/** What an admission decides about. */
export interface Work<T> {
  /** Begins to work; what follows at once, in promises, belongs to it. */
  begin(item: T): void
  /** The same for one that had to wait. */
  beginLate(item: T): void
  turnAway(item: T): void
  /** Reads nothing more from the one who sent it, who was turned away. */
  hold(item: T): void
  release(item: T): void
  /** How many are being worked on. */
  inFlight(): number
}

const ordinaryBounds: Bounds = {
  slice: 5,
  welcome: 1.5,
  wait: 250,
  burst: 500,
  inFlight: 1_000,
  refusing: 0.13,
  patience: 300,
  reading: 0.025,
}

// How many may wait however slow all is: a handful of slow requests is no overload.
const leastRoom = 100
// Milliseconds a request, until some were seen.
const firstPace = 0.2
// Weight of what was before, for each request: the last fifty or so count.
const memory = 0.98

/** Decides, for one server. */
export class Admission<T> {
  readonly #work: Work<T>
  readonly #bounds: Bounds
  readonly #waiting = new Queue<T>()
  readonly #held = new Queue<{ readonly item: T; readonly since: number }>()
  #turnedAway: T[] = []
  /** Milliseconds from one answer to the next while there is no pause: all that a turn does is in it. */
  #pace = firstPace
  /** When the first request of this turn of the event loop was read, and how many of them were begun at once. */
  #turnBegan: number | undefined
  #begunInTurn = 0
  /** Whether a slice is coming or going on. */
  #isDraining = false
  /** When the last slice ended that left some waiting, and how many were answered since. */
  #sliceEnded: number | undefined
  #answered = 0
  /** Since when there has been no moment in which none waited. */
  #busySince = 0
  /** Whether a connection came in this turn; and until when more may come before the work goes on. */
  #isConnected = false
  #welcomeUntil: number | undefined
  /** How long turning away may take now, and what one took of late. */
  #credit = 0
  #price = 0.03

  constructor(work: Work<T>, bounds: Partial<Bounds> = {}) {
    this.#work = work
    this.#bounds = { ...ordinaryBounds, ...bounds }
  }

  /** A request has come. */
  admit(item: T): void {
    const now = performance.now()
    this.#turnBegan ??= this.#beginTurn(now)
    const isFree = this.#hasRoomInFlight()
    if (isFree && this.#waiting.length === 0 && now - this.#turnBegan < this.#bounds.slice) {
      this.#begunInTurn++
      this.#work.begin(item)
      return
    }
    if (this.#waiting.length === 0) this.#busySince = now
    if (isFree && this.#waiting.length < this.#room(now)) this.#waiting.push(item)
    else this.#turnAway(item)
    this.#drainSoon()
  }

  /** A new connection has come: where there is one, there may be more. */
  connected(): void {
    this.#isConnected = true
  }

  /** A request that was begun has its answer. */
  answered(): void {
    this.#answered++
    // One may have waited for room among those in flight.
    if (this.#waiting.length > 0) this.#drainSoon()
  }

  #beginTurn(now: number): number {
    this.#begunInTurn = 0
    setImmediate(() => {
      this.#turnBegan = undefined
      if (!this.#isDraining) this.#learn(this.#begunInTurn, performance.now() - now)
    })
    return now
  }

  #learn(count: number, took: number): void {
    if (count > 0) this.#pace += (took / count - this.#pace) * (1 - memory ** count)
  }

  /** How many may wait. */
  #room(now: number): number {
    const { wait, burst } = this.#bounds
    return Math.max(leastRoom, (now - this.#busySince < burst ? burst : wait) / this.#pace)
  }

  #hasRoomInFlight(): boolean {
    return this.#work.inFlight() < this.#bounds.inFlight
  }

  #drainSoon(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    setImmediate(() => this.#drain())
  }

  #drain(): void {
    if (this.#isWelcoming()) {
      setImmediate(() => this.#drain())
      return
    }
    const began = performance.now()
    const next = () => {
      const mayGoOn = performance.now() - began < this.#bounds.slice && this.#hasRoomInFlight()
      const item = mayGoOn ? this.#waiting.shift() : undefined
      if (item === undefined) return this.#endSlice()
      this.#work.beginLate(item)
      // After everything that its promises do at once.
      queueMicrotask(() => process.nextTick(next))
    }
    next()
  }

  /** Whether connections come one after the other, and the work can wait for them. */
  #isWelcoming(): boolean {
    const now = performance.now()
    if (this.#isConnected) this.#welcomeUntil ??= now + this.#bounds.welcome
    const goesOn = this.#isConnected && now < this.#welcomeUntil!
    if (!goesOn) this.#welcomeUntil = undefined
    this.#isConnected = false
    return goesOn
  }

  #endSlice(): void {
    const now = performance.now()
    const isBusy = this.#waiting.length > 0
    const took = this.#sliceEnded === undefined ? this.#bounds.slice : now - this.#sliceEnded
    if (this.#sliceEnded !== undefined) this.#learn(this.#answered, took)
    // A slice in which nothing was answered belongs to the next one.
    if (this.#answered > 0 || !isBusy || this.#sliceEnded === undefined) this.#sliceEnded = isBusy ? now : undefined
    this.#answered = 0
    this.#credit = Math.min(this.#bounds.slice, this.#credit + took * (isBusy ? this.#refusing(now) : 1))
    this.#holdAndRelease(now)
    this.#isDraining = false
    if ((isBusy && this.#hasRoomInFlight()) || this.#held.length > 0) this.#drainSoon()
  }

  /**
   * Who was turned away and asks again at once would take all the time from those who are served: such requests stay
   * unread until there is time for them.
   */
  #holdAndRelease(now: number): void {
    for (const item of this.#turnedAway) {
      if (this.#credit > 0) break
      this.#work.hold(item)
      this.#held.push({ item, since: now })
    }
    this.#turnedAway = []
    for (let room = this.#credit / this.#price; room > 0 && this.#held.length > 0; room--) {
      this.#work.release(this.#held.shift()!.item)
    }
  }

  #refusing(now: number): number {
    const { refusing, patience } = this.#bounds
    return now - (this.#held.first?.since ?? now) > patience ? 1.5 * refusing : refusing
  }

  #turnAway(item: T): void {
    const began = performance.now()
    this.#work.turnAway(item)
    const took = performance.now() - began + this.#bounds.reading
    this.#price += (took - this.#price) * (1 - memory)
    this.#credit -= took
    this.#turnedAway.push(item)
  }
}
