/** The switch of maintenance in SQL: a row of `resourced_meta`, which every database has, of whatever version. */
import sql from 'sql-template-tag'
import type { Maintenance, MaintenanceStore } from '../storage.ts'
import { firstRow, type Runner, type Transaction } from '../transaction.ts'

const isSwitch = sql`key = 'maintenance'`

/** The maintenance that is on; `undefined`: none. */
export function* readMaintenance(): Transaction<Maintenance | undefined> {
  const row = yield* firstRow(sql`select value from resourced_meta where ${isSwitch}`)
  return row === undefined ? undefined : (JSON.parse(String(row['value'])) as Maintenance)
}

/** Turns it on, or changes what clients are told. Of several who do so at once, one finds that it was off. */
export function* beginMaintenance(
  asked: Maintenance,
): Transaction<{ readonly now: Maintenance; readonly before: Maintenance | undefined }> {
  const insert = (value: Maintenance) =>
    sql`insert into resourced_meta (key, value) values ('maintenance', ${JSON.stringify(value)}) on conflict (key)`
  // What is read beforehand another may do, too.
  const begun = yield sql`${insert(asked)} do nothing returning key`
  if (begun.length > 0) return { now: asked, before: undefined }
  const before = yield* readMaintenance()
  const now = { ...asked, since: before?.since ?? asked.since }
  yield sql`${insert(now)} do update set value = excluded.value`
  return { now, before }
}

/** Turns it off. Gives what it was before; of several who do so at once, to one. */
export function* endMaintenance(): Transaction<Maintenance | undefined> {
  const row = yield* firstRow(sql`delete from resourced_meta where ${isSwitch} returning value`)
  return row === undefined ? undefined : (JSON.parse(String(row['value'])) as Maintenance)
}

/** The switch of a database that is open. */
export function maintenanceStore({ read, write }: Runner): MaintenanceStore {
  return {
    read: () => read(readMaintenance),
    begin: (maintenance) => write(() => beginMaintenance(maintenance)),
    end: () => write(endMaintenance),
  }
}
