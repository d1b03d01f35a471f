/**
 * The state in `resourced_meta` that all servers on a database share and read at start: the maintenance switch (ERR-6)
 * and the secret of cursors.
 */
import { randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { beginMaintenance, endMaintenance, readMaintenance } from '../maintenance-switch.ts'
import { type Epochs, readEpochs } from '../sql/context.ts'
import type { MaintenanceStore, Storage } from '../storage.ts'
import { firstRow, type Runner, type Transaction } from '../transaction.ts'

/** The maintenance switch of an open database. */
export function maintenanceStore({ read, write }: Runner): MaintenanceStore {
  return {
    read: () => read(() => readMaintenance()),
    begin: (maintenance) => write(() => beginMaintenance(maintenance)),
    end: () => write(() => endMaintenance()),
  }
}

interface Opening extends Pick<Storage, 'cursorSecret' | 'maintenanceFound'> {
  readonly epochs: Epochs
}

/** Reads what every server on the database shares; the first one creates the secret. */
export function* readOpening(): Transaction<Opening> {
  const fresh = randomBytes(32).toString('base64url')
  yield sql`insert into resourced_meta (key, value) values ('cursor_secret', ${fresh}) on conflict (key) do nothing`
  return (yield* readShared()) as Opening
}

/** Reads what every server on the database shares; `undefined`: no server has been started on it yet. */
export function* readShared(): Transaction<Opening | undefined> {
  const row = yield* firstRow(sql`select value from resourced_meta where key = 'cursor_secret'`)
  if (row === undefined) return undefined
  const cursorSecret = Buffer.from(String(row['value']), 'base64url')
  return { cursorSecret, epochs: yield* readEpochs(), maintenanceFound: yield* readMaintenance() }
}
