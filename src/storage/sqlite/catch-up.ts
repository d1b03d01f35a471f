/** What an older version stored, under the names and in the form of the current one. */
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { MigrationStep } from '../migration/migration-step.ts'
import { renameEpoch } from '../sql/epoch.ts'
import type { Held } from '../sql/table-spec.ts'
import { sqlite } from './engine.ts'
import { keepNames } from './schema.ts'

const quote = sqlite.identifier

/** Gives a table another name, and with it all that goes by its name. */
export function renameTable(database: DatabaseSync, from: string, to: string): void {
  database.exec(`alter table ${quote(from)} rename to ${quote(to)}`)
  const follow = (statement: string) => database.prepare(statement).run(to, from)
  follow('update resourced_clocks set collection = ? where collection = ?')
  follow('update resourced_queue set collection = ? where collection = ?')
  follow("update resourced_work set state = json_set(state, '$.collection', ?) where state ->> '$.collection' = ?")
  database.exec(renameEpoch(from, to))
  keepNames(database, from, { name: to })
}

/** @param columns new names by the old ones, which may be each other's */
export function renameColumns(database: DatabaseSync, table: string, columns: ReadonlyMap<string, string>): void {
  const rename = (from: string, to: string) =>
    database.exec(`alter table ${quote(table)} rename column ${quote(from)} to ${quote(to)}`)
  for (const from of columns.keys()) rename(from, `_renamed_${from}`)
  for (const [from, to] of columns) rename(`_renamed_${from}`, to)
  keepNames(database, table, { column: (each) => ({ ...each, name: columns.get(each.name) ?? each.name }) })
}

/**
 * Gives values the form that a declared change says. Records keep their revision: older clients see what they saw, and to
 * newer ones it is new.
 *
 * @throws Error with the record whose value cannot be converted
 */
export function convertColumn(
  database: DatabaseSync,
  { table, column, from, conversion, field }: Extract<MigrationStep, { kind: 'convert-column' }>,
): void {
  const made = { ...column, name: `_changed_${column.name}` }
  const [name, temporary] = [quote(column.name), quote(made.name)]
  database.exec(`alter table ${quote(table)} add column ${sqlite.columnDefinition(made)}`)
  const convert = (id: SQLOutputValue, value: SQLOutputValue): SQLInputValue => {
    const converted = conversion.newer(read(value, from)) ?? null
    if (converted === null || field.validate(converted).length === 0) {
      return converted === null ? null : (sqlite.store(converted, column.holds) as SQLInputValue)
    }
    throw new Error(
      `The record ${id} of ${table} cannot be brought to the current version: the conversion of ${column.name} makes a value that its schema does not allow.`,
    )
  }
  database.function('resourced_newer', { deterministic: false }, convert as never)
  database.exec(`update ${quote(table)} set ${temporary} = resourced_newer(id, ${name}) where ${name} is not null`)
  database.exec(`alter table ${quote(table)} drop column ${name}`)
  database.exec(`alter table ${quote(table)} rename column ${temporary} to ${name}`)
  keepNames(database, table, {
    column: (each) => (each.name === column.name ? { ...each, holds: column.holds } : each),
  })
}

function read(value: SQLOutputValue, holds: Held): unknown {
  if (holds === 'boolean') return value === 1
  const isJson = holds === 'array' || holds === 'object' || holds === 'json'
  return isJson ? JSON.parse(String(value)) : value
}
