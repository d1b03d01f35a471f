/** The switches of maintenance in `resourced_meta` (ERR-6): of a whole database, and of each tenant of operators. */
import sql from 'sql-template-tag'
import type { Maintenance, MaintenanceBegun } from './storage.ts'
import { firstRow, type Row, type Transaction } from './transaction.ts'

/** The keys of switches: of the whole database, and of a tenant. */
const whole = 'maintenance'
const prefix = 'maintenance:'
const keyOf = (tenant: string | undefined) => (tenant === undefined ? whole : prefix + tenant)

/** The rows of the switches of tenants. */
export const areTenantSwitches = sql`key like 'maintenance:%'`

/** The maintenance that is on; `undefined`: none. */
export function* readMaintenance(tenant?: string): Transaction<Maintenance | undefined> {
  return maintenanceOf(yield* firstRow(sql`select value from resourced_meta where key = ${keyOf(tenant)}`))
}

/** The maintenance of tenants, by their ids. */
export function* readTenantMaintenance(): Transaction<ReadonlyMap<string, Maintenance>> {
  const rows = yield sql`select key, value from resourced_meta where ${areTenantSwitches}`
  return new Map(rows.map((row) => [String(row['key']).slice(prefix.length), maintenanceOf(row) as Maintenance]))
}

function maintenanceOf(row: Row | undefined): Maintenance | undefined {
  return row === undefined ? undefined : (JSON.parse(String(row['value'])) as Maintenance)
}

/** Turns maintenance on, or changes its message. Of several callers at the same time, one finds that it was off. */
export function* beginMaintenance(asked: Maintenance, tenant?: string): Transaction<MaintenanceBegun> {
  const insert = (value: Maintenance) =>
    sql`insert into resourced_meta (key, value) values (${keyOf(tenant)}, ${JSON.stringify(value)}) on conflict (key)`
  // To read first would let two callers find it off.
  const begun = yield sql`${insert(asked)} do nothing returning key`
  if (begun.length > 0) return { now: asked, before: undefined }
  const before = yield* readMaintenance(tenant)
  const now = { ...asked, since: before?.since ?? asked.since }
  yield sql`${insert(now)} do update set value = excluded.value`
  return { now, before }
}

/** Turns maintenance off and returns what it was; of several callers at the same time, one gets it. */
export function* endMaintenance(tenant?: string): Transaction<Maintenance | undefined> {
  return maintenanceOf(yield* firstRow(sql`delete from resourced_meta where key = ${keyOf(tenant)} returning value`))
}
