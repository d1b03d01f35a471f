/**
 * The numbers of sequences (RES-16): each counter is a row, which a transaction locks when it takes the next number,
 * and keeps locked until it ends. A number is taken last, when nothing can refuse the record any more, and a
 * transaction that is rolled back takes none. So there are no gaps.
 *
 * The order of locks prevents deadlocks: records that the new one refers to, the clock of the collection, then counters
 * in the order of their names.
 */

import type { Field, RecordValues, Resource } from 'resourced-contract/model/resource'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Create } from '../../../plan/plan.ts'
import { counterName, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Bound } from '../../sql/dialect.ts'
import { counters } from '../../sql/tables.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../../transaction.ts'
import { lockClock } from './clock.ts'

const table = tableSql(counters.name)

const known = new WeakMap<Resource, readonly Field[]>()

/** The sequences of a resource, in the order in which their counters are locked. */
export function sequencesOf(resource: Resource): readonly Field[] {
  const kept = known.get(resource)
  if (kept !== undefined) return kept
  const found = findSequences(resource)
  known.set(resource, found)
  return found
}

function findSequences({ fields }: Resource): readonly Field[] {
  const numbered = fields.filter(({ sequence }) => sequence !== undefined)
  const rank = ({ sequence }: Field) => (sequence?.per === undefined ? 0 : 1)
  return numbered.sort((left, right) => rank(left) - rank(right) || (left.name < right.name ? -1 : 1))
}

/** The names of the counters that number a record. */
export function countersOf(resource: Resource, record: RecordValues): string[] {
  return sequencesOf(resource).map((field) => counterOf(resource, field, record))
}

/** @param record the values by which records are numbered */
export function counterOf({ name }: Resource, { name: field, sequence }: Field, record: RecordValues): string {
  return counterName(name, field, sequence?.per === undefined ? '' : String(record[sequence.per]))
}

/** Takes the next number of each sequence of a record. */
export function* numbered(resource: Resource, record: RecordValues): Transaction<RecordValues> {
  const sequences = sequencesOf(resource)
  if (sequences.length === 0) return record
  const numbers: Record<string, number> = {}
  for (const field of sequences) {
    const row = yield* firstRow(nextNumber(counterOf(resource, field, record), sql`where true`))
    numbers[field.name] = Number(row?.['last'])
  }
  return { ...record, ...numbers }
}

/** Takes the next number of a counter if a condition holds. */
function nextNumber(counter: Bound, where: Sql): Sql {
  return sql`insert into ${table} (name, last) select ${counter}, 1 ${where}
    on conflict (name) do update set last = ${table}.last + 1 returning last`
}

/** A record with the numbers in a row of `numberedInsertion`. */
export function withNumbers(resource: Resource, record: RecordValues, row: Row): RecordValues {
  const sequences = sequencesOf(resource)
  if (sequences.length === 0) return record
  const numbers = sequences.map(({ name }) => [name, Number(row[name])])
  return { ...record, ...Object.fromEntries(numbers) }
}

/** The parts of a statement that numbers a record and inserts it. */
interface NumberedInsertion {
  readonly resource: Resource
  /** What must hold. */
  readonly conditions: readonly Sql[]
  /** Advances the clock of the collection. */
  readonly tick: Sql
  /** The counter of a field. */
  readonly counter: (field: Field) => Bound
  /** The statement that inserts the record, by the SQL of its numbers, on a condition. */
  readonly insertion: (numbers: ReadonlyMap<string, Sql>, condition: Sql) => Sql
  /** What to select of the record; `undefined`: its numbers. */
  readonly answer: Sql | undefined
}

/**
 * One statement that numbers a record and inserts it if all conditions hold, for engines that have `writeReturning`. It
 * returns a row of it. Each part depends on the rows of the one before it, so that locks are taken in their order.
 */
export function numberedInsertion(parts: NumberedInsertion): Sql {
  const { resource, conditions, tick, counter, insertion, answer } = parts
  const sequences = sequencesOf(resource)
  const checked =
    conditions.length === 0 ? sql`select 1 as one` : sql`select 1 as one where ${join(conditions, ' and ')}`
  const steps = [
    sql`checked as materialized (${checked})`,
    sql`ticked as (${tick} and exists (select 1 from checked) returning 1 as one)`,
    ...sequences.map((field, index) => {
      const before = raw(index === 0 ? 'ticked' : `number${index - 1}`)
      const next = nextNumber(counter(field), sql`where exists (select 1 from ${before})`)
      return sql`${raw(`number${index}`)} as (${next})`
    }),
  ]
  const numbers = new Map(
    sequences.map(({ name }, index) => [name, sql`(select last from ${raw(`number${index}`)})`] as const),
  )
  const last = raw(`number${sequences.length - 1}`)
  const inserted = sql`${raw(subject)} as (${insertion(numbers, sql`exists (select 1 from ${last})`)} returning *)`
  const names = sequences.map(({ name }) => raw(`"${name}"`))
  return sql`with ${join([...steps, inserted])} select ${answer ?? join(names)} from ${raw(subject)}`
}

/**
 * Locks the clocks and the known counters of many new records, in one order: two imports, or an import and requests,
 * would otherwise wait for each other. Nothing is locked where one writer has the database.
 */
export function* lockCounters(
  context: SqlContext,
  plans: readonly Pick<Create, 'resource' | 'parent' | 'body'>[],
): Transaction<void> {
  const { dialect } = context
  const numbering = plans.filter(({ resource }) => sequencesOf(resource).length > 0)
  if (!dialect.lock.hasOtherWriters || numbering.length === 0) return
  const collections = new Set(plans.map(({ resource }) => resource.name))
  for (const collection of [...collections].sort()) yield* lockClock(context, collection)
  const names = new Set(numbering.flatMap(({ resource, parent, body }) => countersOf(resource, likely(parent, body))))
  const isKnown = dialect.isAnyOf(sql`name`, [...names])
  yield ignoringRows(sql`select 1 as one from ${table} where ${isKnown} order by name${dialect.lock.update}`)
}

/** The values by which a record is probably numbered: the body may still be refused. */
function likely(parent: Create['parent'], body: unknown): RecordValues {
  const sent = typeof body === 'object' && body !== null ? (body as RecordValues) : {}
  return parent === undefined ? sent : { ...sent, [parent.field]: parent.id }
}

/** Deletes the counters of records that are removed: no record can be numbered by them again. */
export function* removeCounters(context: SqlContext, removed: Resource, ids: readonly string[]): Transaction<void> {
  for (const { name, fields } of context.catalog.resources.values()) {
    for (const { name: field, sequence } of fields) {
      const { reference } = fields.find((each) => each.name === sequence?.per) ?? {}
      if (reference?.collection !== removed.name) continue
      const names = ids.map((id) => counterName(name, field, id))
      yield ignoringRows(sql`delete from ${table} where ${context.dialect.isAnyOf(sql`name`, names)}`)
    }
  }
}
