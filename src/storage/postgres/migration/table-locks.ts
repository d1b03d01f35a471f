/** Which tables a migration keeps others from, and how much. */
import type { ClientBase } from 'pg'
import type { MigrationStep } from '../../migration/migration-step.ts'
import { postgres } from '../engine.ts'
import { query } from './session.ts'

/**
 * Locks the tables of steps before the first is taken: all at once and in one order, because a lock that grows on the way
 * meets those of others in a deadlock.
 *
 * @param present the tables that are there
 * @param wait the most milliseconds for all of them together, while those got already are kept from everybody else
 */
export async function lockTables(
  client: ClientBase,
  steps: readonly MigrationStep[],
  present: ReadonlySet<string>,
  wait: number,
): Promise<void> {
  const locks = steps.filter((step) => present.has(step.table)).map((step) => [step.table, lockOf(step)] as const)
  const exclusive = new Set(locks.filter(([, lock]) => lock === 'exclusive').map(([table]) => table))
  const written = new Set(
    locks.filter(([table, lock]) => lock === 'write' && !exclusive.has(table)).map(([table]) => table),
  )
  const count = exclusive.size + written.size
  if (count === 0) return
  // PostgreSQL counts for each lock anew.
  await query(client, `set local lock_timeout = ${Math.ceil(wait / count)}`)
  await lock(client, exclusive, 'access exclusive')
  await lock(client, written, 'share row exclusive')
  await query(client, `set local lock_timeout = ${wait}`)
}

async function lock(client: ClientBase, tables: ReadonlySet<string>, mode: string): Promise<void> {
  if (tables.size === 0) return
  const names = [...tables].sort().map(postgres.identifier)
  await query(client, `lock table ${names.join(', ')} in ${mode} mode`)
}

/** Whom a step keeps away: everybody, or those who write, so that what is counted stays true. */
function lockOf(step: MigrationStep): 'exclusive' | 'write' | 'none' {
  switch (step.kind) {
    case 'drop-table':
    case 'add-column':
    case 'drop-column':
    case 'change-type':
    case 'drop-index':
    case 'build-search':
    case 'drop-search':
    case 'rename-table':
    case 'rename-columns':
    case 'convert-column':
      return 'exclusive'
    case 'fill-default':
    case 'derive-column':
    case 'require':
    case 'set-clock':
    case 'move-keys':
      return 'write'
    case 'create-table':
    case 'create-index':
    case 'allow-null':
    case 'blocked':
      return 'none'
  }
}
