/**
 * Overload (LIM-4): which requests are processed now, which wait, and which are rejected. Waiting requests are
 * processed in slices of time; between slices, new connections and requests are accepted.
 * docs/explanation/overload.md has the reasons.
 */

/** Where overload begins, and what rejections may cost. Times in milliseconds. */
export interface OverloadLimits {
  /** The length of a slice. */
  readonly slice: number
  /** For how long after a slice new connections come first: each takes one turn of the event loop. */
  readonly acceptTime: number
  /** The longest expected wait of an accepted request. */
  readonly wait: number
  /** The same at the beginning of a load that lasts no longer than this: a burst is no overload. */
  readonly burst: number
  /** The most requests that are processed at once, without those that wait for their client. */
  readonly inFlight: number
  /** The share of time that rejections may take while there is work. */
  readonly rejecting: number
  /**
   * How long rejected clients are paused before rejections get half as much time again: clients that give up reconnect.
   */
  readonly longestPause: number
  /** What rejecting one request costs besides its response: reading it, and pausing and resuming its connection. */
  readonly reading: number
}

/** The actions on requests. */
export interface Work<T> {
  /** Starts to process a request. */
  start(item: T): void
  /** Starts to process a request that had to wait. */
  startDelayed(item: T): void
  reject(item: T): void
  /** Stops reading from the client of a rejected request. */
  pause(item: T): void
  resume(item: T): void
  /** How many are being processed. */
  inFlight(): number
}

const defaultLimits: OverloadLimits = {
  slice: 5,
  acceptTime: 1.5,
  wait: 250,
  burst: 500,
  inFlight: 1_000,
  rejecting: 0.13,
  longestPause: 300,
  reading: 0.025,
}

// How many may always wait: a few slow requests are no overload.
const leastRoom = 100
// Milliseconds for each request, until some were measured.
const firstPace = 0.2
// The weight of earlier measurements: about the last fifty requests count.
const memory = 0.98

/** Admits the requests of one server. */
export class Admission<T> {
  readonly #work: Work<T>
  readonly #limits: OverloadLimits
  readonly #waiting = new Queue<T>()
  readonly #paused = new Queue<{ readonly item: T; readonly since: number }>()
  #rejected: T[] = []
  /** Milliseconds from one response to the next without idle time: the whole turn counts. */
  #pace = firstPace
  /** When the first request of this turn of the event loop was read, and how many of them were started at once. */
  #turnBegan: number | undefined
  #startedInTurn = 0
  /** Whether a slice is scheduled or running. */
  #isDraining = false
  /** When the last slice ended that left requests waiting, and how many were answered since. */
  #sliceEnded: number | undefined
  #answered = 0
  /** Since when there have always been requests waiting. */
  #busySince = 0
  /** Whether a connection came in this turn, and until when more are accepted before the next slice. */
  #isConnected = false
  #acceptUntil: number | undefined
  /** How much time rejections may take now, and what one took recently. */
  #credit = 0
  #cost = 0.03

  constructor(work: Work<T>, limits: Partial<OverloadLimits> = {}) {
    this.#work = work
    this.#limits = { ...defaultLimits, ...limits }
  }

