/** Brings a SQLite file to what a catalog needs, in one transaction: killed half way, the file is as it was. */
import type { DatabaseSync } from 'node:sqlite'
import type { Catalog } from '../../model/resource.ts'
import { planCatchUp } from '../migration/catch-up.ts'
import { lackedByFormer, standingOf } from '../migration/lineage.ts'
import type { Migrated, MigrateOptions } from '../migration/migrated.ts'
import { planMigration } from '../migration/migration.ts'
import { isAllowed, MigrationRefused } from '../migration/migration-refused.ts'
import type { MigrationStep } from '../migration/migration-step.ts'
import { weigh } from '../migration/weigh.ts'
import { formerKeys } from '../sql/system-tables.ts'
import { tablesFor } from '../sql/tables.ts'
import { sqlite } from './engine.ts'
import { addFunctions } from './functions.ts'
import { keepLineage, keepShape, keepVersion, readLineage, readSchema, storedVersion } from './schema.ts'
import { answer, takeStep } from './take-step.ts'

export type { Migrated } from '../migration/migrated.ts'
export { type Apply, MigrationRefused } from '../migration/migration-refused.ts'

/** Milliseconds that a migration waits for others who write; one of them may be migrating a large file. */
const patience = 60_000

/**
 * Adds what a database lacks for a catalog, and changes what differs. Records are read only where something differs.
 *
 * What a step would cost is counted after the steps before it have been taken, so the counts are exact; where the whole
 * is not allowed, it is rolled back.
 *
 * @throws MigrationRefused where `apply` does not allow it, or it is impossible; nothing is changed then
 * @throws Error of SQLite, such as a database that stays busy for a minute
 */
export function migrate(database: DatabaseSync, catalog: Catalog, options: MigrateOptions): Migrated {
  const { apply, now, others = 'dropped', isAsked = apply === 'all' } = options
  const desired = tablesFor(catalog, sqlite.layout)
  const concerned = new Set([...desired.map((table) => table.name), formerKeys])
  const plan = () => {
    const { tables, foreign } = readSchema(database)
    const current = others === 'dropped' ? tables : tables.filter((table) => concerned.has(table.name))
    return planMigration({ tables: current, foreign }, desired)
  }
  const planCaughtUp = () => {
    const version = others === 'kept' ? undefined : storedVersion(database, catalog)
    return version === undefined ? [] : planCatchUp(readSchema(database), desired, catalog, version)
  }
  /** Whether a newer declaration is to be left alone, with which this one can be served. */
  const isLeft = () => {
    if (others === 'kept' || isAsked || standingOf(readLineage(database), catalog) !== 'former') return false
    const lacked = lackedByFormer([...planCaughtUp(), ...plan()], readSchema(database).tables)
    if (lacked.length > 0) throw new MigrationRefused(lacked, true)
    return true
  }
  return waiting(database, () => {
    // Most starts end here, without ever asking for the right to write.
    const isDone = transaction(database, 'begin', () => {
      if (others === 'kept') return plan().length === 0
      if (isLeft()) return true
      const isKnown = apply === 'never' || standingOf(readLineage(database), catalog) === 'current'
      return isKnown && storedVersion(database, catalog) === catalog.version && plan().length === 0
    })
    if (isDone) return { steps: [], applied: false }
    addFunctions(database)
    return transaction(database, 'begin immediate', () => {
      // Another process may have done it meanwhile, or more.
      if (isLeft()) return { steps: [], applied: false }
      const take = (step: MigrationStep) => weighAndTake(database, step, now)
      const version = others === 'kept' ? undefined : storedVersion(database, catalog)
      const steps = [...planCaughtUp().map(take), ...plan().map(take)]
      if (!isAllowed(steps, apply)) throw new MigrationRefused(steps)
      if (steps.length > 0) keepShape(database, desired, others === 'dropped' ? undefined : concerned)
      if (others === 'dropped' && version !== catalog.version) keepVersion(database, catalog.version)
      if (others === 'dropped') keepLineage(database, catalog)
      return { steps, applied: steps.length > 0 }
    })
  })
}

function weighAndTake(database: DatabaseSync, step: MigrationStep, now: number): MigrationStep {
  const weighed = step.question === undefined ? step : weigh(step, answer(database, step.question))
  if (!weighed.impossible) takeStep(database, weighed, now)
  return weighed
}

function transaction<T>(database: DatabaseSync, begin: string, work: () => T): T {
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
