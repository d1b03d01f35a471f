/** A PostgreSQL schema that is moved as a whole, or filled: in one transaction, so that a killed move leaves it as it was. */
import type { ClientBase } from 'pg'
import type { Catalog } from '../../model/resource.ts'
import { planMigration } from '../migration/migration.ts'
import { MigrationRefused } from '../migration/migration-refused.ts'
import type { MigrationStep } from '../migration/migration-step.ts'
import { clockSums } from '../move/clock-sums.ts'
import { notEmpty } from '../move/filled.ts'
import { movedTables } from '../move/moved-tables.ts'
import type { MoveSource, MoveTarget } from '../move/parts.ts'
import { tablesFor } from '../sql/tables.ts'
import { StorageFault } from '../storage.ts'
import type { Row, Statement, Transaction } from '../transaction.ts'
import { keepPieces, readPiece } from '../transactions/exports.ts'
import { connected } from './apart.ts'
import type { Client } from './client.ts'
import type { ConnectionOptions } from './connections.ts'
import { checkDurability } from './durability.ts'
import { postgres } from './engine.ts'
import { asStorageFault } from './errors.ts'
import { underLock, usualWaits } from './migration/migration-lock.ts'
import { keepShape, keepVersion } from './migration/remembered.ts'
import { checkRights, checkServer } from './migration/requirements.ts'
import { isInUse, readSchema } from './migration/schema.ts'
import { inTransaction, query, stateOf, withSettings } from './migration/session.ts'
import { takeStep } from './migration/take-step.ts'
import { rowsOf, writeRows } from './move-rows.ts'

const quote = postgres.identifier

const begin = 'begin isolation level read committed'

/** A connection on which also the time between two statements may take as long as it takes. */
async function unhurried(options: ConnectionOptions): Promise<Client> {
  const client = await connected(options)
  await query(client, 'set idle_in_transaction_session_timeout = 0')
  return client
}

const all = (client: ClientBase) => (statement: Statement) => query(client, statement.text, statement.values)

/** Opens a database to be read as a whole. */
export async function postgresSource(options: ConnectionOptions): Promise<MoveSource> {
  const [snapshot, present] = await Promise.all([unhurried(options), unhurried(options)])
  return {
    async begin() {
      await query(snapshot, 'begin isolation level repeatable read read only')
      // It begins with what is read first.
      await query(snapshot, 'select count(*) from resourced_meta')
    },
    all: failing(all(snapshot)),
    async *rows(table) {
      try {
        yield* rowsOf(snapshot, table)
      } catch (error) {
        throw asStorageFault(error)
      }
    },
    async *file(job) {
      for (let start = 0; ; ) {
        const piece = await run(snapshot, readPiece(job, start))
        if (piece === undefined) return
        yield piece
        start += piece.length
      }
    },
    now: failing(all(present)),
    async close() {
      await Promise.all([snapshot.end(), present.end()])
    },
  }
}

function failing<A, T>(work: (asked: A) => Promise<T>): (asked: A) => Promise<T> {
  return async (asked) => {
    try {
      return await work(asked)
    } catch (error) {
      throw asStorageFault(error)
    }
  }
}

/**
 * Fills a schema that holds nothing of ours: with all that `fill` writes, or, where it throws, with nothing.
 *
 * @throws StorageFault where it holds something, or may not be written
 * @throws MigrationRefused where it has a table of somebody else's under a name of ours
 */
export async function fillPostgres<T>(
  options: ConnectionOptions & { readonly unsafe?: boolean | undefined },
  catalog: Catalog,
  fill: (target: MoveTarget) => Promise<T>,
): Promise<T> {
  const client = await unhurried(options)
  try {
    if (options.unsafe !== true) await checkDurability(client)
    await checkServer(client)
    await checkRights(client)
    // A server that starts meanwhile waits, or gives up.
    const filled = () => inTransaction(client, begin, async () => fill(await makeTarget(client, catalog)))
    // Killed, it is noticed within a second.
    const settings = { client_connection_check_interval: '1000' }
    return await withSettings(client, settings, () => underLock(client, usualWaits, filled))
  } catch (error) {
    throw stateOf(error) === undefined ? error : new StorageFault('failed', 'The database cannot be filled:', error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function makeTarget(client: ClientBase, catalog: Catalog): Promise<MoveTarget> {
  if (await isInUse(client)) throw notEmpty(await all(client)(clockSums))
  const desired = tablesFor(catalog, postgres.layout)
  const { foreign } = await readSchema(client)
  const steps = planMigration({ tables: [], foreign }, desired)
  const blocked = steps.filter(({ kind }) => kind === 'blocked')
  if (blocked.length > 0) throw new MigrationRefused(blocked)
  const now = Date.now()
  for (const step of steps) if (step.kind === 'create-table') await takeStep(client, step, now)
  return {
    clockSlots: postgres.layout.clockSlots,
    all: all(client),
    write: (table, rows) => writeRows(client, table, rows),
    async writeFile(job, content) {
      let start = 0
      for await (const piece of content) {
        await run(client, keepPieces(job, start, piece))
        start += piece.length
      }
    },
    async index() {
      for (const step of steps) await indexBy(client, step, now)
      for (const { name, columns } of movedTables(catalog)) {
        if (columns[0]?.constraint === 'row') await numberOn(client, name)
        // Else nothing is known of its values until PostgreSQL looks by itself.
        await query(client, `analyze ${quote(name)}`)
      }
      await keepShape(client, desired)
      await keepVersion(client, catalog.version)
    },
    rows: (table) => rowsOf(client, table),
  }
}

async function indexBy(client: ClientBase, step: MigrationStep, now: number): Promise<void> {
  if (step.kind === 'build-search') await query(client, postgres.createSearch(step.search))
  if (step.kind !== 'create-index') return
  try {
    await takeStep(client, step, now)
  } catch (error) {
    if (stateOf(error) !== '54000') throw error
    const columns = step.index.columns.join(', ')
    const sentence = `A value in ${step.table} is too long for PostgreSQL's index of (${columns}): shorten it, then move again.`
    throw new StorageFault('failed', sentence, error)
  }
}

/** New rows get numbers after those that are there. */
async function numberOn(client: ClientBase, table: string): Promise<void> {
  const [row] = await query(client, `select coalesce(max(_row), 0) + 1 as next from ${quote(table)}`)
  await query(client, `alter table ${quote(table)} alter column _row restart with ${Number(row?.['next'])}`)
}

async function run<T>(client: ClientBase, transaction: Transaction<T>): Promise<T> {
  let step = transaction.next([])
  while (step.done !== true) {
    const rows: Row[] = await all(client)(step.value)
    step = transaction.next(rows)
  }
  return step.value
}
