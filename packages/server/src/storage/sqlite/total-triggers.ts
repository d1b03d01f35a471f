/** The triggers that keep sums of children (`sumOf`). They call aggregate functions alone, as those of summaries do. */
import type { DatabaseSync } from 'node:sqlite'
import { decimalKeyOf } from 'resourced-contract/model/decimal'
import { isObject } from 'resourced-contract/model/plain-copy'
import { identifier } from '../sql/columns.ts'
import type { TableTrigger } from '../sql/dialect.ts'
import { newMark, newStride, nextClockSql, nextRevisionSql } from '../sql/marks.ts'
import { boundOfTotal, groupsOf, type TotalGroup, type TotalSpec, totalTooLarge } from '../sql/totals.ts'
import { parsedJson } from '../transaction.ts'
import { markOfChange } from './event-triggers.ts'
import { textOf, unitsOf } from './summary-triggers.ts'

const sumFunction = 'resourced_child_total'
const keyFunction = 'resourced_total_key'
const markFunction = 'resourced_mark'
const strideFunction = 'resourced_stride'
const timeFunction = 'resourced_event_time'

interface Sum {
  readonly units: bigint
  readonly spec: { readonly scale: number | null; readonly precision: number; readonly amount: string }
  /** `undefined`: it may be too large. */
  readonly holder: string | undefined
}

/** The sums that are too large after the changes of a statement so far: the fields that they add up, by holder. */
export type Excesses = Map<string, string>

const largest = 2n ** 63n

/** Registers the aggregates that triggers call. They belong to a connection, which refuses what exceeds in the end. */
export function addTotalFunctions(database: DatabaseSync): Excesses {
  const excesses: Excesses = new Map()
  const step = ({ units }: Sum, ...[scale, precision, amount, holder, factor, value]: unknown[]) => {
    const spec = { scale: scale === null ? null : Number(scale), precision: Number(precision), amount: String(amount) }
    const more = value === null ? 0n : (factor as bigint) * unitsOf(String(value))
    return { units: units + more, spec, holder: holder === null ? undefined : String(holder) }
  }
  const result = ({ units, spec, holder }: Sum) => {
    const bound = boundOfTotal(spec)
    // The next row of the statement may make it smaller again.
    if (holder !== undefined && (units >= bound || units <= -bound)) excesses.set(holder, spec.amount)
    else if (holder !== undefined) excesses.delete(holder)
    if (spec.scale !== null) return textOf(units, spec.scale)
    if (units >= largest || units <= -largest) throw totalTooLarge(spec.amount)
    return units
  }
  const start = () => ({ units: 0n, spec: { scale: 0, precision: 0, amount: '' }, holder: undefined })
  database.aggregate(sumFunction, { start, step, result, varargs: true, useBigIntArguments: true } as never)
  const keyOf = (_: unknown, text: unknown) => decimalKeyOf(text) ?? null
  database.aggregate(keyFunction, { start: null, step: keyOf } as never)
  const mark = () => markOfChange(database) ?? newMark()
  database.aggregate(markFunction, { start: null, step: () => null, result: mark } as never)
  database.aggregate(strideFunction, { start: null, step: () => null, result: newStride } as never)
  return excesses
}

/** The triggers of a table whose sums other tables hold. */
export function totalTriggers(table: string, specs: readonly TotalSpec[]): TableTrigger[] {
  if (specs.length === 0) return []
  const trigger = (name: string, when: string, body: readonly string[]): TableTrigger => {
    // What restores a backup makes the trigger from these words again (`file-objects.ts`).
    const text = `CREATE TRIGGER "resourced_total_${name}_${table}" /*${JSON.stringify(specs)}*/ ${when}
  begin ${body.join(';\n  ')}; end`
    return { name: `resourced_total_${name}_${table}`, definition: () => text, statements: () => [text] }
  }
  const on = `on ${identifier(table)} for each row`
  const all = (change: (specs: TotalGroup) => readonly string[]) => groupsOf(specs).flatMap(change)
  const columns = [...new Set(specs.flatMap(({ reference, amount }) => [reference, amount]))].map(identifier)
  const differs = ['deleted_at', ...columns].map((name) => `old.${name} is not new.${name}`).join(' or ')
  return [
    trigger(
      'added',
      `after insert ${on} when new.deleted_at is null`,
      all((group) => move(group, undefined, 'new')),
    ),
    trigger('changed', `after update ${on} when ${differs}`, all(changed)),
    trigger(
      'removed',
      `after delete ${on} when old.deleted_at is null`,
      all((group) => move(group, 'old', undefined)),
    ),
  ]
}

