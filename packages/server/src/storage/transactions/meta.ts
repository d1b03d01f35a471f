/**
 * The state in `resourced_meta` that all servers on a database share and read at start: the maintenance switch (ERR-6)
 * and the secret of cursors.
 */
import { randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { type Epochs, readEpochs } from '../sql/context.ts'
import type { Maintenance, MaintenanceStore, Storage } from '../storage.ts'
import { firstRow, type Row, type Runner, type Transaction } from '../transaction.ts'

const isSwitch = sql`key = 'maintenance'`

/** The maintenance switch of an open database. */
export function maintenanceStore({ read, write }: Runner): MaintenanceStore {
  return {
    read: () => read(readMaintenance),
    begin: (maintenance) => write(() => beginMaintenance(maintenance)),
    end: () => write(endMaintenance),
  }
}

/** The maintenance that is on; `undefined`: none. */
function* readMaintenance(): Transaction<Maintenance | undefined> {
  return maintenanceOf(yield* firstRow(sql`select value from resourced_meta where ${isSwitch}`))
}

function maintenanceOf(row: Row | undefined): Maintenance | undefined {
  return row === undefined ? undefined : (JSON.parse(String(row['value'])) as Maintenance)
}

/** Turns maintenance on, or changes its message. Of several callers at the same time, one finds that it was off. */
function* beginMaintenance(
  asked: Maintenance,
): Transaction<{ readonly now: Maintenance; readonly before: Maintenance | undefined }> {
  const insert = (value: Maintenance) =>
    sql`insert into resourced_meta (key, value) values ('maintenance', ${JSON.stringify(value)}) on conflict (key)`
  // To read first would let two callers find it off.
  const begun = yield sql`${insert(asked)} do nothing returning key`
  if (begun.length > 0) return { now: asked, before: undefined }
  const before = yield* readMaintenance()
  const now = { ...asked, since: before?.since ?? asked.since }
  yield sql`${insert(now)} do update set value = excluded.value`
  return { now, before }
}

/** Turns maintenance off and returns what it was; of several callers at the same time, one gets it. */
function* endMaintenance(): Transaction<Maintenance | undefined> {
  return maintenanceOf(yield* firstRow(sql`delete from resourced_meta where ${isSwitch} returning value`))
}

interface Opening extends Pick<Storage, 'cursorSecret' | 'maintenanceFound'> {
  readonly epochs: Epochs
}

/** Reads what every server on the database shares; the first one creates the secret. */
export function* readOpening(): Transaction<Opening> {
  const fresh = randomBytes(32).toString('base64url')
  yield sql`insert into resourced_meta (key, value) values ('cursor_secret', ${fresh}) on conflict (key) do nothing`
  return yield* readShared()
}

/** Reads what every server on the database shares, once one of them has created it. */
export function* readShared(): Transaction<Opening> {
  const row = yield* firstRow(sql`select value from resourced_meta where key = 'cursor_secret'`)
  const cursorSecret = Buffer.from(String(row?.['value']), 'base64url')
  return { cursorSecret, epochs: yield* readEpochs(), maintenanceFound: yield* readMaintenance() }
}
