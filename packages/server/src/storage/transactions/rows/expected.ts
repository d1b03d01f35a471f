/** The questions of many changes, asked together (see `other-records.ts`). */
import type { Predicate, Scalar } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import sql, { empty, raw } from 'sql-template-tag'
import type { Proposal, Question } from '../../../plan/decide.ts'
import type { Outcome } from '../../../plan/outcome.ts'
import { columnSql, columnsOf, comparisonColumn, subject, subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { shareLock } from '../../sql/totals.ts'
import { firstRow, type Row, type Transaction } from '../../transaction.ts'
import { inRank } from './lock-operations.ts'
import { askedSql, canBePending, resourceOf, unmarked } from './other-records.ts'

type Reference = Question & { readonly kind: 'reference' }
type Taken = Question & { readonly kind: 'taken' }

/**
 * The questions that have the answer with which records can be written: what is referred to is there, and is locked;
 * and unique values are free. About the others nothing is known.
 */
export function* findExpected(
  context: SqlContext,
  proposals: readonly (Proposal | Outcome)[],
): Transaction<ReadonlySet<Question>> {
  const expected = new Set<Question>()
  const references: Reference[] = []
  const taken = new Map<Resource, Taken[]>()
  for (const proposal of proposals) {
    if (proposal.kind !== 'proposal') continue
    const { resource } = proposal.transition
    for (const question of proposal.questions) {
      if (question.kind === 'reference') references.push(question)
      if (question.kind !== 'taken' || question.fields.length > 1) continue
      const known = taken.get(resource)
      if (known === undefined) taken.set(resource, [question])
      else known.push(question)
    }
  }
  const collections = Map.groupBy(references, ({ collection }) => collection)
  for (const [collection, asked] of inRank(context.catalog, collections)) {
    for (const [readable, alike] of Map.groupBy(asked, (question) => question.readable)) {
      const found = yield* liveAmong(context, resourceOf(context.catalog, collection), alike, readable)
      for (const question of alike) if (found.has(question.id)) expected.add(question)
    }
  }
  for (const [resource, asked] of taken) {
    for (const [field = '', alike] of Map.groupBy(asked, ({ fields }) => fields[0])) {
      const holders = yield* holdersOf(
        context,
        resource,
        field,
        alike.map(({ keys }) => keys[0] as Scalar),
      )
      for (const question of alike) {
        const holder = holders.get(textOf(question.keys[0]))
        if (holder === undefined || holder === question.except) expected.add(question)
      }
    }
  }
  return expected
}

/** Those of the records referred to that are there and stay. They are locked. */
function* liveAmong(
  context: SqlContext,
  target: Resource,
  asked: readonly Reference[],
  readable: Predicate | undefined,
): Transaction<ReadonlySet<string>> {
  const { dialect } = context
  const { orderById } = dialect.lock
  const ids = dialect.isAnyOf(sql`id`, [...new Set(asked.map(({ id }) => id))])
  const locking = { ...context, locksReferenced: true }
  const shown = readable === undefined ? empty : sql` and ${predicateSql(locking, target, readable)}`
  const stays = canBePending(context, target) ? sql` and ${unmarked}` : empty
  // As where a record is read to be changed.
  const isLive = dialect.unindexed(raw('deleted_at is null'))
  const live = sql`${subjectSql(target.name)} where ${ids} and ${isLive}${shown}${stays}`
  const rows = yield sql`select id from ${live}${orderById}${shareLock(dialect, target)}`
  return new Set(rows.map(({ id }) => String(id)))
}

/** The ids of the live records that have values of a unique field, by the text of the value. */
export function* holdersOf(
  context: SqlContext,
  resource: Resource,
  field: string,
  keys: readonly Scalar[],
): Transaction<ReadonlyMap<string, string>> {
  const name = comparisonColumn(resource, field)
  const column = columnSql(subject, name)
  const holders = new Map<string, string>()
  // A number may lose digits on its way through JSON.
  const isReal = columnsOf(resource).some((each) => each.name === name && each.type === 'real')
  for (const some of isReal ? keys.map((key) => [key]) : [keys]) {
    const [only] = some
    if (only === undefined) continue
    const same = isReal ? sql`${column} = ${context.dialect.bind(only)}` : context.dialect.isAnyOf(column, some)
    const live = sql`${subjectSql(resource.name)} where ${same} and deleted_at is null`
    const rows = yield sql`select ${column} as key, id from ${live}`
    for (const { key, id } of rows) holders.set(textOf(key), String(id))
  }
  return holders
}

/** The text of a unique value, as it is bound or found. */
export function textOf(key: Scalar | Row[string] | undefined): string {
  return typeof key === 'boolean' ? String(Number(key)) : String(key)
}

/** The id of the live record that has a unique value; `undefined`: none has it. */
export function* holderOf(context: SqlContext, resource: Resource, question: Taken): Transaction<string | undefined> {
  const row = yield* firstRow(sql`select id from ${askedSql(context, resource, question)}`)
  return row === undefined ? undefined : String(row['id'])
}
