/**
 * Live records that a deletion job will take, and that others may refer to by `restrict`: they carry the job's id before they are deleted.
 * A statement that would refer to one of them, and waits for the transaction that has looked for such references, does not see the job when it
 * goes on: it is older. Of the record that it waited for it sees what it has become (`unannounced`).
 */
import sql, { raw } from 'sql-template-tag'
import type { Catalog } from '../../../model/resource.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { firstRow, type Transaction } from '../../transaction.ts'
import { cascadesOf, reachOf, resourceOf } from '../rows/dependents.ts'
import { stateOf } from '../rows/job-rows.ts'
import { type Closure, liveRows } from './cascade.ts'

/** Announces what a job will take, in the transaction that has found that nothing is in the way. */
export function* announce({ catalog, engine }: SqlContext, job: string, closure: Closure): Transaction<void> {
  // One writer waits for nobody, and always sees the jobs that run.
  if (!engine.lock.hasOtherWriters) return
  for (const [collection, ids] of closure) {
    if (!resourceOf(catalog, collection).dependents.some(({ onDelete }) => onDelete === 'restrict')) continue
    yield sql`update ${tableSql(collection)} set _deletion = ${job} where ${engine.isAnyOf(raw('id'), [...ids])} and deleted_at is null`
  }
}

/** Takes back what a job has announced of a collection, and not done. */
export function* takeBack({ engine }: SqlContext, job: string, collection: string): Transaction<void> {
  if (!engine.lock.hasOtherWriters) return
  yield sql`update ${tableSql(collection)} set _deletion = null where _deletion = ${job} and deleted_at is null`
}

/** How far it is. */
export interface DeletionState {
  /** The collection of the records that were asked for. */
  readonly collection: string
  readonly deletedAt: string
  /** The record asked for, where it is one; else none. */
  readonly ids: readonly string[]
  readonly phase: 'take' | 'mark' | 'clear' | 'erase' | 'tidy'
  /** The row after which the phase goes on: of the queue, or of the table that it walks. */
  readonly at: number
  /** Which of the tables that a phase walks it is at. */
  readonly table?: number
  /** How many of the records asked for are deleted. */
  readonly taken: number
  /** How many of them were not, because something stood in the way by then. */
  readonly left?: number
  /** How many records are deleted, those that hang under others among them. */
  readonly done: number
  /** How many there will be; `null` while nobody knows. */
  readonly total: number | null
  /**
   * How many records were asked for, where whoever began the deletion may not read all that goes with them: they are shown
   * the records that they asked for alone (AUT-9).
   */
  readonly asked?: number
}

/** The most ids that are held in memory: beyond that the total stays unknown. */
const mostHeld = 500_000

/** The records whose dependents one statement looks for. */
const mostParents = 500

/**
 * Counts what a deletion that has just begun will take: what hangs under the records in its queue. `undefined` where that
 * is known already, or is too much to find out.
 */
export function* countDeletion(context: SqlContext, job: string): Transaction<number | undefined> {
  const state = (yield* stateOf(job)) as DeletionState | undefined
  if (state === undefined || state.total !== null) return undefined
  const { catalog, engine } = context
  const held = new Map<string, Set<string>>()
  const roots = yield sql`select collection, record from resourced_queue where job = ${job} limit ${mostHeld}`
  const frontier: [string, string[]][] = [[state.collection, roots.map((row) => String(row['record']))]]
  let count = roots.length
  let room = mostHeld - count
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, ids] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      const fresh: string[] = []
      for (let at = 0; at < ids.length; at += mostParents) {
        const refers = engine.isAnyOf(columnSql(subject, field), ids.slice(at, at + mostParents))
        if (isLeaf(catalog, state.collection, from)) {
          const row = yield* firstRow(sql`select count(*) as count from ${liveRows(from)} and ${refers}`)
          count += Number(row?.['count'])
          continue
        }
        const known = held.get(from) ?? new Set()
        held.set(from, known)
        const rows = yield sql`select id from ${liveRows(from)} and ${refers} limit ${room + 1}`
        for (const row of rows) {
          const id = String(row['id'])
          if (known.has(id)) continue
          known.add(id)
          fresh.push(id)
        }
        room = mostHeld - roots.length - sum(held)
        if (room < 0) return undefined
      }
      count += fresh.length
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return count
}

/** Whether nothing hangs on the records of a collection, and they on one other: then each is met once. */
function isLeaf(catalog: Catalog, root: string, collection: string): boolean {
  if (cascadesOf(catalog, collection).length > 0) return false
  const reached = reachOf(catalog, resourceOf(catalog, root))
  const ways = reached.flatMap(({ name }) => cascadesOf(catalog, name)).filter((each) => each.collection === collection)
  return ways.length === 1
}

function sum(held: ReadonlyMap<string, ReadonlySet<string>>): number {
  return held.values().reduce((total, ids) => total + ids.size, 0)
}
