/** Turns for slow reads (LIM-7): a few run at once, and callers share the turns fairly. */
import { StorageFault } from './storage.ts'

/** The bounds of turns. */
export interface TurnBounds {
  /** How many reads run at once. If there are at least two, one caller's reads get half of them at most. */
  readonly running: number
  /** How many reads wait, of all callers together. */
  readonly waiting: number
  /** How long a read waits, in milliseconds. */
  readonly patience: number
}

interface WaitingRead {
  readonly caller: string
  readonly begin: () => void
  readonly refuse: (kind: 'crowded' | 'abandoned') => void
}

/** Gives turns to slow reads. Waiting callers take turns, however many reads each of them has. */
export class FairTurns {
  readonly #bounds: TurnBounds
  /** The most reads of one caller that run at once. */
  readonly #share: number
  readonly #running = new Map<string, number>()
  /** The waiting reads of each caller. The first caller is served next. */
  readonly #lines = new Map<string, WaitingRead[]>()
  #runningCount = 0
  #waitingCount = 0

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds
    this.#share = Math.ceil(bounds.running / 2)
  }

  /**
   * Does work once it is a caller's turn.
   *
   * @param abandoned ends the waiting; the work has to follow it by itself
   * @throws StorageFault `crowded` if too many reads wait, or a turn does not come in time; `abandoned`
   */
  async run<T>(caller: string, work: () => Promise<T>, abandoned?: AbortSignal): Promise<T> {
    if (this.#mayBegin(caller) && this.#runningCount < this.#bounds.running) this.#begin(caller)
    else await this.#wait(caller, abandoned)
    try {
      return await work()
    } finally {
      this.#end(caller)
    }
  }

  #mayBegin(caller: string): boolean {
    return (this.#running.get(caller) ?? 0) < this.#share
  }

  #begin(caller: string): void {
    this.#runningCount++
    this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1)
  }

  #end(caller: string): void {
    this.#runningCount--
    const others = (this.#running.get(caller) ?? 1) - 1
    if (others === 0) this.#running.delete(caller)
    else this.#running.set(caller, others)
    this.#beginNext()
  }

  /** Begins the next read whose caller may begin one. That caller goes behind the others. */
  #beginNext(): void {
    for (const [caller, line] of this.#lines) {
      const [next] = line
      if (next === undefined || !this.#mayBegin(caller)) continue
      this.#remove(next)
      if (this.#lines.delete(caller) && line.length > 0) this.#lines.set(caller, line)
      this.#begin(caller)
      next.begin()
      return
    }
  }

  async #wait(caller: string, abandoned: AbortSignal | undefined): Promise<void> {
    if (abandoned?.aborted === true) throw faultOf('abandoned')
    if (this.#waitingCount >= this.#bounds.waiting) this.#makeRoom(caller)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const read: WaitingRead = {
      caller,
      begin: resolve,
      refuse: (kind) => {
        this.#remove(read)
        reject(faultOf(kind))
      },
    }
    this.#add(read)
    const timer = setTimeout(() => read.refuse('crowded'), this.#bounds.patience).unref()
    const leave = () => read.refuse('abandoned')
    abandoned?.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      clearTimeout(timer)
      abandoned?.removeEventListener('abort', leave)
    }
  }

  #add(read: WaitingRead): void {
    const line = this.#lines.get(read.caller)
    if (line === undefined) this.#lines.set(read.caller, [read])
    else line.push(read)
    this.#waitingCount++
  }

  #remove(read: WaitingRead): void {
    const line = this.#lines.get(read.caller)
    const place = line?.indexOf(read) ?? -1
    if (line === undefined || place === -1) return
    line.splice(place, 1)
    if (line.length === 0) this.#lines.delete(read.caller)
    this.#waitingCount--
  }

  /**
   * Refuses the last read of the longest line, so that a caller with many reads cannot keep others out.
   *
   * @throws StorageFault `crowded` if that is the line of this caller
   */
  #makeRoom(caller: string): void {
    let longest = this.#lines.get(caller) ?? []
    for (const line of this.#lines.values()) if (line.length > longest.length + 1) longest = line
    const last = longest.at(-1)
    if (last === undefined || last.caller === caller) throw faultOf('crowded')
    last.refuse('crowded')
  }
}

function faultOf(kind: 'crowded' | 'abandoned'): StorageFault {
  return new StorageFault(
    kind,
    kind === 'crowded' ? 'Too many slow reads are waiting.' : 'The client has disconnected.',
  )
}
