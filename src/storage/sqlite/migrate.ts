/** Migrates a SQLite file in one transaction: a migration that is killed leaves the file as it was. */
import type { DatabaseSync } from 'node:sqlite'
import type { Catalog } from '../../model/resource.ts'
import { changeSchema, isMigrated, type Migrated, type MigrateOptions, migrationTo } from '../migration/apply.ts'
import { migrationEngineOf, runOn } from './migration-engine.ts'

/** Milliseconds that a migration waits for other connections that write; one of them may be migrating a large file. */
const patience = 60_000

/**
 * Adds what a database lacks for a catalog, and changes what differs. Records are read only where something differs.
 *
 * @throws MigrationRefused where `apply` does not allow it, or it is impossible; nothing is changed then
 * @throws Error of SQLite, such as a database that stays busy for a minute
 */
export function migrate(database: DatabaseSync, catalog: Catalog, options: MigrateOptions): Migrated {
  const migration = migrationTo(catalog, migrationEngineOf(database), options)
  return waiting(database, () => {
    const isDone = inTransaction(database, 'begin', () => runOn(database, isMigrated(migration)))
    if (isDone) return { steps: [], applied: false }
    const { steps } = inTransaction(database, 'begin immediate', () => runOn(database, changeSchema(migration)))
    return { steps, applied: steps.length > 0 }
  })
}

function inTransaction<T>(database: DatabaseSync, begin: string, work: () => T): T {
  database.exec(begin)
  try {
    const result = work()
    database.exec('commit')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}

/** Lets the connection wait for others, and afterwards as long as it did before. */
function waiting<T>(database: DatabaseSync, work: () => T): T {
  const before = Number(database.prepare('pragma busy_timeout').get()?.timeout)
  database.exec(`pragma busy_timeout = ${Math.max(before, patience)}`)
  try {
    return work()
  } finally {
    database.exec(`pragma busy_timeout = ${before}`)
  }
}
