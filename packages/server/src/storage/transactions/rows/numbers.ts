/**
 * The numbers of sequences (RES-16): each counter is a row, which a transaction locks when it takes the next number,
 * and keeps locked until it ends. A number is taken last, when nothing can refuse the record any more, and a
 * transaction that is rolled back takes none. So there are no gaps.
 *
 * The order of locks prevents deadlocks: records that the new one refers to, the clock of the collection, then counters
 * in the order of their names.
 */

import type { Field, RecordValues, Resource } from 'resourced-contract/model/resource'
import sql, { type Sql } from 'sql-template-tag'
import type { Create } from '../../../plan/plan.ts'
import { counterName, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { NextNumber } from '../../sql/dialect.ts'
import { counters } from '../../sql/system-tables.ts'
import { firstRow, ignoringRows, type Transaction } from '../../transaction.ts'
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

/** The counters that number a record. */
export function numbersOf(resource: Resource, record: RecordValues): NextNumber[] {
  return sequencesOf(resource).map(({ name, sequence }) => {
    const counter = counterName(resource.name, name, sequence?.per === undefined ? '' : String(record[sequence.per]))
    return { name, counter, take: (where) => nextNumber(counter, where) }
  })
}

/** Takes the next numbers, by the names of the fields that are numbered. */
export function* takeNumbers(numbers: readonly NextNumber[]): Transaction<ReadonlyMap<string, number>> {
  const taken = new Map<string, number>()
  for (const { name, take } of numbers) taken.set(name, Number((yield* firstRow(take(sql`where true`)))?.['last']))
  return taken
}

/** Takes the next number of each sequence of a record. */
export function* numbered(resource: Resource, record: RecordValues): Transaction<RecordValues> {
  const numbers = numbersOf(resource, record)
  return numbers.length === 0 ? record : { ...record, ...Object.fromEntries(yield* takeNumbers(numbers)) }
}

/** Takes the next number of a counter if a condition holds. */
function nextNumber(counter: string, where: Sql): Sql {
  return sql`insert into ${table} (name, last) select ${counter}, 1 ${where}
    on conflict (name) do update set last = ${table}.last + 1 returning last`
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
  const names = new Set(numbering.flatMap(likelyCounters))
  const isKnown = dialect.isAnyOf(sql`name`, [...names])
  yield ignoringRows(sql`select 1 as one from ${table} where ${isKnown} order by name${dialect.lock.update}`)
}

/** The counters that probably number a record: the body may still be refused. */
function likelyCounters({ resource, parent, body }: Pick<Create, 'resource' | 'parent' | 'body'>): string[] {
  const sent = typeof body === 'object' && body !== null ? (body as RecordValues) : {}
  const values = parent === undefined ? sent : { ...sent, [parent.field]: parent.id }
  return numbersOf(resource, values).map(({ counter }) => counter)
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
