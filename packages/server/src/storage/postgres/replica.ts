/**
 * Reads from a replica if it certainly has everything that the primary had when the request came: the replica has
 * replayed the end of the primary's log as of then. Positions of two timelines cannot be compared, so the replica must
 * also show a stamp that was written to the primary a moment ago (docs/explanation/scaling.md).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import sql, { raw } from 'sql-template-tag'
import { BoundedMap } from '../sql/bounded-map.ts'
import { type OnReplica, type ReplicaNews, StorageFault } from '../storage.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { ListMemory } from '../transactions/memory.ts'
import type { Client } from './client.ts'
import { Database, type Reading } from './database.ts'
import { isCanceled, isDisconnected, isFromServer } from './errors.ts'
import { Pools } from './pools.ts'
import { query } from './session.ts'
import type { ConnectionOptions } from './settings.ts'

/** A database to read from. */
export interface Source {
  readonly database: Database
  readonly memory: ListMemory
  readonly ready?: Reading['ready']
}

/** Reads from one of the sources of a storage. */
export type Reader = <T>(work: (source: Source) => Promise<T>) => Promise<T>

/** How often a read checks whether the replica has caught up, and the time between two checks, in milliseconds. */
const checks = 5
const pause = 2
/** After these times a replica that is behind, lost, or silent is tried again. */
const soon = 100
const later = 500
const muchLater = 5_000
/** For so long a read waits for a replica that may be silent, and as long for a sign of it. */
const patience = 250
/** A replica that is behind for so long is reported. */
const reporting = 10_000

/** The replica has not replayed the log up to the required position yet. */
class Behind extends Error {
  override readonly message = 'The replica is behind.'
}

/** The other server is no replica of the primary. */
class Unfit extends Error {}

/** The other server does not answer: a network or a machine that hangs reports no error. */
class Silent extends Error {
  override readonly message = `It has not answered for ${patience} ms.`
}

/** The end of the primary's log, and which server has written it since when: positions of others say nothing. */
interface EndOfLog {
  readonly position: number
  readonly instance: string
}

/** What the primary has written for its replicas to find (`stamping`). */
interface Stamp extends EndOfLog {
  readonly count: number
}

interface Looked {
  /** The position up to which the server of the connection has replayed the log. */
  readonly position: number
  /** The process that receives the log. It is another one after the server follows another one. */
  readonly source: string
}

interface Reached {
  at: Looked
  readonly look: CoalescedQuery<Looked>
}

/** The most sources that are remembered: several replicas may have one address. */
const mostSources = 50

/** A replica that reads use as long as it is up to date. */
export class Replica {
  readonly #primary: Database
  readonly #options: ConnectionOptions
  readonly #pools: Pools
  readonly #database: Database
  readonly #onReplica: OnReplica
  readonly #endOfLog: CoalescedQuery<EndOfLog>
  readonly #stamp: CoalescedQuery<Stamp>
  readonly #pulse: CoalescedQuery<void>
  /** By connection: a new connection may lead to another server, which has replayed less. */
  readonly #reached = new WeakMap<Client, Reached>()
  /** By source of the log, the instance of the primary that has written it. */
  readonly #instances = new BoundedMap<string>(mostSources)
  /** By source of the log, the stamp that has to be found in it. */
  readonly #stamps = new BoundedMap<Stamp>(mostSources)
  #isUsed = false
  #told: ReplicaNews['state'] | undefined
  #behindSince: number | undefined
  #timer: NodeJS.Timeout | undefined
  #started: Promise<void> | undefined
  #closed = false

  /**
   * @param isUnsafe whether the primary acknowledges changes before they are on its disk, and before they are sent to
   * the replica
   */
  constructor(primary: Database, options: ConnectionOptions, isUnsafe: boolean, onReplica: OnReplica = () => {}) {
    this.#primary = primary
    this.#options = { ...options, limits: { ...options.limits, ping: patience } }
    this.#pools = new Pools(this.#options)
    this.#database = new Database(this.#options, undefined, { pools: this.#pools })
    this.#onReplica = onReplica
    this.#endOfLog = new CoalescedQuery(() => primary.readPipelined(() => endOfLog(isUnsafe)))
    this.#stamp = new CoalescedQuery(async () => {
      const { instance, count } = await primary.write(stamping, () => true, { isLong: true })
      return { instance, count, position: (await this.#endOfLog.ask()).position }
    })
    this.#pulse = new CoalescedQuery(() => this.#database.answers())
  }

  /** Starts to use the replica if it is available; otherwise it is tried again regularly. */
  start(): Promise<void> {
    this.#started ??= this.#try()
    return this.#started
  }

