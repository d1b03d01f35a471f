/** What goes when records go: they, and by `cascade` all that hangs under them (DEL-5). */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Resource } from '../../../model/resource.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Engine } from '../../sql/engine.ts'
import type { Transaction } from '../../transaction.ts'
import { cascadesOf } from '../rows/dependents.ts'

/** The ids that go, by collection. */
export type Closure = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Finds records and all that goes with them; cycles end where everything is found.
 *
 * @param most where there are more, `undefined`: they are not all looked for
 * @param among the collections that are looked into; left out: all
 */
export function closureOf(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
  most?: undefined,
  among?: ReadonlySet<string>,
): Transaction<Closure>
export function closureOf(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
  most: number,
): Transaction<Closure | undefined>
export function* closureOf(
  { catalog, engine }: SqlContext,
  resource: Resource,
  ids: readonly string[],
  most = Number.POSITIVE_INFINITY,
  among?: ReadonlySet<string>,
): Transaction<Closure | undefined> {
  const closure = new Map([[resource.name, new Set(ids)]])
  let count = ids.length
  const frontier: [string, readonly string[]][] = [[resource.name, ids]]
  // One more than there may be shows that there are more.
  const limit = most === Number.POSITIVE_INFINITY ? raw('') : sql` limit ${most + 1}`
  for (let entry = frontier.shift(); entry !== undefined && count <= most; entry = frontier.shift()) {
    const [collection, parents] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      if (among?.has(from) === false) continue
      const refers = refersSql(engine, field, parents)
      const rows =
        yield sql`select id from ${liveRows(from)} and ${refers}${engine.lock.orderById}${limit}${engine.lock.update}`
      const known = closure.get(from) ?? new Set()
      closure.set(from, known)
      const fresh = rows.map((row) => String(row['id'])).filter((id) => !known.has(id))
      for (const id of fresh) known.add(id)
      count += fresh.length
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return count > most ? undefined : closure
}

/**
 * That a record refers to one of several. Those that refer to a single one stand in an index in the order of their ids: of a
 * million, so many are read as are wanted, and none is sorted.
 */
function refersSql({ isAnyOf }: Engine, field: string, ids: readonly string[]): Sql {
  const column = columnSql(subject, field)
  return ids.length === 1 ? sql`${column} = ${ids[0]}` : isAnyOf(column, ids)
}

/** How many records a closure has. */
export function sizeOf(closure: Closure): number {
  return closure.values().reduce((sum, ids) => sum + ids.size, 0)
}

/** The live rows of a collection, under the alias `subject`; conditions follow by `and`. */
export function liveRows(collection: string): Sql {
  return sql`${tableSql(collection)} ${raw(subject)} where ${raw(subject)}.deleted_at is null`
}