/** The sums that a trigger keeps, by its text, which somebody else may have written; `undefined`: it keeps none. */
export function totalsOf(text: string): readonly TotalSpec[] | undefined {
  const [, json] = /^CREATE TRIGGER "resourced_total_[^"]*" \/\*(\[[^*]*\])\*\//.exec(text) ?? []
  const specs = json === undefined ? undefined : parsedJson(json)
  if (!Array.isArray(specs) || specs.length === 0 || JSON.stringify(specs) !== json) return undefined
  const isName = (name: unknown) => typeof name === 'string' && /^_?[a-z][a-z\d_-]*$/.test(name)
  const isSpec = ({ parent, column, key, scale, precision, reference, amount }: Record<keyof TotalSpec, unknown>) =>
    [parent, column, key ?? 'a', reference, amount].every(isName) && [scale ?? 0, precision].every(Number.isSafeInteger)
  return specs.every((spec) => isObject(spec) && isSpec(spec as never)) ? specs : undefined
}

type Row = 'old' | 'new'

/** The statements for a changed row: the sums of one record change once, and those of two records each. */
function changed(group: TotalGroup): string[] {
  const reference = identifier(group[0].reference)
  const isSame = `old.${reference} is new.${reference}`
  const both = 'old.deleted_at is null and new.deleted_at is null'
  return [
    ...move(group, 'old', 'new', `${both} and ${isSame}`),
    ...move(group, 'old', undefined, `old.deleted_at is null and (new.deleted_at is not null or not ${isSame})`),
    ...move(group, undefined, 'new', `new.deleted_at is null and (old.deleted_at is not null or not ${isSame})`),
  ]
}

/** The statements that subtract one row and add another one, and advance the clock of the table that holds the sums. */
function move(group: TotalGroup, from: Row | undefined, to: Row | undefined, where = 'true'): string[] {
  const [{ parent, reference }] = group
  const table = identifier(parent)
  const row = to ?? (from as Row)
  const sums = group.flatMap(({ column, key, scale, precision, amount }) => {
    const total = identifier(column)
    const terms = [
      `select 1 as factor, ${total} as value`,
      ...(from === undefined ? [] : [`select -1, old.${identifier(amount)}`]),
      ...(to === undefined ? [] : [`select 1, new.${identifier(amount)}`]),
    ]
    // A job deletes a record before what it adds up, in parts.
    const holder = `case when deleted_at is null then '${parent}.${column} ' || id end`
    const form = `${scale ?? 'null'}, ${precision}, '${amount}', ${holder}`
    const sum = `(select ${sumFunction}(${form}, factor, value) from (${terms.join(' union all ')}))`
    const keySum = `(select ${keyFunction}(value) from (select ${sum} as value))`
    return [`${total} = ${sum}`, ...(key === null ? [] : [`${identifier(key)} = ${keySum}`])]
  })
  const next = nextRevisionSql(`mark` as never).strings.join(`(select ${markFunction}())`)
  const time =
    to === undefined && row === 'old' && where === 'true'
      ? `(select ${timeFunction}())`
      : 'coalesce(new.deleted_at, new.updated_at)'
  const settings = [
    ...sums,
    `_revision = ${next}`,
    // The clock of another server may be behind.
    `updated_at = case when deleted_at is null
      then (select max(value) from (select updated_at as value union all select ${time})) else updated_at end`,
  ]
  const differences = group.map(({ scale, amount }) => {
    const zero = scale === null ? '0' : `'${textOf(0n, scale)}'`
    const isAmount = (each: Row) => `coalesce(${each}.${identifier(amount)}, ${zero})`
    return `${from === undefined ? zero : isAmount(from)} <> ${to === undefined ? zero : isAmount(to)}`
  })
  const differs = `(${differences.join(' or ')})`
  const condition = `id = ${row}.${identifier(reference)} and ${where} and ${differs}`
  const stride = nextClockSql('stride' as never).strings.join(`(select ${strideFunction}())`)
  return [
    `update or fail ${table} set ${settings.join(', ')} where ${condition}`,
    `update or fail resourced_clocks set revision = ${stride} where collection = '${parent}'
      and ${row}.${identifier(reference)} is not null and ${where} and ${differs}`,
  ]
}
