/** Finds what is deleted together with records: their children by `cascade`, and the children of those (DEL-5). */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Catalog, Resource } from '../../../model/resource.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Transaction } from '../../transaction.ts'
import { cascadeReach, cascadesOf } from '../rows/dependents.ts'

/** The ids that are deleted together, by collection. */
export type Closure = ReadonlyMap<string, ReadonlySet<string>>

/**
 * A change of so many records that the thread which answers requests should not make it: the background runs it, whole.
 */
export interface TooLarge {
  readonly kind: 'too-large'
}

export const tooLarge: TooLarge = { kind: 'too-large' }

/** The most records that are inspected where requests are answered. */
export const mostInspected = 1_000

/** Whether large changes run in the background. Rules that are functions run only where requests are answered. */
export function runsInBackground({ catalog, offloadsLargeWork = false }: SqlContext, resource: Resource): boolean {
  return (
    offloadsLargeWork && !cascadeReach(catalog, resource).some(({ rules }) => rules.some((rule) => 'check' in rule))
  )
}

/**
 * Finds and locks all that is deleted with some records.
 *
 * @param among the only collections to search; left out: all
 */
export function* closureOf(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
  among?: ReadonlySet<string>,
): Transaction<Closure> {
  const find: FindChildren = (from, field, parents) =>
    among?.has(from) === false ? undefined : childrenSql(context, from, field, parents)
  return (yield* descend(context.catalog, [resource.name, ids], find)) as Closure
}

/** The same up to a number of records; `undefined` if there are more: then not all of them were searched for. */
export function closureWithin(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
  most: number,
): Transaction<Closure | undefined> {
  // One more than the most shows that there are more. A resource that never deletes by a job has no most.
  const limit = most === Number.POSITIVE_INFINITY ? raw('') : sql` limit ${most + 1}`
  const find: FindChildren = (from, field, parents) => childrenSql(context, from, field, parents, limit)
  return descend(context.catalog, [resource.name, ids], find, most)
}

/** The select of the ids of the records that refer to parents; `undefined`: they are not searched for. */
type FindChildren = (from: string, field: string, parents: readonly string[]) => Sql | undefined

/** Follows the references with `cascade` downwards from some records, each record once. */
export function* descend(
  catalog: Catalog,
  roots: readonly [collection: string, ids: readonly string[]],
  find: FindChildren,
  most = Number.POSITIVE_INFINITY,
): Transaction<Closure | undefined> {
  const closure = new Map([[roots[0], new Set(roots[1])]])
  let count = roots[1].length
  const frontier = [roots]
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, parents] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      if (count > most) return undefined
      const select = find(from, field, parents)
      if (select === undefined) continue
      const known = closure.get(from) ?? new Set()
      closure.set(from, known)
      const fresh = (yield select).map((row) => String(row['id'])).filter((id) => !known.has(id))
      for (const id of fresh) known.add(id)
      count += fresh.length
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return count > most ? undefined : closure
}

// The index of a reference has the children of one parent in the order of their ids: of a million, a limit reads as
// many as it wants, and nothing is sorted.
function childrenSql(
  { engine }: SqlContext,
  from: string,
  field: string,
  parents: readonly string[],
  limit = raw(''),
): Sql {
  const column = columnSql(subject, field)
  const refers = parents.length === 1 ? sql`${column} = ${parents[0]}` : engine.isAnyOf(column, parents)
  return sql`select id from ${liveRows(from)} and ${refers}${engine.lock.orderById}${limit}${engine.lock.update}`
}

/** How many records a closure has. */
export function sizeOf(closure: Closure): number {
  return closure.values().reduce((sum, ids) => sum + ids.size, 0)
}

/** The live rows of a collection, under the alias `subject`; conditions follow by `and`. */
export function liveRows(collection: string): Sql {
  return sql`${tableSql(collection)} ${raw(subject)} where ${raw(subject)}.deleted_at is null`
}
