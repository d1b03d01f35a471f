/** The counters of sequences (RES-16) in migrations: records get numbers, and counters follow their fields. */
import sql, { type Sql } from 'sql-template-tag'
import { counterName, quoted } from '../sql/columns.ts'
import { counters } from '../sql/tables.ts'
import type { Row, Transaction } from '../transaction.ts'
import type { MigrationDialect } from './migration-dialect.ts'
import type { StepOf } from './migration-step.ts'

/**
 * Numbers the records without a number, deleted ones too, in the order of their creation. They come after the numbers
 * that exist already. The counters go on from the greatest numbers. Counts the numbered records.
 *
 * @param also further assignments, each with a comma before it
 */
export function* numberRecords(
  dialect: MigrationDialect,
  { table, column, per }: StepOf<'number-records'>,
  also: Sql,
): Transaction<number> {
  const [from, number] = [quoted(table), quoted(column.name)]
  const group = per === '' ? sql`cast('' as text)` : sql`cast(${quoted(per)} as text)`
  const last = sql`select ${group} as parent, max(${number}) as last from ${from} group by 1`
  const rank = sql`row_number() over (partition by r.parent order by r.created_at, r._row)`
  const unnumbered = sql`select _row, created_at, ${group} as parent from ${from} where ${number} is null`
  const made = sql`select r._row as place, coalesce(ended.last, 0) + ${rank} as number from (${unnumbered}) as r
    left join (${last}) as ended on ended.parent = r.parent`
  const count = yield* dialect.countChanged(
    sql`update ${from} set ${number} = made.number${also} from (${made}) as made where _row = made.place`,
  )
  const name = sql`${counterName(table, column.name)} || ${group}`
  const greater = sql`case when excluded.last > ${quoted(counters.name)}.last then excluded.last
    else ${quoted(counters.name)}.last end`
  const given = per === '' ? sql`${number} is not null` : sql`${number} is not null and ${quoted(per)} is not null`
  yield sql`insert into ${quoted(counters.name)} (name, last)
    select ${name}, max(${number}) from ${from} where ${given} group by 1
    on conflict (name) do update set last = ${greater}`
  return count
}

/** Deletes the counters of a collection, or of one of its fields. */
export function* dropCounters(dialect: MigrationDialect, table: string, field?: string): Transaction<void> {
  const prefix = counterName(table, field)
  if (table === counters.name || !(yield* hasCounters(dialect))) return
  yield sql`delete from ${quoted(counters.name)} where substr(name, 1, ${prefix.length}) = ${prefix}`
}

/** Gives counters other names, by the beginnings of their names. Two of them may exchange theirs. */
export function* renameCounters(
  dialect: MigrationDialect,
  names: readonly { readonly from: string; readonly to: string }[],
): Transaction<void> {
  if (!(yield* hasCounters(dialect))) return
  const rename = (from: string, to: string) =>
    sql`update ${quoted(counters.name)} set name = ${to} || substr(name, ${from.length + 1})
      where substr(name, 1, ${from.length}) = ${from}`
  for (const { from } of names) yield rename(from, `/${from}`)
  for (const { from, to } of names) yield rename(`/${from}`, to)
}

/** Whether the table of counters exists: a database gets it with its first sequence. */
function* hasCounters(dialect: MigrationDialect): Transaction<boolean> {
  const relations: readonly Row[] = yield dialect.relations
  return relations.some(({ name, kind }) => name === counters.name && kind === 'table')
}
