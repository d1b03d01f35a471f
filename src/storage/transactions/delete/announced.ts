/**
 * Live records that a deletion job will take, and that others may refer to by `restrict`: they carry the job's id before they are deleted.
 * A statement that would refer to one of them, and waits for the transaction that has looked for such references, does not see the job when it
 * goes on: it is older. Of the record that it waited for it sees what it has become (`unannounced`).
 */
import sql, { raw } from 'sql-template-tag'
import { type SqlContext, tableSql } from '../../sql/predicate.ts'
import type { Transaction } from '../../transaction.ts'
import { resourceOf } from '../rows/dependents.ts'
import type { Closure } from './closure.ts'

/** Announces what a job will take, in the transaction that has found that nothing is in the way. */
export function* announce({ catalog, engine }: SqlContext, job: string, closure: Closure): Transaction<void> {
  // One writer waits for nobody, and always sees the jobs that run.
  if (!engine.lock.isNeeded) return
  for (const [collection, ids] of closure) {
    if (!resourceOf(catalog, collection).dependents.some(({ onDelete }) => onDelete === 'restrict')) continue
    yield sql`update ${tableSql(collection)} set _deletion = ${job} where ${engine.isAmong(raw('id'), [...ids])} and deleted_at is null`
  }
}

/** Takes back what a job has announced of a collection, and not done. */
export function* takeBack({ engine }: SqlContext, job: string, collection: string): Transaction<void> {
  if (!engine.lock.isNeeded) return
  yield sql`update ${tableSql(collection)} set _deletion = null where _deletion = ${job} and deleted_at is null`
}
