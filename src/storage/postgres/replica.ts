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
import { isDisconnected, isSaid, isTooLong } from './errors.ts'
import { query } from './session.ts'
import type { ConnectionOptions } from './settings.ts'

/** Where a read goes. */
export interface Source {
  readonly database: Database
  readonly memory: Pick<Memory, 'totals' | 'lists'>
  readonly ready?: Reading['ready']
}

/** How often a read looks whether the replica has caught up, and the time between, in milliseconds. */
const looks = 5
const pause = 2
/** After so long a replica is looked at again that is behind, or gone. */
const soon = 100
const later = 500
/** One that is behind for so long is told of. */
const telling = 10_000

/** The replica does not have everything yet. */
class Behind extends Error {
  override readonly message = 'The replica is behind.'
}

/** What is there is no replica of the database. */
class Unfit extends Error {}

interface Reached {
  /** Up to where the server of a connection has replayed the log, at least. */
  position: number
  readonly look: SharedQuestion<number>
}

/** A replica, until it is closed. */
export class Replica {
  readonly #primary: Source
  readonly #database: Database
  readonly #memory = new Memory()
  readonly #onReplica: OnReplica
  /** Where the primary's log ends. */
  readonly #position: SharedQuestion<number>
  /** By connection: one that is made anew may lead to a server that has come less far. */
  readonly #reached = new WeakMap<Client, Reached>()
  #isUsed = false
  #told: ReplicaNews['state'] | undefined
  #behindSince: number | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /**
   * @param isUnsafe whether the primary acknowledges what is not on its disk yet, and so not on the way to the replica
   */
  constructor(primary: Source, options: ConnectionOptions, isUnsafe: boolean, onReplica: OnReplica = () => {}) {
    this.#primary = primary
    this.#database = new Database(options)
    this.#onReplica = onReplica
    this.#position = new SharedQuestion(() => primary.database.each(() => endOfLog(isUnsafe)))
  }

  /** Begins to use it, where it is there; else it is tried again and again. */
  async start(): Promise<void> {
    await this.#try()
  }

  /** Has something read: from the replica where it has everything, otherwise from the primary. */
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
      // Of the primary others hear.
      if (position === undefined) return this.#again(later)
      await this.#database.each(nothing, { ready: (client) => this.#reach(client, position) })
      this.#isUsed = true
      this.#behindSince = undefined
      if (this.#told !== 'connected') this.#tell({ state: 'connected' })
    } catch (error) {
      if (error instanceof Behind) this.#rest('behind', error.message)
      else this.#rest('lost', whyLost(error) ?? String(error))
    }
  }

  /** The primary is read from here on, for a while. */
  #rest(state: 'behind' | 'lost', reason: string): void {
    this.#isUsed = false
    const now = performance.now()
    this.#behindSince = state === 'behind' ? (this.#behindSince ?? now) : undefined
    const isWorth = state === 'lost' || now - (this.#behindSince ?? now) >= telling
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

  /** Waits until the server of a connection has come as far as the primary was, but not for long. */
  async #reach(client: Client, position: number): Promise<void> {
    const reached = this.#reached.get(client) ?? (await this.#check(client))
    for (let look = 0; reached.position < position; look++) {
      if (look === looks) throw new Behind()
      if (look > 0) await sleep(pause)
      reached.position = Math.max(reached.position, await reached.look.ask())
    }
  }

  /** Positions of another cluster mean nothing here. */
  async #check(client: Client): Promise<Reached> {
    const cluster = await this.#primary.database.each(clusterOf)
    const [found] = await query(client, clusterQuery)
    if (found?.['cluster'] !== cluster) throw new Unfit('It is a replica of another database.')
    const reached = { position: 0, look: new SharedQuestion(() => replayed(client)) }
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
  if (found?.['standby'] !== 1) throw new Unfit('It follows no other server: it is no replica, or not any more.')
  return Number(found['position'] ?? 0)
}

const clusterQuery = 'select system_identifier::text as cluster from pg_control_system()'

function* clusterOf(): Transaction<string> {
  const row = yield* firstRow({ text: clusterQuery, sql: clusterQuery, values: [] })
  return String(row?.['cluster'])
}

function* nothing(): Transaction<void> {}

/** Why the replica is of no use; `undefined`: it is not the replica's fault. */
function whyLost(error: unknown): string | undefined {
  if (error instanceof StorageFault && error.kind === 'abandoned') return undefined
  if (error instanceof Unfit) return error.message
  const cause = error instanceof StorageFault ? error.cause : undefined
  return isDisconnected(cause) ? String((cause as Error).message) : undefined
}

/**
 * Whether it may go well on the primary, as what is in the way of replaying the log. What takes too long would do so
 * there.
 */
function isOfReplica(error: unknown): boolean {
  const cause = error instanceof StorageFault && error.kind !== 'abandoned' ? error.cause : undefined
  return isSaid(cause) && !isTooLong(cause)
}

/** A question that many ask at once and that has one answer for all of them, not older than any of them. */
export class SharedQuestion<T> {
  readonly #put: () => Promise<T>
  #running: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(put: () => Promise<T>) {
    this.#put = put
  }

  /**
   * Gives an answer to a question that is put after this is called: whoever comes while one is under way waits for the
   * next.
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
