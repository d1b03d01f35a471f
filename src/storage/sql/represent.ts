/** Representations made in the database: the SQL that builds a record's JSON text, once for each shape. */
import type { Sql } from 'sql-template-tag'
import type { Resource } from '../../model/resource.ts'
import { columnsOf } from './columns.ts'
import { type Compiler, columnSql } from './predicate.ts'

/** The alias of the table that a statement is about. */
export const subject = 't'

const known = new WeakMap<Resource, Map<string, Sql>>()

/**
 * The JSON of one row: every declared field that is answered, unset ones `null` (RES-8).
 *
 * @param fields those asked for; `undefined`: all; `id` always comes along (QRY-4)
 * @param withDeleted adds `deleted_at`, which live records do not have (RES-6)
 */
export function representationSql(
  { expressions }: Compiler,
  resource: Resource,
  fields: readonly string[] | undefined,
  withDeleted = false,
): Sql {
  const shapes = known.get(resource) ?? new Map<string, Sql>()
  known.set(resource, shapes)
  const key = `${withDeleted} ${fields === undefined ? '*' : fields.join()}`
  let built = shapes.get(key)
  if (built === undefined) {
    const wanted = (name: string) => fields === undefined || fields.includes(name)
    const members: [string, Sql][] = [['id', columnSql(subject, 'id')]]
    for (const { name, type, field, role } of columnsOf(resource)) {
      if (role !== 'value' || field.writeOnly || !wanted(name)) continue
      members.push([name, expressions.jsonValue(columnSql(subject, name), type)])
    }
    for (const name of ['created_at', 'updated_at']) if (wanted(name)) members.push([name, columnSql(subject, name)])
    if (withDeleted) members.push(['deleted_at', columnSql(subject, 'deleted_at')])
    built = expressions.jsonObject(members)
    // Field lists come from callers: keep a bounded number of them.
    if (shapes.size >= 200) shapes.clear()
    shapes.set(key, built)
  }
  return built
}
