/** A SQLite file opened for its switch of maintenance and its clock of purges. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { MaintenanceStore, PurgeClockStore } from '../storage.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { maintenanceStore } from '../transactions/maintenance.ts'
import { Connection } from './connection.ts'
import { runnerOf } from './reader.ts'
import { Writer } from './writer.ts'

/**
 * Opens a SQLite file for its switch and its clock alone. Nothing else in it changes, whichever version has made it: servers may be
 * running on it.
 *
 * @returns `undefined` where there is no such file, or no server has ever used it
 */
export function openSqliteMaintenance(
  path: string,
):
  | { readonly maintenance: MaintenanceStore; readonly purgeClock: PurgeClockStore; close(): Promise<void> }
  | undefined {
  if (!hasSqliteTables(path)) return undefined
  const connection = new Connection(path)
  const writer = new Writer(connection)
  const runner = runnerOf(connection, writer)
  return {
    maintenance: maintenanceStore(runner),
    purgeClock: purgeClockStore(runner),
    async close() {
      await writer.drain()
      connection.close()
    },
  }
}

/** Whether a file exists and has the tables of Resourced. To open it for writing would already change somebody else's. */
export function hasSqliteTables(path: string): boolean {
  if (!existsSync(path)) return false
  const database = new DatabaseSync(path, { readOnly: true, timeout: 60_000 })
  try {
    return database.prepare("select 1 from sqlite_schema where name = 'resourced_meta'").get() !== undefined
  } finally {
    database.close()
  }
}
