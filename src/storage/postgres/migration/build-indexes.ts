/**
 * Indexes of tables that hold records already: made while others read and write. Killed half way, one is left that is of no
 * use; the next start finds it, drops it and makes it anew.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { MigrationRefused } from '../../migration/migration-refused.ts'
import type { MigrationStep } from '../../migration/migration-step.ts'
import { weigh } from '../../migration/weigh.ts'
import { StorageFault } from '../../storage.ts'
import { createIndexConcurrently, createSearchConcurrently, postgres } from '../engine.ts'
import { query, stateOf, withSettings } from './session.ts'
import { answer } from './take-step.ts'

/** A step that makes an index. */
export type IndexStep = Extract<MigrationStep, { kind: 'create-index' | 'build-search' }>

/**
 * Makes indexes, one after the other.
 *
 * @throws MigrationRefused where records that came meanwhile have values that another has; all other indexes are made then
 * @throws StorageFault where PostgreSQL cannot index a value
 */
export async function buildIndexes(client: ClientBase, steps: readonly IndexStep[]): Promise<void> {
  const refused: MigrationStep[] = []
  // It waits for every transaction that has begun before, and nobody waits for it.
  await withSettings(client, { lock_timeout: '0' }, async () => {
    for (const step of steps) {
      const clash = await buildIndex(client, step)
      if (clash !== undefined) refused.push(clash)
    }
    // Else nothing is known of new columns until PostgreSQL looks by itself.
    for (const table of new Set(steps.map((step) => step.table)))
      await query(client, `analyze ${postgres.identifier(table)}`)
  })
  if (refused.length > 0) throw new MigrationRefused(refused)
}

/** Makes an index; what stands in its way where records do. */
async function buildIndex(client: ClientBase, step: IndexStep): Promise<MigrationStep | undefined> {
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
      // Where the session is lost too, the next start does it.
      if (state !== undefined) await drop()
      if (state === '23505' && step.question !== undefined) {
        const weighed = weigh(step, await answer(client, step.question))
        if (weighed.impossible) return weighed
      } else if (state === '54000' && step.kind === 'create-index') {
        const columns = step.index.columns.join(', ')
        const sentence = `A value in ${step.table} is too long for PostgreSQL's index of (${columns}): shorten it, then start again.`
        throw new StorageFault('failed', sentence, error)
      } else if (state !== '40P01' && state !== '40001') {
        throw error
      }
    }
    await sleep(100 + 400 * Math.random())
  }
}