  /**
   * The reads of a storage: from the replica if it is up to date, otherwise from the primary.
   *
   * @param schema of its tables on both; left out: that of the connections
   */
  reader(primary: Source, schema: string | undefined): Reader {
    const database = new Database({ ...this.#options, schema }, undefined, { pools: this.#pools })
    const replica = { database, memory: new ListMemory() }
    return (work) => this.#read(primary, replica, work)
  }

  async #read<T>(primary: Source, replica: Source, work: (source: Source) => Promise<T>): Promise<T> {
    const end = this.#isUsed ? await this.#endOfLog.ask().catch(() => undefined) : undefined
    if (end === undefined) return work(primary)
    const ready = (client: Client) => this.#reach(client, end)
    try {
      return await this.#watched(work({ ...replica, ready }))
    } catch (error) {
      const reason = whyLost(error)
      if (error instanceof Behind) this.#rest('behind', error.message)
      else if (reason !== undefined) this.#rest('lost', reason, error instanceof Silent ? muchLater : later)
      else if (!isOfReplica(error)) throw error
    }
    return work(primary)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#pools.close()
  }

  async #try(): Promise<void> {
    const end = await this.#endOfLog.ask().catch(() => undefined)
    try {
      // A failure of the primary is reported elsewhere.
      if (end === undefined) return this.#again(later)
      await this.#watched(this.#database.readPipelined(nothing, { ready: (client) => this.#reach(client, end) }))
      this.#isUsed = true
      this.#behindSince = undefined
      if (this.#told !== 'connected') this.#tell({ state: 'connected' })
    } catch (error) {
      if (error instanceof Behind) this.#rest('behind', error.message)
      else this.#rest('lost', whyLost(error) ?? String(error), error instanceof Silent ? muchLater : later)
    }
  }

  /** Reads from the primary for a while. */
  #rest(state: 'behind' | 'lost', reason: string, pause = soon): void {
    this.#isUsed = false
    const now = performance.now()
    this.#behindSince = state === 'behind' ? (this.#behindSince ?? now) : undefined
    const isWorth = state === 'lost' || now - (this.#behindSince ?? now) >= reporting
    if (isWorth && this.#told !== state) this.#tell({ state, reason })
    this.#again(pause)
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

  /** Awaits a read of the replica as long as the replica shows a sign of life. */
  async #watched<T>(reading: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      const wait = () => {
        timer = setTimeout(() => void this.#pulse.ask().then(wait, () => reject(new Silent())), patience).unref()
      }
      wait()
    })
    // Whichever comes first, nobody else handles the other one.
    for (const each of [reading, silence]) each.catch(() => {})
    return Promise.race([reading, silence]).finally(() => clearTimeout(timer))
  }

  /**
   * Waits a short time until the server of a connection has replayed the log of the primary up to its end.
   *
   * @throws Unfit if it has replayed another log
   */
  async #reach(client: Client, end: EndOfLog): Promise<void> {
    const reached = this.#reached.get(client) ?? (await this.#check(client))
    for (let check = 0; ; check++) {
      const { position, source } = reached.at
      const isSame = this.#instances.get(source) === end.instance
      if (isSame && position >= end.position) return
      if (!isSame && check > 0 && (await this.#compare(client, reached.at, end.instance))) continue
      if (check === checks) throw new Behind()
      if (check > 0) await sleep(pause)
      reached.at = await reached.look.ask()
    }
  }

  /**
   * Looks for a stamp of the primary. A server that followed another one when it was written does not have it, however
   * far it has come.
   *
   * @returns whether it was found; otherwise the server may not have replayed it yet
   */
  async #compare(client: Client, { position, source }: Looked, instance: string): Promise<boolean> {
    const known = this.#stamps.get(source)
    const stamp = known?.instance === instance ? known : await this.#stamp.ask()
    this.#stamps.set(source, stamp)
    if (position < stamp.position) return false
    const [row] = await query(client, `select value from resourced_meta where key = '${stampKey}'`)
    const [found, count] = String(row?.['value']).split(' ')
    if (found !== stamp.instance || Number(count) < stamp.count) {
      throw new Unfit('It follows another timeline than the primary, so it lacks changes of it.')
    }
    this.#instances.set(source, stamp.instance)
    this.#stamps.delete(source)
    return true
  }

  /** Checks that the server belongs to the primary's cluster: log positions of another cluster cannot be compared. */
  async #check(client: Client): Promise<Reached> {
    const cluster = await this.#primary.readPipelined(clusterOf)
    const [found] = await query(client, clusterQuery)
    if (found?.['cluster'] !== cluster) throw new Unfit('It is a replica of another database.')
    const reached = { at: { position: 0, source: '' }, look: new CoalescedQuery(() => replayed(client)) }
    this.#reached.set(client, reached)
    return reached
  }
}

/** The timeline that the primary writes, and when it started: it may have started from an older copy. */
const instance = raw(`substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
  || '/' || extract(epoch from pg_postmaster_start_time())::text`)

function* endOfLog(isUnsafe: boolean): Transaction<EndOfLog> {
  const end = raw(isUnsafe ? 'pg_current_wal_insert_lsn()' : 'pg_current_wal_flush_lsn()')
  const row = yield* firstRow(sql`select pg_wal_lsn_diff(${end}, '0/0') as position, ${instance} as instance`)
  return { position: Number(row?.['position']), instance: String(row?.['instance']) }
}

/** The key of the stamp in `resourced_meta`. */
const stampKey = 'primary'

/** Stamps the database: with the instance of the primary, and a number that grows. */
function* stamping(): Transaction<Omit<Stamp, 'position'>> {
  const next = sql`(cast(split_part(resourced_meta.value, ' ', 2) as bigint) + 1)`
  const row = yield* firstRow(sql`insert into resourced_meta (key, value) values (${stampKey}, ${instance} || ' 1')
    on conflict (key) do update set value = ${instance} || ' ' || ${next} returning value`)
  const [found = '', count] = String(row?.['value']).split(' ')
  return { instance: found, count: Number(count) }
}

// Roles that may not see the statistics of others see the process, but not its timeline.
const receiver = "(select concat(pid, ' ', received_tli) from pg_stat_wal_receiver)"
const source = `concat(pg_postmaster_start_time(), ' ', ${receiver})`

async function replayed(client: Client): Promise<Looked> {
  const position = "pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') as position"
  const [found] = await query(client, `select pg_is_in_recovery() as standby, ${position}, ${source} as source`)
  if (found?.['standby'] !== 1) throw new Unfit('It follows no other server, so it is not a replica.')
  return { position: Number(found['position'] ?? 0), source: String(found['source']) }
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
  if (error instanceof Unfit || error instanceof Silent) return error.message
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
