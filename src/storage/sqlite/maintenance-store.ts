/** The switch of maintenance as the port has it, on SQLite. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { beginMaintenance, endMaintenance, readMaintenance } from '../sql/maintenance.ts'
import type { Transaction } from '../sql/transaction.ts'
import type { MaintenanceStore } from '../storage.ts'
import { Connection } from './connection.ts'
import { read } from './reader.ts'
import { Writer } from './writer.ts'

/** The switch of a database that is open. */
export function maintenanceStore(reading: Pick<Connection, 'run'>, writer: Writer): MaintenanceStore {
  const write = <T>(start: () => Transaction<T>) => writer.write(start, () => true)
  return {
    read: () => read(reading, readMaintenance()),
    begin: (maintenance) => write(() => beginMaintenance(maintenance)),
    end: () => write(endMaintenance),
  }
}

/**
 * Opens a SQLite file for its switch alone. Nothing else in it changes, whichever version has made it: servers may be
 * running on it.
 *
 * @returns `undefined` where there is no such file, or no server has ever used it
 */
export function openSqliteMaintenance(
  path: string,
): { readonly maintenance: MaintenanceStore; close(): Promise<void> } | undefined {
  if (!existsSync(path) || !isOurs(path)) return undefined
  const connection = new Connection(path)
  const writer = new Writer(connection)
  return {
    maintenance: maintenanceStore(connection, writer),
    async close() {
      await writer.drain()
      connection.close()
    },
  }
}

/** Whether a file has the table of the switch. To open it for writing would already change somebody else's. */
function isOurs(path: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 60_000 })
  try {
    return database.prepare("select 1 from sqlite_schema where name = 'resourced_meta'").get() !== undefined
  } finally {
    database.close()
  }
}
