/**
 * Reads from a replica if it certainly has everything that the primary had when the request came.
 * See docs/decisions/028-reading-from-a-replica.md.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { type OnReplica, type ReplicaNews, StorageFault } from '../storage.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { Memory } from '../transactions/memory.ts'
import type { Client } from './client.ts'
import { Database, type Reading } from './database.ts'
import { isCanceled, isDisconnected, isFromServer } from './errors.ts'
import { query } from './session.ts'
import type { ConnectionOptions } from './settings.ts'

/** A database to read from. */
export interface Source {
  readonly database: Database
  readonly memory: Pick<Memory, 'totals' | 'lists'>
  readonly ready?: Reading['ready']
}

/** How often a read checks whether the replica has caught up, and the time between two checks, in milliseconds. */
const checks = 5
const pause = 2
/** After these times a replica that is behind, or lost, is tried again. */
const soon = 100
const later = 500
/** A replica that is behind for so long is reported. */
const reporting = 10_000

/** The replica has not replayed the log up to the required position yet. */
class Behind extends Error {
  override readonly message = 'The replica is behind.'
}

/** The other server is no replica of the primary. */
class Unfit extends Error {}

interface Reached {
  /** The least position up to which the server of the connection has replayed the log. */
  position: number
  readonly look: CoalescedQuery<number>
}

/** A replica that reads use as long as it is up to date. */
export class Replica {
  readonly #primary: Source
  readonly #database: Database
  readonly #memory = new Memory()
  readonly #onReplica: OnReplica
  /** The end of the primary's log. */
  readonly #position: CoalescedQuery<number>
  /** By connection: a new connection may lead to another server, which has replayed less. */
  readonly #reached = new WeakMap<Client, Reached>()
  #isUsed = false
  #told: ReplicaNews['state'] | undefined
  #behindSince: number | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /**
   * @param isUnsafe whether the primary acknowledges changes before they are on its disk, and before they are sent to
   * the replica
   */
  constructor(primary: Source, options: ConnectionOptions, isUnsafe: boolean, onReplica: OnReplica = () => {}) {
    this.#primary = primary
    this.#database = new Database(options)
    this.#onReplica = onReplica
    this.#position = new CoalescedQuery(() => primary.database.readPipelined(() => endOfLog(isUnsafe)))
  }

  /** Starts to use the replica if it is available; otherwise it is tried again regularly. */
  async start(): Promise<void> {
    await this.#try()
  }

