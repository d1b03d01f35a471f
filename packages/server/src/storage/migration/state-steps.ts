/**
 * The steps of a migration about the states of records (HIS-1): they follow the tables, so that a former state has the
 * names and the types of the present ones.
 */
import { historyCollection } from 'resourced-contract/model/names'
import sql from 'sql-template-tag'
import type { ColumnSpec, TableSpec } from '../sql/tables.ts'
import { derivedOfStored } from '../sql/values.ts'
import type { Transaction } from '../transaction.ts'
import { convertStored, readStored, type Stored, writeStored } from './convert.ts'
import type { MigrationDialect } from './migration-dialect.ts'
import { type FollowedStep, type MigrationStep, type StepOf, step } from './migration-step.ts'
import type { FoundSchema } from './schema.ts'

/** Adds steps about states to those that change tables, where a database has states, and keeps them. */
export function withStates(
  { tables }: Pick<FoundSchema, 'tables'>,
  desired: readonly TableSpec[],
  steps: readonly MigrationStep[],
): MigrationStep[] {
  const hasStates = [tables, desired].every((all) => all.some(({ name }) => name === historyCollection))
  if (!hasStates) return [...steps]
  const followed = steps.flatMap((each) =>
    isFollowed(each)
      ? [
          step(
            each.table,
            { kind: 'follow-states', step: each, columns: columnsOf(desired, each.table) },
            sentenceOf(each),
          ),
        ]
      : [],
  )
  return [...steps, ...followed]
}

function isFollowed(each: MigrationStep): each is FollowedStep {
  return ['drop-table', 'rename-table', 'rename-columns', 'convert-column', 'change-type'].includes(each.kind)
}

function columnsOf(desired: readonly TableSpec[], table: string): readonly ColumnSpec[] {
  return desired.find(({ name }) => name === table)?.columns ?? []
}

function sentenceOf({ kind, table }: FollowedStep): string {
  return kind === 'drop-table' ? `erase the history of ${table}` : `bring the history of ${table} into the new form`
}

/** The values of a state, by their columns. */
type Values = Record<string, Stored | boolean | null>

/** Takes such a step. */
export function* followStates(
  dialect: MigrationDialect,
  { step: of, columns }: StepOf<'follow-states'>,
): Transaction<void> {
  switch (of.kind) {
    case 'drop-table':
      yield sql`delete from "revisions" where collection = ${of.table}`
      return
    case 'rename-table':
      yield sql`update "revisions" set collection = ${of.to} where collection = ${of.table}`
      return
    case 'rename-columns':
      yield* rewrite(of.table, (values) =>
        Object.fromEntries(Object.entries(values).map(([name, value]) => [of.columns.get(name) ?? name, value])),
      )
      return
    case 'convert-column':
      yield* convertStates(of.table, { columns, name: of.column.name }, (stored) => {
        const converted = of.conversion.newer(readStored(stored, of.from)) ?? null
        // No request can correct a former state.
        const isValid = converted === null || of.field.validate(converted).length === 0
        return isValid ? writeStored(converted, of.column.holds, dialect) : null
      })
      return
    case 'change-type':
      yield* convertStates(of.table, { columns, name: of.column.name }, (stored) =>
        convertStored(stored, of.from, of.column.holds, dialect),
      )
  }
}

function* convertStates(
  table: string,
  { columns, name }: { readonly columns: readonly ColumnSpec[]; readonly name: string },
  convert: (stored: Stored) => Stored | null,
): Transaction<void> {
  const keys = columns.flatMap(({ name: key, derived }) => (derived?.from === name ? [{ key, derived }] : []))
  yield* rewrite(table, (values) => {
    const value = values[name]
    if (value === null || value === undefined) return values
    const converted = convert(typeof value === 'boolean' ? String(value) : value)
    const derived = keys.flatMap(({ key, derived: how }) =>
      Object.hasOwn(values, key) ? [[key, converted === null ? null : derivedOfStored(how, converted)]] : [],
    )
    return { ...values, [name]: converted, ...Object.fromEntries(derived) }
  })
}

/** How many states are read at once. */
const batch = 500

function* rewrite(collection: string, change: (values: Values) => Values): Transaction<void> {
  for (let last = 0; ; ) {
    const rows = yield sql`select _row, record from "revisions"
      where _row > ${last} and collection = ${collection} order by _row limit ${batch}`
    for (const row of rows) {
      const values = JSON.parse(String(row['record'])) as Values
      const record = JSON.stringify(change(values))
      yield sql`update "revisions" set record = ${record} where _row = ${Number(row['_row'])}`
    }
    if (rows.length < batch) return
    last = Number(rows.at(-1)?.['_row'])
  }
}