  /** Takes a request. */
  admit(item: T): void {
    const now = performance.now()
    this.#turnBegan ??= this.#beginTurn(now)
    const isFree = this.#hasRoomInFlight()
    if (isFree && this.#waiting.length === 0 && now - this.#turnBegan < this.#limits.slice) {
      this.#startedInTurn++
      this.#work.start(item)
      return
    }
    if (this.#waiting.length === 0) this.#busySince = now
    if (isFree && this.#waiting.length < this.#room(now)) this.#waiting.push(item)
    else this.#reject(item)
    this.#drainSoon()
  }

  /** A client has connected: more may be waiting to be accepted. */
  connected(): void {
    this.#isConnected = true
  }

  /** A request that was started is answered. */
  answered(): void {
    this.#answered++
    // A request may have waited for a free place.
    if (this.#waiting.length > 0) this.#drainSoon()
  }

  #beginTurn(now: number): number {
    this.#startedInTurn = 0
    setImmediate(() => {
      this.#turnBegan = undefined
      if (!this.#isDraining) this.#learn(this.#startedInTurn, performance.now() - now)
    })
    return now
  }

  #learn(count: number, took: number): void {
    if (count > 0) this.#pace += (took / count - this.#pace) * (1 - memory ** count)
  }

  /** How many may wait. */
  #room(now: number): number {
    const { wait, burst } = this.#limits
    return Math.max(leastRoom, (now - this.#busySince < burst ? burst : wait) / this.#pace)
  }

  #hasRoomInFlight(): boolean {
    return this.#work.inFlight() < this.#limits.inFlight
  }

  #drainSoon(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    setImmediate(() => this.#drain())
  }

  #drain(): void {
    if (this.#isAccepting()) {
      setImmediate(() => this.#drain())
      return
    }
    const began = performance.now()
    const next = () => {
      const mayGoOn = performance.now() - began < this.#limits.slice && this.#hasRoomInFlight()
      const item = mayGoOn ? this.#waiting.shift() : undefined
      if (item === undefined) return this.#endSlice()
      this.#work.startDelayed(item)
      // After everything that follows without waiting for I/O.
      queueMicrotask(() => process.nextTick(next))
    }
    next()
  }

  /** Whether to accept connections before the next slice. */
  #isAccepting(): boolean {
    const now = performance.now()
    if (this.#isConnected) this.#acceptUntil ??= now + this.#limits.acceptTime
    const goesOn = this.#isConnected && now < this.#acceptUntil!
    if (!goesOn) this.#acceptUntil = undefined
    this.#isConnected = false
    return goesOn
  }

  #endSlice(): void {
    const now = performance.now()
    const isBusy = this.#waiting.length > 0
    const took = this.#sliceEnded === undefined ? this.#limits.slice : now - this.#sliceEnded
    if (this.#sliceEnded !== undefined) this.#learn(this.#answered, took)
    // A slice in which nothing was answered is measured with the next one.
    if (this.#answered > 0 || !isBusy || this.#sliceEnded === undefined) this.#sliceEnded = isBusy ? now : undefined
    this.#answered = 0
    this.#credit = Math.min(this.#limits.slice, this.#credit + took * (isBusy ? this.#rejectingShare(now) : 1))
    this.#pauseAndResume(now)
    this.#isDraining = false
    if ((isBusy && this.#hasRoomInFlight()) || this.#paused.length > 0) this.#drainSoon()
  }

  /**
   * Rejected clients that retry at once would take all the time from accepted requests. Their connections are paused
   * until there is time for more rejections.
   */
  #pauseAndResume(now: number): void {
    for (const item of this.#rejected) {
      if (this.#credit > 0) break
      this.#work.pause(item)
      this.#paused.push({ item, since: now })
    }
    this.#rejected = []
    for (let room = this.#credit / this.#cost; room > 0 && this.#paused.length > 0; room--) {
      this.#work.resume(this.#paused.shift()!.item)
    }
  }

  #rejectingShare(now: number): number {
    const { rejecting, longestPause } = this.#limits
    return now - (this.#paused.first?.since ?? now) > longestPause ? 1.5 * rejecting : rejecting
  }

  #reject(item: T): void {
    const began = performance.now()
    this.#work.reject(item)
    const took = performance.now() - began + this.#limits.reading
    this.#cost += (took - this.#cost) * (1 - memory)
    this.#credit -= took
    this.#rejected.push(item)
  }
}

/** A first-in-first-out queue with constant time for each operation; `Array.shift` moves all items. */
export class Queue<T> {
  #incoming: T[] = []
  #outgoing: T[] = []

  get length(): number {
    return this.#incoming.length + this.#outgoing.length
  }

  /** The item that has waited longest. */
  get first(): T | undefined {
    return this.#outgoing.at(-1) ?? this.#incoming[0]
  }

  push(item: T): void {
    this.#incoming.push(item)
  }

  /** Removes the item that has waited longest. */
  shift(): T | undefined {
    if (this.#outgoing.length === 0) {
      if (this.#incoming.length === 0) return undefined
      this.#outgoing = this.#incoming.reverse()
      this.#incoming = []
    }
    return this.#outgoing.pop()
  }
}
