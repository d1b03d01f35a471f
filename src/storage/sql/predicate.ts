/**
 * Predicates as SQL: the other reading of `matches` in model/predicate.ts, and the two agree (AUT-6).
 * Negation is pushed down to the comparisons, so that these can use their index. There it needs no care for null: SQL itself
 * has three values.
 */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { isFolded } from '../../model/indexed.ts'
import type { Comparison, Predicate } from '../../model/predicate.ts'
import type { Catalog, Resource } from '../../model/resource.ts'
import { fold } from '../../model/text.ts'
import { retainedSince } from '../../plan/retained.ts'
import { comparisonColumn, foldedColumn } from './columns.ts'
import type { Engine } from './engine.ts'
import type { Epochs } from './epoch.ts'

/** What compiling needs beside the predicate. */
export interface SqlContext {
  readonly catalog: Catalog
  readonly engine: Engine
  /** Of collections that have begun another, the epochs that they had when the storage was opened. */
  readonly epochs?: Epochs
  /** What the entity tags of lists are keyed with: the same on all servers. Without it no pages are read. */
  readonly tagSecret?: Uint8Array
  /**
   * How `through` is asked. Each row's reference is followed (the default), which is right for rows found otherwise: an engine
   * may do so for all rows together, unless rows are looked at one by one until there are enough. Or rows are found by the
   * set of all records that they may refer to.
   */
  readonly through?: 'each' | 'one by one' | 'set'
  /** Whether the records that `through` follows are locked until the transaction ends: what they permit stays permitted. */
  readonly holding?: boolean
  /** A record as a change makes it: `through` follows references to it there, rather than to the row that it changes. */
  readonly changed?: { readonly collection: string; readonly id: string; readonly row: Sql }
  /** `through` follows references to deleted records too, as though they were live, as long as they are retained at this moment. */
  readonly restoredAt?: number
  /** Whether what is compiled is one branch of several. */
  readonly isBranch?: boolean
  /** Whether changes that are too much to be looked at here are asked for on another thread. */
  readonly largeElsewhere?: boolean
  /** Whether the files of exports are kept in the database. */
  readonly keepsPieces?: boolean
}

const operators: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }
const opposites: Readonly<Record<string, string>> = { gt: '<=', gte: '<', lt: '>=', lte: '>' }
const everything = sql`1 = 1`
const nothing = sql`1 = 0`

/**
 * A predicate on the rows of `resource` as an SQL condition.
 *
 * @param alias the table's alias in the statement
 * @param negated compiles the opposite
 */
export function predicateSql(
  context: SqlContext,
  resource: Resource,
  alias: string,
  predicate: Predicate,
  negated = false,
): Sql {
  switch (predicate.kind) {
    case 'always':
      return negated ? nothing : everything
    case 'never':
      return negated ? everything : nothing
    case 'not':
      return predicateSql(context, resource, alias, predicate.term, !negated)
    case 'and':
    case 'or': {
      const conjunction = (predicate.kind === 'and') !== negated
      const inner = conjunction ? context : { ...context, isBranch: true }
      const terms = predicate.terms.map((term) => predicateSql(inner, resource, alias, term, negated))
      return sql`(${join(terms, conjunction ? ' and ' : ' or ')})`
    }
    case 'null': {
      const column = columnSql(alias, comparisonColumn(resource, predicate.field))
      return negated ? sql`${column} is not null` : sql`${column} is null`
    }
    case 'in': {
      const column = columnSql(alias, comparisonColumn(resource, predicate.field))
      const among = context.engine.isAmong(column, predicate.values)
      return negated ? sql`not (${among})` : among
    }
    case 'differs': {
      const column = columnSql(alias, comparisonColumn(resource, predicate.field))
      const { bind, isAmong, isDistinct } = context.engine
      const [only, ...others] = predicate.values
      if (only === undefined) return negated ? nothing : everything
      if (others.length === 0) return negated ? sql`${column} = ${bind(only)}` : isDistinct(column, bind(only))
      const among = isAmong(column, predicate.values)
      return negated ? among : sql`(${column} is null or not (${among}))`
    }
    case 'compare':
      return compareSql(context, resource, alias, predicate, negated)
    case 'through': {
      const found = throughSql(context, alias, predicate, negated)
      return negated ? sql`not ${found}` : found
    }
  }
}

