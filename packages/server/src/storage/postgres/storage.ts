/** A PostgreSQL database as a storage: many connections, and any number of servers beside this one. */

import { type Catalog, isHistory } from 'resourced-contract/model/resource'
import type { Sql } from 'sql-template-tag'
import { isConditional } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Plan, ReadPage, ReadSummary, Write } from '../../plan/plan.ts'
import { eventsFromStored } from '../../plan/plan-events.ts'
import type { Apply } from '../migration/migration-step.ts'
import { type Epochs, type SqlContext, sqlContext } from '../sql/context.ts'
import type { EventStore, OnCommit, Requester, Storage } from '../storage.ts'
import { constant, firstRow, type Runner, singleStatement } from '../transaction.ts'
import { visitsFew } from '../transactions/access-path.ts'
import { previewDeletion } from '../transactions/delete/preview.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { readChunk } from '../transactions/exports.ts'
import { findEvent, readFloor, readMark } from '../transactions/kept-events.ts'
import { keptSummaryOf } from '../transactions/kept-summary.ts'
import { keyStore } from '../transactions/keys.ts'
import { finishLarge } from '../transactions/large-changes.ts'
import { listOf } from '../transactions/list.ts'
import { loadAll, loadSome } from '../transactions/load.ts'
import { backgroundOf, jobStore } from '../transactions/long-work.ts'
import { isIncluding, ListMemory } from '../transactions/memory.ts'
import { maintenanceStore, readOpening, readShared } from '../transactions/meta.ts'
import { readEvents } from '../transactions/read-events.ts'
import { decideByClock, isReadAtOnce, readAnew, readPage } from '../transactions/read-page.ts'
import { readRecord } from '../transactions/read-record.ts'
import { readSummary } from '../transactions/read-summary.ts'
import { openJobs } from '../transactions/rows/job-rows.ts'
import { ruledAmong, ruledBelow } from '../transactions/rows/other-records.ts'
import { isChange, isFinal, writeTransaction } from '../transactions/run.ts'
import { tenantStore, tenantsIn } from '../transactions/tenants.ts'
import { ruledIn } from '../transactions/transact.ts'
import { deliveryStore } from '../transactions/webhooks.ts'
import type { Client } from './client.ts'
import type { Isolation } from './control.ts'
import { Database, type SlowReading } from './database.ts'
import { postgres } from './dialect.ts'
import { HostConnections, type HostOptions } from './host-connections.ts'
import { migratePostgres } from './migrate.ts'
import type { Pools } from './pools.ts'
import { ReadTime } from './read-time.ts'
import type { Reader, Source } from './replica.ts'
import { checkDurability, checkTenants } from './requirements.ts'
import { createSchema } from './schemas.ts'
import { withConnection } from './session.ts'

/** How a PostgreSQL database is opened. */
export interface PostgresOptions extends HostOptions {
  /** Which changes of the database a start may make. */
  readonly migrate?: Apply | undefined
  readonly onCommit?: OnCommit | undefined
  /** The database was brought up to the catalog before. */
  readonly isCurrent?: boolean | undefined
}

/**
 * Opens a PostgreSQL database for a catalog and brings it up to date. The schema of a tenant is created.
 *
 * @param shared the connections of a host; left out: its own
 * @throws MigrationRefused where the catalog needs a change that start-up may not make
 */
export async function openPostgres(
  catalog: Catalog,
  given: PostgresOptions,
  shared?: HostConnections,
): Promise<Storage> {
  const options = { ...given, limits: { read: catalog.limits.readTime, ...given.limits } }
  const connections = shared ?? new HostConnections()
  if (options.isCurrent !== true) await connections.bringUp(options.schema ?? '', () => bringUp(options, catalog))
  const place = await connections.place(options)
  const database = new Database(options, options.onCommit, place)
  const close = shared === undefined ? () => connections.close() : async () => place.leave()
  try {
    // Most starts only read, so that they open no connection for transactions.
    const found = await database.readPipelined(readShared)
    const opening = found ?? (await database.write(readOpening, undefined, { isLong: true }))
    const replica = connections.replica(place.isOnNode ? { ...options, replica: undefined } : options)
    await replica?.start()
    const primary = { database, memory: new ListMemory() }
    const reading: Reader = replica?.reader(primary, options.schema) ?? ((work) => work(primary))
    return storageOf(catalog, { ...opening, primary, reading, pools: connections.pools(options), close })
  } catch (error) {
    await close()
    throw error
  }
}

/** Brings a database up to a catalog, and creates the schema of a tenant. */
async function bringUp(options: PostgresOptions, catalog: Catalog): Promise<void> {
  const { schema, unsafe, migrate = 'additive' } = options
  if (schema !== undefined) {
    const create = (client: Client) => createSchema(client, catalog, schema)
    if (await withConnection({ ...options, schema: undefined }, create)) return
  }
  await withConnection(options, async (client) => {
    if (schema === undefined && unsafe !== true) await checkDurability(client)
    if (tenantsIn(catalog) !== undefined) await checkTenants(client)
    const isPooled = options.session === 'off'
    await migratePostgres(client, catalog, { apply: migrate, now: Date.now(), isPooled })
  })
}

