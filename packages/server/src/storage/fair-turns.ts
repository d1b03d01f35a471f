/** Turns for slow reads (LIM-7): a few run at once, and tenants and callers share the turns fairly. */
import { StorageFault } from './storage.ts'

export interface TurnBounds {
  /** How many reads run at once. If there are at least two, one caller's reads get half of them at most. */
  readonly running: number
  /** How many reads wait, of all callers together. */
  readonly waiting: number
  /** How long a read waits, in milliseconds. */
  readonly patience: number
}

/** Whose turn it is. */
export interface TurnOwner {
  /** Tenants take turns, and so do the callers of each; left out: there are no tenants. */
  readonly tenant?: string | undefined
  readonly caller: string
}

interface WaitingRead {
  readonly owner: TurnOwner
  readonly begin: () => void
  readonly refuse: (kind: 'crowded' | 'abandoned') => void
}

/** The reads of a caller. */
interface CallerLine {
  running: number
  readonly waiting: WaitingRead[]
}

/** The reads of a tenant. The first caller is served next. */
interface TenantLine {
  running: number
  waiting: number
  readonly callers: Map<string, CallerLine>
}

/** Gives turns to slow reads. Tenants take turns, and so do the callers of each, however many reads each has. */
export class FairTurns {
  readonly #bounds: TurnBounds
  /** The most reads of one caller that run at once. */
  readonly #callerShare: number
  /** The most reads of one tenant that run at once: of three turns and more, others have one at any time. */
  readonly #tenantShare: number
  /** The first tenant is served next. */
  readonly #tenants = new Map<string, TenantLine>()
  #runningCount = 0
  #waitingCount = 0

  constructor(bounds: TurnBounds) {
    const { running } = bounds
    this.#bounds = bounds
    this.#callerShare = Math.ceil(running / 2)
    this.#tenantShare = running >= 3 ? running - 1 : running
  }

  /**
   * Does work once it is a caller's turn.
   *
   * @param abandoned ends the waiting; the work has to follow it by itself
   * @throws StorageFault `crowded` if too many reads wait, or a turn does not come in time; `abandoned`
   */
  async run<T>(owner: TurnOwner, work: () => Promise<T>, abandoned?: AbortSignal): Promise<T> {
    const { tenant, caller } = this.#linesOf(owner)
    if (this.#runningCount < this.#bounds.running && this.#mayBegin(owner, tenant, caller)) this.#begin(owner)
    else await this.#wait(owner, abandoned)
    try {
      return await work()
    } finally {
      this.#end(owner)
    }
  }

  #mayBegin(owner: TurnOwner, tenant: TenantLine, caller: CallerLine): boolean {
    const isWithin = owner.tenant === undefined || tenant.running < this.#tenantShare
    return isWithin && caller.running < this.#callerShare
  }

  #begin(owner: TurnOwner): void {
    const { tenant, caller } = this.#linesOf(owner)
    this.#runningCount++
    tenant.running++
    caller.running++
  }

  #end(owner: TurnOwner): void {
    const { tenant, caller } = this.#linesOf(owner)
    this.#runningCount--
    tenant.running--
    caller.running--
    this.#forgetIdle(owner)
    this.#beginNext()
  }

  /** Begins the next read whose caller and tenant may begin one. Each of them goes behind the others. */
  #beginNext(): void {
    for (const tenant of this.#tenants.values()) {
      for (const caller of tenant.callers.values()) {
        const [next] = caller.waiting
        if (next === undefined || !this.#mayBegin(next.owner, tenant, caller)) continue
        this.#begin(next.owner)
        this.#remove(next)
        toEnd(tenant.callers, next.owner.caller)
        toEnd(this.#tenants, tenantOf(next.owner))
        next.begin()
        return
      }
    }
  }

  async #wait(owner: TurnOwner, abandoned: AbortSignal | undefined): Promise<void> {
    if (abandoned?.aborted === true) {
      this.#forgetIdle(owner)
      throw faultOf('abandoned')
    }
    if (this.#waitingCount >= this.#bounds.waiting) this.#makeRoom(owner)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const read: WaitingRead = {
      owner,
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
    const { owner } = read
    const { tenant, caller } = this.#linesOf(owner)
    // Others may have begun to wait before.
    if (caller.waiting.length === 0) toEnd(tenant.callers, owner.caller)
    if (tenant.waiting === 0) toEnd(this.#tenants, tenantOf(owner))
    caller.waiting.push(read)
    tenant.waiting++
    this.#waitingCount++
  }

  #remove(read: WaitingRead): void {
    const { tenant, caller } = this.#linesOf(read.owner)
    const place = caller.waiting.indexOf(read)
    if (place !== -1) {
      caller.waiting.splice(place, 1)
      tenant.waiting--
      this.#waitingCount--
    }
    this.#forgetIdle(read.owner)
  }

  /**
   * Refuses the last read of the longest line, so that a caller or tenant with many reads cannot keep others out.
   *
   * @throws StorageFault `crowded` if that is the line of this caller
   */
  #makeRoom(owner: TurnOwner): void {
    const { tenant, caller } = this.#linesOf(owner)
    const crowding = longest(this.#tenants.values(), ({ waiting }) => waiting, tenant)
    const own = crowding === tenant ? caller : undefined
    const line = crowding && longest(crowding.callers.values(), ({ waiting }) => waiting.length, own)
    const last = line === caller ? undefined : line?.waiting.at(-1)
    if (last === undefined) {
      this.#forgetIdle(owner)
      throw faultOf('crowded')
    }
    last.refuse('crowded')
  }

  #linesOf(owner: TurnOwner): { readonly tenant: TenantLine; readonly caller: CallerLine } {
    const tenant = this.#tenants.get(tenantOf(owner)) ?? { running: 0, waiting: 0, callers: new Map() }
    const caller = tenant.callers.get(owner.caller) ?? { running: 0, waiting: [] }
    tenant.callers.set(owner.caller, caller)
    this.#tenants.set(tenantOf(owner), tenant)
    return { tenant, caller }
  }

  #forgetIdle(owner: TurnOwner): void {
    const { tenant, caller } = this.#linesOf(owner)
    if (caller.running === 0 && caller.waiting.length === 0) tenant.callers.delete(owner.caller)
    if (tenant.callers.size === 0) this.#tenants.delete(tenantOf(owner))
  }
}

function tenantOf({ tenant = '' }: TurnOwner): string {
  return tenant
}

/** Moves an entry behind all others. */
function toEnd<T>(map: Map<string, T>, key: string): void {
  const value = map.get(key)
  if (value !== undefined && map.delete(key)) map.set(key, value)
}

/**
 * The longest of some lines, and of two the one that is served later; `own`, unless another one is longer even with the
 * read that comes now in this one.
 */
function longest<T>(lines: Iterable<T>, lengthOf: (line: T) => number, own?: T): T | undefined {
  let found = own
  let most = own === undefined ? 0 : lengthOf(own) + 1
  for (const line of lines) {
    const length = lengthOf(line)
    if (length < most || (length === most && (found === own || length === 0))) continue
    found = line
    most = length
  }
  return found
}

function faultOf(kind: 'crowded' | 'abandoned'): StorageFault {
  return new StorageFault(
    kind,
    kind === 'crowded' ? 'Too many slow reads are waiting.' : 'The client has disconnected.',
  )
}
