/** Representations made in the database: the SQL that builds a record's JSON text, once for each shape. */
import type { Sql } from 'sql-template-tag'
import { type Resource, storedResource } from '../../model/resource.ts'
import { type Column, columnSql, columnsOf, subject } from './columns.ts'
import type { SqlContext } from './context.ts'
import type { Engine } from './engine.ts'

const known = new WeakMap<Engine, WeakMap<Resource, Map<string, Sql>>>()

/**
 * The JSON of one row: every declared field that is answered, unset ones `null` (RES-8).
 *
 * @param fields those asked for; `undefined`: all; `id` always comes along (QRY-4)
 * @param withDeleted adds `deleted_at`, which live records do not have (RES-6)
 */
export function representationSql(
  { engine }: SqlContext,
  resource: Resource,
  fields: readonly string[] | undefined,
  withDeleted = false,
): Sql {
  const shapes = shapesOf(engine, resource)
  const key = `${withDeleted} ${fields === undefined ? '*' : fields.join()}`
  let built = shapes.get(key)
  if (built === undefined) {
    const wanted = (name: string) => fields === undefined || fields.includes(name)
    const plain = (name: string): [string, Sql] => [name, engine.jsonUnescaped(columnSql(subject, name))]
    const members = [plain('id')]
    for (const member of membersOf(resource)) {
      if (!wanted(member.name)) continue
      const { name, column } = member
      members.push([
        name,
        column === undefined
          ? engine.jsonLiteral(member.value)
          : column.field.reference === undefined
            ? engine.jsonValue(columnSql(subject, column.name), column.type)
            : engine.jsonUnescaped(columnSql(subject, column.name)),
      ])
    }
    for (const name of ['created_at', 'updated_at']) if (wanted(name)) members.push(plain(name))
    if (withDeleted) members.push(plain('deleted_at'))
    built = engine.jsonObject(members)
    // Field lists come from callers: keep a bounded number of them.
    if (shapes.size >= 200) shapes.clear()
    shapes.set(key, built)
  }
  return built
}

function shapesOf(engine: Engine, resource: Resource): Map<string, Sql> {
  const resources = known.get(engine) ?? new WeakMap<Resource, Map<string, Sql>>()
  const shapes = resources.get(resource) ?? new Map<string, Sql>()
  known.set(engine, resources.set(resource, shapes))
  return shapes
}

/** A field as it is answered: from a column, or, where only an older version has it, always the same. */
export interface Member {
  readonly name: string
  readonly column: Column | undefined
  readonly value?: unknown
}

/** The fields of a resource as they are answered, but for those that every record has. */
export function membersOf(resource: Resource): Member[] {
  const { mapping } = resource
  const stored = storedResource(resource)
  const columns = new Map(columnsOf(stored).flatMap((each) => (each.role === 'value' ? [[each.name, each]] : [])))
  return resource.fields.flatMap(({ name, writeOnly }): Member[] => {
    if (writeOnly) return []
    const field = mapping === undefined ? name : mapping.toStored.get(name)
    if (field === undefined) return [{ name, column: undefined, value: mapping?.constants.get(name) ?? null }]
    return [{ name, column: columns.get(field) }]
  })
}