/** For how long the name of a tenant counts at most, in milliseconds. */
const namesKept = 1_000

interface Parts extends Pick<Storage, 'cursorSecret' | 'maintenanceFound' | 'close'> {
  readonly primary: Source
  readonly reading: Reader
  readonly pools: Pools
  readonly epochs: Epochs
}

function storageOf(catalog: Catalog, { primary, reading, pools, epochs, close, ...opened }: Parts): Storage {
  const { database } = primary
  const context = sqlContext({ catalog, dialect: postgres, epochs, tagSecret: opened.cursorSecret })
  const readHorizon = horizonReader(database)
  const runner: Runner = { read: (start) => database.readPipelined(start), write: database.write }
  let closing = false
  const background = backgroundOf(context, {
    read: (start) => database.read(start),
    write: (start, changed) => database.write(start, changed, { isLong: true }),
  })
  return {
    ...opened,
    exportsFolder: undefined,
    // On dedicated connections: pieces are large, and would delay small reads.
    pieces: { read: (job, start) => database.read(() => readChunk(job, start)) },
    async run(plan: Plan, requester?: Requester): Promise<Outcome> {
      const from = { caller: requester?.callerId, abandoned: requester?.abandoned?.() }
      if ((plan.kind === 'read-record' || plan.kind === 'read-page') && isIncluding(plan)) {
        return reading(({ database, memory, ready }) => {
          const read = () => readAnew(context, { ...memory, clocks: new Map() }, plan)
          return database.readSlow(read, { ...from, ready, isSnapshot: true })
        })
      }
      if (plan.kind === 'read-record') {
        if (plan.resource.order === 'by-position') {
          return database.readPipelined(() => readRecord(context, undefined, plan))
        }
        // Records are not remembered: other servers change the database at any time.
        return reading((from) => from.database.readPipelined(() => readRecord(context, undefined, plan), from))
      }
      if (plan.kind === 'read-page' || plan.kind === 'preview-deletion') {
        // A replica may not have all events up to the horizon, which the primary says.
        if (plan.kind === 'read-page' && plan.resource.order === 'by-position' && !isHistory(plan.resource)) {
          const horizon = await readHorizon()
          return pageFrom(primary, { ...context, horizon }, plan, from)
        }
        if (plan.kind === 'read-page') return reading((source) => pageFrom(source, context, plan, from))
        const preview = () => previewDeletion(context, plan)
        return reading(({ database, ready }) => database.readSlow(preview, { ...from, ready, isSnapshot: true }))
      }
      if (plan.kind === 'read-summary') return reading((source) => summaryFrom(source, context, plan, requester))
      const isolation = isolationOf(context, plan)
      const written = await database.write(() => writeTransaction(context, plan), isChange, {
        isolation,
        isRepeatable: 'idempotency' in plan && plan.idempotency !== undefined,
      })
      // A tenant was perhaps deleted.
      if (plan.resource === tenantsIn(catalog)) pools.missing++
      return isFinal(written) ? written : finishLarge({ context, runner: database, background }, plan, written)
    },
    load(plans, whenRefused) {
      return database.write(
        () => loadSome(context, plans, whenRefused),
        (outcomes) => outcomes.includes(undefined),
        { isolation: isolationOfAll(context, plans), isLong: true },
      )
    },
    loadAll(whole) {
      const plans = whole.resources.map((resource) => ({ resource }))
      return database.write(
        () => loadAll(context, whole),
        (refusals) => refusals.length === 0,
        { isolation: isolationOfAll(context, plans), isLong: true },
      )
    },
    events: eventsOf(context, database, readHorizon),
    deliveries: deliveryStore(context, runner),
    jobs: { ...jobStore(context, database, background, () => closing), open: () => database.readPipelined(openJobs) },
    keys: keyStore(context, runner),
    tenants: tenantStore(context, runner, {
      // Another server may delete a tenant, whose schema statements then find missing.
      state: () => `${pools.missing} ${Math.trunc(performance.now() / namesKept)}`,
      keeps: (entry) => entry?.state === 'active',
    }),
    purgeClock: purgeClockStore(database),
    maintenance: maintenanceStore({ read: (start) => database.readPriority(start), write: database.write }),
    ping: () => database.ping(),
    async close() {
      closing = true
      await close()
    },
  }
}

