/** How many records a deletion will delete, and the records that a deletion by filter has still to delete. */

import type { Catalog, Resource } from 'resourced-contract/model/resource'
import sql, { empty, type Sql } from 'sql-template-tag'
import { columnSql, subject, subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql } from '../../sql/predicate.ts'
import { firstRow, type Row, type Transaction } from '../../transaction.ts'
import { stateOf } from '../rows/job-rows.ts'
import {
  cascadeReach,
  cascadesOf,
  listKey,
  resourceOf,
  type Selection,
  selectionRange,
} from '../rows/pending-deletions.ts'
import { liveRows, sizeOf } from './cascade.ts'
import type { DeletionState } from './deletion-state.ts'

/** The most ids that are held in memory while records are counted: beyond that the total stays unknown. */
const mostHeld = 500_000

/** The most records whose children one statement counts. */
const mostCountedParents = 500

/**
 * Counts the records that a deletion which has just begun will delete; `undefined`: the number is known, or too large
 * for memory.
 */
export function* countDeletion(context: SqlContext, job: string): Transaction<number | undefined> {
  const state = yield* stateOf<DeletionState>(job)
  if (state === undefined || state.total !== null) return undefined
  const { catalog, dialect } = context
  const resource = catalog.resources.get(state.collection)
  if (state.phase === 'check' || resource === undefined) return undefined
  if (state.asked === null)
    return state.taken + (yield* countSelected(context, { resource, job, selection: state.selection }))
  const held = new Map<string, Set<string>>()
  const queued = yield sql`select record as id from resourced_queue where job = ${job} limit ${mostHeld}`
  const roots = [
    ...queued,
    ...(yield* selectedRows(context, { resource, job, selection: state.selection }, mostHeld)),
  ].slice(0, mostHeld)
  const frontier: [string, string[]][] = [[state.collection, roots.map((row) => String(row['id']))]]
  let count = roots.length
  let room = mostHeld - count
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, ids] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      const fresh: string[] = []
      for (let at = 0; at < ids.length; at += mostCountedParents) {
        const refers = dialect.isAnyOf(columnSql(subject, field), ids.slice(at, at + mostCountedParents))
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
        room = mostHeld - roots.length - sizeOf(held)
        if (room < 0) return undefined
      }
      count += fresh.length
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return count
}

/** The records that a deletion by filter has still to delete; none, if `selection` is left out. */
interface Selected {
  readonly resource: Resource
  readonly job: string
  readonly selection: Selection | undefined
}

/** Their ids. */
export function* selectedRows(
  context: SqlContext,
  { resource, job, selection }: Selected,
  most?: number,
): Transaction<Row[]> {
  if (selection === undefined) return []
  const limit = most === undefined ? empty : sql` limit ${most}`
  const listed = yield sql`select record as id from resourced_queue where job = ${listKey(job, 'selected')}`
  return [...listed, ...(yield sql`select id ${matchingSql(context, resource, selection)}${limit}`)]
}

/** How many there are. */
export function* countSelected(context: SqlContext, { resource, job, selection }: Selected): Transaction<number> {
  if (selection === undefined) return 0
  const listed = sql`select count(*) from resourced_queue where job = ${listKey(job, 'selected')}`
  const matching = sql`select count(*) ${matchingSql(context, resource, selection)}`
  const row = yield* firstRow(sql`select (${listed}) + (${matching}) as count`)
  return Number(row?.['count'])
}

/** The live records that the filter of a selection decides about and that match it. */
function matchingSql(context: SqlContext, resource: Resource, selection: Selection): Sql {
  const matches = liveSql(context, resource, selection.filter)
  return sql`from ${subjectSql(resource.name)} where ${matches} and ${selectionRange(context, selection)}`
}

/** Whether records of a collection have no children and a single kind of parent: then none of them is met twice. */
function isLeaf(catalog: Catalog, root: string, collection: string): boolean {
  if (cascadesOf(catalog, collection).length > 0) return false
  const reached = cascadeReach(catalog, resourceOf(catalog, root))
  const references = reached.flatMap(({ name }) => cascadesOf(catalog, name))
  return references.filter((each) => each.collection === collection).length === 1
}
