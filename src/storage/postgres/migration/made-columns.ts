/** Columns that are made from others, and the words of records: all of a table in one pass over its rows. */
import type { ClientBase } from 'pg'
import type { MigrationStep } from '../../migration/migration-step.ts'
import { derived, searchText } from '../../sql/derived.ts'
import { postgres, wordsColumn } from '../engine.ts'
import { lexemesOf } from '../lexemes.ts'
import { type BatchRow, type Made, rewrite } from './batches.ts'
import { query } from './session.ts'

/** A step that fills such a column. */
export type MadeStep = Extract<MigrationStep, { kind: 'derive-column' | 'build-search' }>

/** Whether a step fills a column by what others hold. */
export function isMadeStep(step: MigrationStep): step is MadeStep {
  return step.kind === 'derive-column' || step.kind === 'build-search'
}

/** Takes the steps of one table. Of a full-text index only the words are put in place. */
export async function fillMade(client: ClientBase, table: string, steps: readonly MadeStep[]): Promise<void> {
  for (const step of steps) {
    if (step.kind !== 'build-search') continue
    await query(client, `drop index if exists ${postgres.identifier(step.search.name)}`)
    const alter = `alter table ${postgres.identifier(table)}`
    await query(client, `${alter} add column if not exists ${wordsColumn} tsvector`)
  }
  const from = [...new Set(steps.flatMap(sources))]
  await rewrite(client, { table, from, to: steps.map((step) => madeBy(step, from)), unlessSame: true })
}

function sources(step: MadeStep): readonly string[] {
  return step.kind === 'derive-column' ? [step.column.derived!.from] : step.search.columns
}

function madeBy(step: MadeStep, from: readonly string[]): Made {
  const textOf = ({ texts }: BatchRow, name: string) => texts[from.indexOf(name)] ?? null
  if (step.kind === 'build-search') {
    return {
      column: wordsColumn,
      value: (text) => `array_to_tsvector(string_to_array(${text}, ' '))`,
      make: (row) => lexemesOf(searchText(step.search.columns.map((name) => textOf(row, name)))).join(' '),
    }
  }
  const { from: source, by } = step.column.derived!
  return {
    column: step.column.name,
    value: (text) => `${text} collate "C"`,
    make(row) {
      const text = textOf(row, source)
      return text === null ? null : derived[by](text)
    },
  }
}
