/**
 * Builds indexes of existing tables, while other connections read and write. A killed build leaves an invalid index,
 * which the next start drops and builds again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { MigrationRefused } from '../migration/describe.ts'
import type { MigrationEngine } from '../migration/migration-engine.ts'
import { type IndexStep, type MigrationStep, needsCount } from '../migration/migration-step.ts'
import { assessStep } from '../migration/take-step.ts'
import { StorageFault } from '../storage.ts'
import { createIndexConcurrently, createSearchConcurrently, postgres } from './engine.ts'
import { query, run, stateOf, withSettings } from './session.ts'

/**
 * Builds indexes, one after the other.
 *
 * @throws MigrationRefused where records that were written meanwhile have duplicate values; all other indexes are built
 * @throws StorageFault where a value is too long for an index
 */
export async function buildIndexes(
  client: ClientBase,
  engine: MigrationEngine,
  steps: readonly IndexStep[],
): Promise<void> {
  const refused: MigrationStep[] = []
  // A concurrent build waits for every transaction that began before it, and blocks none that begins later.
  await withSettings(client, { lock_timeout: '0' }, async () => {
    for (const step of steps) {
      const clash = await buildIndex(client, engine, step)
      if (clash !== undefined) refused.push(clash)
    }
    // Without this, the planner has no statistics of new columns until autovacuum runs.
    for (const table of new Set(steps.map((step) => step.table)))
      await query(client, `analyze ${postgres.identifier(table)}`)
  })
  if (refused.length > 0) throw new MigrationRefused(refused)
}

/** Builds an index. Returns the assessed step where duplicate values prevent it. */
async function buildIndex(
  client: ClientBase,
  engine: MigrationEngine,
  step: IndexStep,
): Promise<MigrationStep | undefined> {
  const name = postgres.identifier(step.kind === 'create-index' ? step.index.name : step.search.name)
  const create =
    step.kind === 'create-index' ? createIndexConcurrently(step.index) : createSearchConcurrently(step.search)
  const drop = () => query(client, `drop index concurrently if exists ${name}`)
  await drop()
  while (true) {
    try {
      await query(client, create)
      return undefined
    } catch (error) {
      const state = stateOf(error)
      // After a lost connection, the next start drops it.
      if (state !== undefined) await drop()
      if (state === '23505' && needsCount(step)) {
        const assessed = await run(client, assessStep(engine, step))
        if (assessed.impossible) return assessed
      } else if (state !== '40P01' && state !== '40001') {
        throw tooLongForIndex(error, step, 'start again') ?? error
      }
    }
    await sleep(100 + 400 * Math.random())
  }
}

/** The fault of a value that PostgreSQL cannot index because of its length; `undefined` for any other error. */
export function tooLongForIndex(error: unknown, step: MigrationStep, remedy: string): StorageFault | undefined {
  if (stateOf(error) !== '54000' || step.kind !== 'create-index') return undefined
  const columns = step.index.columns.join(', ')
  const problem = `A value in ${step.table} is too long for PostgreSQL's index of (${columns})`
  return new StorageFault('failed', `${problem}: shorten it, then ${remedy}.`, error)
}
