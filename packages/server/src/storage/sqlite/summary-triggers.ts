/**
 * The triggers that keep summaries (SUM-3). They call aggregate functions alone, for the reason that the triggers of
 * events do: a trigger that calls another function makes SQLite keep a copy of every page that a statement changes.
 */
import type { DatabaseSync } from 'node:sqlite'
import { isObject } from 'resourced-contract/model/plain-copy'
import { identifier } from '../sql/columns.ts'
import type { TableTrigger } from '../sql/dialect.ts'
import {
  figureKey,
  groupColumns,
  groupText,
  type SummaryFigure,
  type SummaryGroup,
  type SummarySpec,
  summariesTable,
  summarizedColumns,
  summaryName,
} from '../sql/kept-summaries.ts'
import { parsedJson } from '../transaction.ts'

const totalFunction = 'resourced_total'
const beginningFunction = 'resourced_beginning'

/** A number as an integer, and how many of its digits are after the point. */
interface Sum {
  readonly units: bigint
  readonly scale: number
}

/** Registers the aggregates that triggers call. They belong to a connection. */
export function addSummaryFunctions(database: DatabaseSync): void {
  // Adds the sum of numbers with so many digits after the point, each text with a factor.
  const add = (sum: Sum, scale: unknown, factor: unknown, value: unknown): Sum => {
    const more = value === null ? 0n : BigInt(Number(factor)) * unitsOf(String(value))
    return { units: sum.units + more, scale: Number(scale) }
  }
  const result = ({ units, scale }: Sum) => textOf(units, scale)
  database.aggregate(totalFunction, { start: () => ({ units: 0n, scale: 0 }), step: add, result } as never)
  const step = (_: unknown, text: unknown, length: unknown) =>
    text === null ? null : String(text).slice(0, Number(length))
  database.aggregate(beginningFunction, { start: null, step } as never)
}

export function unitsOf(text: string): bigint {
  return BigInt(text.replace('.', ''))
}

export function textOf(units: bigint, scale: number): string {
  if (scale === 0) return String(units)
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** The triggers of a table that keep its summaries. */
export function summaryTriggers(table: string, specs: readonly SummarySpec[]): TableTrigger[] {
  if (specs.length === 0) return []
  const trigger = (name: string, when: string, body: readonly string[]): TableTrigger => {
    // What restores a backup makes the trigger from these words again (`file-objects.ts`).
    const text = `CREATE TRIGGER "resourced_kept_${name}_${table}" /*${JSON.stringify(specs)}*/ ${when}
  begin ${body.join(';\n  ')}; end`
    return { name: `resourced_kept_${name}_${table}`, definition: () => text, statements: () => [text] }
  }
  const on = `on ${identifier(table)} for each row`
  const change = (row: 'new' | 'old') => specs.flatMap((spec) => changeOf(table, spec, row))
  const differs = summarizedColumns(specs).map((name) => `old.${identifier(name)} is not new.${identifier(name)}`)
  return [
    trigger('added', `after insert ${on} when new.deleted_at is null`, change('new')),
    trigger('changed', `after update ${on} when ${['old.deleted_at is not new.deleted_at', ...differs].join(' or ')}`, [
      ...change('old'),
      ...change('new'),
    ]),
    trigger('removed', `after delete ${on} when old.deleted_at is null`, change('old')),
  ]
}

/**
 * The summaries that a trigger keeps, by its text, which somebody else may have written; `undefined`: it keeps none.
 * They are names and numbers, whose form is checked.
 */
export function summariesOf(text: string): readonly SummarySpec[] | undefined {
  const [, json] = /^CREATE TRIGGER "resourced_kept_[^"]*" \/\*(\[[^*]*\])\*\//.exec(text) ?? []
  const specs = json === undefined ? undefined : parsedJson(json)
  if (!Array.isArray(specs) || specs.length === 0 || JSON.stringify(specs) !== json) return undefined
  const isName = (name: unknown) => typeof name === 'string' && /^_?[a-z][a-z\d_]*$/.test(name)
  const isNumber = (value: unknown) => value === null || value === undefined || Number.isSafeInteger(value)
  const isSpec = ({ name, groups, sums }: { [Key in keyof SummarySpec]?: unknown }) =>
    isName(name) &&
    [groups, sums].every(Array.isArray) &&
    (groups as Partial<SummaryGroup>[]).every((each) => isName(each.column) && isNumber(each.characters)) &&
    (sums as Partial<SummaryFigure>[]).every((each) => isName(each.column) && isNumber(each.scale))
  return specs.every((spec) => isObject(spec) && isSpec(spec)) ? specs : undefined
}

/** The statements that add a live row to a summary, or subtract it. */
function changeOf(table: string, spec: SummarySpec, row: 'new' | 'old'): string[] {
  const factor = row === 'new' ? 1 : -1
  const groups = groupColumns.map((_, index) => groupOf(spec.groups[index], row))
  const key = figureKey.join(', ')
  const place = `'${summaryName(table, spec)}', ${groups.join(', ')}`
  const add = (figure: string, given: string, total: string, sum: string) =>
    `insert into ${summariesTable} (${key}, count, total)
    select ${place}, '${figure}', 0, ${factor}, ${total} where ${row}.deleted_at is null${given}
    on conflict (${key}) do update set count = count + ${factor}${sum}`
  const figures = spec.sums.map(({ column, scale }) => {
    const value = `${row}.${identifier(column)}`
    const total = `(select ${totalFunction}(${scale ?? 0}, ${factor}, value) from (select ${value} as value))`
    const summands = 'select total as value union all select excluded.total'
    const sum = `, total = (select ${totalFunction}(${scale ?? 0}, 1, value) from (${summands}))`
    return add(column, ` and ${value} is not null`, total, sum)
  })
  const all = [add('', '', 'null', ''), ...figures]
  if (row === 'new') return all
  const same = groupColumns.map((name, index) => `${name} = ${groups[index]}`)
  const empty = `summary = '${summaryName(table, spec)}' and ${same.join(' and ')} and count = 0`
  // A group that a change leaves and enters again begins anew.
  return [...all, `delete from ${summariesTable} where ${empty}`]
}

function groupOf(group: SummaryGroup | undefined, row: 'new' | 'old'): string {
  if (group === undefined) return "''"
  const { column, characters } = group
  const value = `${row}.${identifier(column)}`
  if (characters === undefined) return groupText(value, group)
  return groupText(`(select ${beginningFunction}(value, ${characters}) from (select ${value} as value))`, group)
}