/** The events of a database, read from the primary. */
function eventsOf(context: SqlContext, database: Database, readHorizon: () => Promise<number>): EventStore | undefined {
  const resource = context.catalog.system.get('events')
  if (resource === undefined) return undefined
  return {
    async read(plan, requester) {
      // The snapshot is taken afterwards.
      const horizon = await readHorizon()
      const how = { caller: requester?.callerId, abandoned: requester?.abandoned?.() }
      return eventsFromStored(plan, await database.readSlow(() => readEvents({ ...context, horizon }, plan), how))
    },
    horizon: readHorizon,
    mark: (position) => database.readPipelined(() => readMark(position)),
    floor: () => database.readPipelined(() => readFloor()),
    find: (id) => database.readPipelined(() => findEvent(id)),
  }
}

/**
 * Reads the position up to which no event can appear any more. What was true once stays true, also while a transaction
 * begins that makes the database say less. Only if the sequence itself goes back, the database has lost changes.
 */
function horizonReader(database: Database): () => Promise<number> {
  let greatest = 0
  const statement = constant(postgres.horizon as Sql)
  return async () => {
    // An answer may come after that of a later question.
    const before = greatest
    const row = await database.readPipelined(() => firstRow(statement))
    const horizon = Number(row?.['horizon'] ?? 0)
    greatest = Number(row?.['last'] ?? 0) < before ? horizon : Math.max(greatest, horizon)
    return greatest
  }
}

/** Reads a page: in one statement, if that is enough, or else on a snapshot. What may be slow waits for its turn. */
async function pageFrom(
  { database, memory, ready }: Source,
  context: SqlContext,
  plan: ReadPage,
  from: Pick<SlowReading, 'caller' | 'abandoned'>,
): Promise<Outcome> {
  const how = { ...from, ready, time: new ReadTime(database.readLimit) }
  const list = listOf(context, memory, plan)
  const anew = () => ({ ...memory, clocks: new Map() })
  const read = () => readPage(context, anew(), plan, list)
  const isAlone = plan.parent === undefined && plan.deleted === undefined
  if (isAlone && isConditional(plan.conditions)) {
    const ended = await database.readPipelined(() => decideByClock(anew(), plan, list), how)
    if (ended !== undefined) return ended
  }
  const total = memory.totals.get(list.totalKey)?.total ?? Number.POSITIVE_INFINITY
  const isShort = (isCurrent: boolean) =>
    visitsFew(plan, { total, isCurrent, live: Number.POSITIVE_INFINITY, deleted: 0, others: 0 })
  if (isAlone && isReadAtOnce(memory, list)) {
    const single = () => singleStatement(read())
    const outcome = await (isShort(true) ? database.readPipelined(single, how) : database.readSlow(single, how))
    if (outcome !== undefined) return outcome
  }
  // What counts few rows anew does not wait for reads that are slow.
  return isShort(false) ? database.read(read, how) : database.readSlow(read, { ...how, isSnapshot: true })
}

/** Reads a summary. What the clock alone decides waits for no read that is slow. */
async function summaryFrom(
  { database, memory, ready }: Source,
  context: SqlContext,
  plan: ReadSummary,
  requester: Requester | undefined,
): Promise<Outcome> {
  const how = { caller: requester?.callerId, abandoned: requester?.abandoned?.(), ready }
  const list = listOf(context, memory, plan.list)
  const anew = () => ({ ...memory, clocks: new Map() })
  if (isConditional(plan.conditions)) {
    const ended = await database.readPipelined(() => decideByClock(anew(), plan, list), how)
    if (ended !== undefined) return ended
  }
  const isShort = keptSummaryOf(plan) !== undefined
  const read = () => readSummary(context, anew(), plan, list)
  return isShort ? database.read(read, how) : database.readSlow(read, { ...how, isSnapshot: true })
}

/**
 * The isolation of a change, so that the decision is still right when the change commits. It is
 * serializable where business rules cover everything that it writes and searches: then every transaction that could
 * conflict is serializable too. Otherwise it is read committed and locks the rows that the decision depends on. If
 * business rules cover a part of those, it also excludes serializable transactions while it runs (`lockRules`).
 */
function isolationOf(context: SqlContext, plan: Write): Isolation {
  switch (plan.kind) {
    case 'transaction':
      return ruledIn(context, plan) === 'all' ? 'serializable' : 'read committed'
    case 'create':
    case 'write-many':
    case 'replace':
    case 'merge':
    case 'patch':
    case 'update-matching':
      return ruledAmong(context, [plan.resource.name]) === 'all' ? 'serializable' : 'read committed'
    case 'delete':
    case 'bulk-delete':
    case 'delete-matching':
      return ruledBelow(context, plan.resource) === 'all' ? 'serializable' : 'read committed'
    // The keys of a subject are counted, and a key that does not exist yet has no row to lock.
    case 'create-key':
      return 'serializable'
    default:
      return 'read committed'
  }
}

/** The isolation of many creations in one transaction. */
function isolationOfAll(context: SqlContext, plans: readonly Pick<Write, 'resource'>[]): Isolation {
  const collections = plans.map(({ resource }) => resource.name)
  return ruledAmong(context, collections) === 'all' ? 'serializable' : 'read committed'
}
