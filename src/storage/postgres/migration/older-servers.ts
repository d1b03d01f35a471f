/**
 * What stands in the records that servers of an older declaration go on writing: they do not name the columns that are new.
 * The database fills those with what the program would.
 */
import type { ClientBase } from 'pg'
import type { MigrationStep } from '../../migration/migration-step.ts'
import { derived, searchText } from '../../sql/derived.ts'
import { postgres, wordsColumn } from '../engine.ts'
import { lexemesOf } from '../lexemes.ts'
import { query } from './session.ts'
import { storedText } from './stored-values.ts'

/** Gives the columns that steps have added the defaults of their declaration. */
export async function addDefaults(client: ClientBase, steps: readonly MigrationStep[]): Promise<void> {
  const added = steps.filter((step) => step.kind === 'add-column')
  const defaultOf = (table: string, name: string) => {
    const found = added.find((step) => step.table === table && step.column.name === name)
    return found === undefined ? null : storedText(found.column.default, found.column.holds)
  }
  const set = async (table: string, column: string, expression: string) => {
    const [identifier, name] = [postgres.identifier(table), postgres.identifier(column)]
    await query(client, `alter table ${identifier} alter column ${name} set default ${expression}`)
  }
  for (const { table, column } of added) {
    const source = column.derived === undefined ? null : defaultOf(table, column.derived.from)
    const text =
      column.derived === undefined || source === null
        ? defaultOf(table, column.name)
        : derived[column.derived.by](source)
    if (text !== null) await set(table, column.name, client.escapeLiteral(text))
  }
  for (const step of steps) {
    if (step.kind !== 'build-search') continue
    const lexemes = lexemesOf(searchText(step.search.columns.map((name) => defaultOf(step.table, name))))
    const texts = client.escapeLiteral(lexemes.join(' '))
    if (lexemes.length > 0) await set(step.table, wordsColumn, `array_to_tsvector(string_to_array(${texts}, ' '))`)
  }
}
