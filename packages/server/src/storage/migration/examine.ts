/**
 * Examines a database without changing it or waiting for its servers: the steps of a pending migration, maintenance,
 * jobs, and the times that a clock can be compared with. Everything is read in one transaction that only reads.
 */

import type { Catalog } from 'resourced-contract/model/resource'
import sql from 'sql-template-tag'
import { readTenantMaintenance } from '../maintenance-switch.ts'
import { quoted } from '../sql/columns.ts'
import { isExact, isTotalExact } from '../sql/count-summaries.ts'
import { summaryName } from '../sql/kept-summaries.ts'
import type { TableSpec } from '../sql/tables.ts'
import type { Maintenance, TenantEntry } from '../storage.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { migrationTo, type Pending, pendingSteps } from './apply.ts'
import type { MigrationDialect } from './migration-dialect.ts'

/** What was found in a database. */
export interface Examination {
  /** Whether a server has ever used it. */
  readonly isUsed: boolean
  /** The migration to the declaration; `undefined`: no declaration was given. */
  readonly pending: Pending | undefined
  readonly maintenance: Maintenance | undefined
  /** The time of the last purge or confirmation, in milliseconds since 1970; `undefined`: none. */
  readonly purged: number | undefined
  /** The time of the newest change of a record, in milliseconds since 1970; `undefined`: there are no records. */
  readonly newest: number | undefined
  /** The kept summaries of the declaration, by name, and whether each is what counting the records finds. */
  readonly summaries: ReadonlyMap<string, boolean>
  /** How many jobs have each status. */
  readonly jobs: ReadonlyMap<string, number>
  /** The tenants, if it is the database of operators. */
  readonly tenants: readonly ExaminedTenant[] | undefined
  /** The server that it is on; left out: it is a file. */
  readonly server?: ServerExamination
}

/** What a database says of a tenant. */
export interface ExaminedTenant extends Omit<TenantEntry, 'wakesAt'> {
  /** When it was changed last, in milliseconds since 1970. */
  readonly changed: number
  /** Its maintenance; `undefined`: it is off. */
  readonly maintenance: Maintenance | undefined
}

/** What concerns the server of a database. */
export interface ServerExamination {
  /** Its product: `PostgreSQL`. */
  readonly name: string
  readonly version: string
  /** Why servers cannot start on it; `undefined`: they can. */
  readonly refused: string | undefined
  /** The settings that lose data in a power cut. */
  readonly undurable: string | undefined
  /** Its clock, in milliseconds since 1970. */
  readonly now: number
  readonly connections: { readonly most: number; readonly used: number }
}

/** Examines a database. */
export function* examine(dialect: MigrationDialect, catalog: Catalog | undefined): Transaction<Examination> {
  const relations = yield dialect.relations
  const tables = new Set(relations.flatMap(({ name, kind }) => (kind === 'table' ? [String(name)] : [])))
  const isUsed = tables.has('resourced_meta')
  const migration = catalog && migrationTo(catalog, dialect, { apply: 'never', now: Date.now(), undoesNewer: false })
  const pending = migration === undefined ? undefined : yield* pendingSteps(migration)
  if (!isUsed) {
    const nothing = { maintenance: undefined, purged: undefined, newest: undefined }
    return { isUsed, pending, ...nothing, summaries: new Map(), jobs: new Map(), tenants: undefined }
  }
  const collections = [...(catalog?.resources.keys() ?? []), 'jobs', 'api-keys'].filter((name) => tables.has(name))
  const maintenance = yield* metaOf('maintenance')
  const purged = yield* metaOf('purge_clock')
  return {
    ...{ isUsed, pending },
    maintenance: maintenance === undefined ? undefined : (JSON.parse(maintenance) as Maintenance),
    purged: purged === undefined ? undefined : Number(purged),
    newest: yield* newestChange(collections),
    summaries: pending?.steps.length === 0 ? yield* checkSummaries(dialect, migration!.desired) : new Map(),
    jobs: yield* jobsOf(tables),
    tenants: yield* tenantsOf(tables),
  }
}

function* checkSummaries(dialect: MigrationDialect, tables: readonly TableSpec[]): Transaction<Map<string, boolean>> {
  const found = new Map<string, boolean>()
  for (const { name, summaries, totals } of tables) {
    for (const spec of totals) {
      found.set(`${spec.parent}.${spec.column}`, yield* isTotalExact(dialect, name, spec))
    }
    for (const spec of summaries) found.set(summaryName(name, spec), yield* isExact(dialect, name, spec))
  }
  return found
}

function* metaOf(key: string): Transaction<string | undefined> {
  const row = yield* firstRow(sql`select value from resourced_meta where key = ${key}`)
  return row === undefined ? undefined : String(row['value'])
}

function* newestChange(tables: readonly string[]): Transaction<number | undefined> {
  const times: number[] = []
  for (const table of tables) {
    const row = yield* firstRow(sql`select max(updated_at) as newest from ${quoted(table)}`)
    const time = Date.parse(String(row?.['newest']))
    if (!Number.isNaN(time)) times.push(time)
  }
  return times.length === 0 ? undefined : Math.max(...times)
}

function* jobsOf(tables: ReadonlySet<string>): Transaction<ReadonlyMap<string, number>> {
  if (!tables.has('jobs')) return new Map()
  const rows = yield sql`select status, count(*) as count from jobs where deleted_at is null group by status`
  return new Map(rows.map((row) => [String(row['status']), Number(row['count'])]))
}

function* tenantsOf(tables: ReadonlySet<string>): Transaction<readonly ExaminedTenant[] | undefined> {
  // A declared collection may have the name of theirs.
  if (!tables.has('tenants') || !tables.has('resourced_tenant_keys')) return undefined
  const maintenance = yield* readTenantMaintenance()
  const rows = yield sql`select id, "name", "state", "schema_hash", updated_at from "tenants" order by "name", id`
  return rows.map((row) => ({
    ...{ id: String(row['id']), name: String(row['name']), state: row['state'] as TenantEntry['state'] },
    ...{ schemaHash: row['schema_hash'] as string | null, changed: Date.parse(String(row['updated_at'])) },
    maintenance: maintenance.get(String(row['id'])),
  }))
}