function throughSql(
  context: SqlContext,
  alias: string,
  { collection, field, predicate }: Extract<Predicate, { kind: 'through' }>,
  negated: boolean,
): Sql {
  const target = context.catalog.resources.get(collection) as Resource
  const { engine, changed, restoredAt } = context
  const inner = `${alias}x`
  const reference = columnSql(alias, field)
  // Whatever the record was like, its restoration would be permitted through it.
  if (restoredAt !== undefined && predicate.kind === 'always') return sql`(${reference} is not null)`
  const rest = thereSql(context, target, inner, predicate)
  const from = sql`from ${tableSql(collection)} ${raw(inner)} where`
  // A set that holds no match says nothing of a reference that is null: negation follows each row.
  if (context.through === 'set' && !negated) {
    const ids = sql`select ${raw(inner)}.id ${from} ${rest}`
    return context.isBranch ? engine.isSelected(reference, ids) : sql`${reference} in (${ids})`
  }
  const standalone = context.through === 'one by one' ? engine.alone : empty
  const lock = context.holding ? engine.lock.share : empty
  const found = sql`exists (select 1 ${from} ${raw(inner)}.id = ${reference} and ${rest}${standalone}${lock})`
  if (changed?.collection !== collection) return found
  const itself = sql`exists (select 1 from (${changed.row}) ${raw(inner)} where ${predicateSql(context, target, inner, predicate)})`
  return sql`case when ${reference} = ${changed.id} then ${itself} else ${found} end`
}

/**
 * Live rows that match. A partial index of live rows serves a branch of an `or` only where the branch itself says so.
 *
 * @param alias the table's alias in the statement
 */
export function liveSql(context: SqlContext, resource: Resource, alias: string, predicate: Predicate): Sql {
  const live = sql`${raw(alias)}.deleted_at is null`
  if (predicate.kind === 'always') return live
  if (predicate.kind !== 'or') return sql`${live} and ${predicateSql(context, resource, alias, predicate)}`
  const branches = predicate.terms.map((term) => liveSql({ ...context, isBranch: true }, resource, alias, term))
  return sql`${live} and (${join(branches, ' or ')})`
}

/** Rows that match and that `through` may follow. */
function thereSql(context: SqlContext, resource: Resource, alias: string, predicate: Predicate): Sql {
  const { restoredAt } = context
  if (restoredAt === undefined) return liveSql(context, resource, alias, predicate)
  const deletedAt = sql`${raw(alias)}.deleted_at`
  const retained = sql`(${deletedAt} is null or ${deletedAt} > ${retainedSince(resource, restoredAt)})`
  return sql`${retained} and ${predicateSql(context, resource, alias, predicate)}`
}

function compareSql(
  { engine }: SqlContext,
  resource: Resource,
  alias: string,
  predicate: Extract<Predicate, { kind: 'compare' }>,
  negated: boolean,
): Sql {
  const { field, operator, value } = predicate
  const column = columnSql(alias, comparisonColumn(resource, field))
  const bound = engine.bind(value)
  if (operator === 'eq') return negated ? sql`${column} <> ${bound}` : sql`${column} = ${bound}`
  if (operator === 'contains' || operator === 'startsWith') {
    const held = textSql(engine, resource, alias, operator, field, fold(String(value)))
    return negated ? sql`not (${held})` : held
  }
  const sign = negated ? opposites[operator] : operators[operator]
  return sql`${column} ${raw(sign as string)} ${bound}`
}

function textSql(
  engine: Engine,
  resource: Resource,
  alias: string,
  operator: Comparison,
  name: string,
  part: string,
): Sql {
  const field = resource.field.get(name)
  const indexed = field !== undefined && isFolded(field)
  const text = indexed
    ? columnSql(alias, foldedColumn(name))
    : engine.fold(columnSql(alias, comparisonColumn(resource, name)))
  if (operator === 'contains') return engine.holds(text, part)
  // A range of the folded column's index, rather than a look at every row.
  const end = indexed ? after(part) : undefined
  if (end !== undefined) return sql`(${text} >= ${part} and ${text} < ${end})`
  return engine.begins(text, part)
}

/** The least text greater than all that begin with `prefix`, or `undefined` where there is none. */
export function after(prefix: string): string | undefined {
  const characters = [...prefix]
  while (characters.length > 0) {
    const last = (characters.pop() as string).codePointAt(0) as number
    if (last < 0x10ffff) {
      // Surrogates are no characters: step over them.
      return characters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
    }
  }
  return undefined
}

/** A column of a table alias, quoted. Names come from the catalog only. */
export function columnSql(alias: string, column: string): Sql {
  return raw(`${alias}."${column}"`)
}

/** A resource's table, quoted. */
export function tableSql(collection: string): Sql {
  return raw(`"${collection}"`)
}