  /** Reads from the replica if it is up to date, otherwise from the primary. */
  async read<T>(work: (source: Source) => Promise<T>): Promise<T> {
    const position = this.#isUsed ? await this.#position.ask().catch(() => undefined) : undefined
    if (position === undefined) return work(this.#primary)
    const ready = (client: Client) => this.#reach(client, position)
    try {
      return await work({ database: this.#database, memory: this.#memory, ready })
    } catch (error) {
      const reason = whyLost(error)
      if (error instanceof Behind) this.#rest('behind', error.message)
      else if (reason !== undefined) this.#rest('lost', reason)
      else if (!isOfReplica(error)) throw error
    }
    return work(this.#primary)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#database.close()
  }

  async #try(): Promise<void> {
    const position = await this.#position.ask().catch(() => undefined)
    try {
      // A failure of the primary is reported elsewhere.
      if (position === undefined) return this.#again(later)
      await this.#database.readPipelined(nothing, { ready: (client) => this.#reach(client, position) })
      this.#isUsed = true
      this.#behindSince = undefined
      if (this.#told !== 'connected') this.#tell({ state: 'connected' })
    } catch (error) {
      if (error instanceof Behind) this.#rest('behind', error.message)
      else this.#rest('lost', whyLost(error) ?? String(error))
    }
  }

  /** Reads from the primary for a while. */
  #rest(state: 'behind' | 'lost', reason: string): void {
    this.#isUsed = false
    const now = performance.now()
    this.#behindSince = state === 'behind' ? (this.#behindSince ?? now) : undefined
    const isWorth = state === 'lost' || now - (this.#behindSince ?? now) >= reporting
    if (isWorth && this.#told !== state) this.#tell({ state, reason })
    this.#again(state === 'lost' ? later : soon)
  }

  #again(after: number): void {
    clearTimeout(this.#timer)
    if (!this.#closed) this.#timer = setTimeout(() => void this.#try(), after).unref()
  }

  #tell(news: ReplicaNews): void {
    if (this.#closed) return
    this.#told = news.state
    this.#onReplica(news)
  }

  /** Waits a short time until the server of a connection has replayed the log up to a position of the primary. */
  async #reach(client: Client, position: number): Promise<void> {
    const reached = this.#reached.get(client) ?? (await this.#check(client))
    for (let check = 0; reached.position < position; check++) {
      if (check === checks) throw new Behind()
      if (check > 0) await sleep(pause)
      reached.position = Math.max(reached.position, await reached.look.ask())
    }
  }

  /** Checks that the server belongs to the primary's cluster: log positions of another cluster cannot be compared. */
  async #check(client: Client): Promise<Reached> {
    const cluster = await this.#primary.database.readPipelined(clusterOf)
    const [found] = await query(client, clusterQuery)
    if (found?.['cluster'] !== cluster) throw new Unfit('It is a replica of another database.')
    const reached = { position: 0, look: new CoalescedQuery(() => replayed(client)) }
    this.#reached.set(client, reached)
    return reached
  }
}

function* endOfLog(isUnsafe: boolean): Transaction<number> {
  const row = isUnsafe
    ? yield* firstRow(sql`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as position`)
    : yield* firstRow(sql`select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') as position`)
  return Number(row?.['position'])
}

async function replayed(client: Client): Promise<number> {
  const replay = "select pg_is_in_recovery() as standby, pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') as position"
  const [found] = await query(client, replay)
  if (found?.['standby'] !== 1) throw new Unfit('It follows no other server, so it is not a replica.')
  return Number(found['position'] ?? 0)
}

const clusterQuery = 'select system_identifier::text as cluster from pg_control_system()'

function* clusterOf(): Transaction<string> {
  const row = yield* firstRow({ text: clusterQuery, sql: clusterQuery, values: [] })
  return String(row?.['cluster'])
}

function* nothing(): Transaction<void> {}

/** Why the replica cannot be used; `undefined`: the error has another cause. */
function whyLost(error: unknown): string | undefined {
  if (error instanceof StorageFault && error.kind === 'abandoned') return undefined
  if (error instanceof Unfit) return error.message
  const cause = error instanceof StorageFault ? error.cause : undefined
  return isDisconnected(cause) ? String((cause as Error).message) : undefined
}

/**
 * Whether the read may succeed on the primary: a read can conflict with the replay of the log. A read that takes too
 * long would do so on the primary too.
 */
function isOfReplica(error: unknown): boolean {
  const cause = error instanceof StorageFault && error.kind !== 'abandoned' ? error.cause : undefined
  return isFromServer(cause) && !isCanceled(cause)
}

/** A query that many callers make at once: they share one answer, which is never older than a caller's request. */
export class CoalescedQuery<T> {
  readonly #put: () => Promise<T>
  #running: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(put: () => Promise<T>) {
    this.#put = put
  }

  /**
   * Returns the answer of a query that starts after this call. A caller that comes while one runs waits for the next
   * one.
   */
  ask(): Promise<T> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#begin()
    const begin = () => {
      this.#next = undefined
      return this.#begin()
    }
    this.#next = this.#running.then(begin, begin)
    return this.#next
  }

  #begin(): Promise<T> {
    const running = this.#put()
    const over = () => {
      if (this.#running === running) this.#running = undefined
    }
    this.#running = running
    running.then(over, over)
    return running
  }
}
