/** How many records a deletion takes, counted without holding more of them than it must. */
import sql from 'sql-template-tag'
import type { Catalog } from '../../../model/resource.ts'
import { columnSql, type SqlContext } from '../../sql/predicate.ts'
import { subject } from '../../sql/represent.ts'
import { single, type Transaction } from '../../transaction.ts'
import { cascadesOf, reachOf, resourceOf } from '../rows/dependents.ts'
import { stateOf } from '../rows/job-rows.ts'
import { liveRows } from './closure.ts'
import type { DeletionState } from './deletion-state.ts'

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
        const refers = engine.isAmong(columnSql(subject, field), ids.slice(at, at + mostParents))
        if (isLeaf(catalog, state.collection, from)) {
          const row = yield* single(sql`select count(*) as count from ${liveRows(from)} and ${refers}`)
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
