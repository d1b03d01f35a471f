/**
 * Predicates as SQL, with the same meaning as `matches` in model/predicate.ts (AUT-6). Negation is pushed down to the
 * comparisons, so that they can use an index. It needs no special case for null, because SQL has three truth values.
 */
import { hash } from 'node:crypto'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { Predicate } from '../../model/predicate.ts'
import { isFolded, type Resource } from '../../model/resource.ts'
import { fold } from '../../model/text.ts'
import { columnSql, comparisonColumn, foldedColumn, subject, tableSql } from './columns.ts'
import type { SqlContext } from './context.ts'
import type { Engine } from './engine.ts'

/**
 * The context of predicates, and how statements compile `through`, which is a condition on the record that a reference
 * leads to.
 */
export interface PredicateContext extends SqlContext {
  /**
   * The subquery that `through` becomes. `exists` (the default) follows each row's reference, and the planner may turn
   * it into a join. `fenced exists` keeps the planner from that: for rows that are read one by one until there are
   * enough. `in` finds rows by the set of all records that they may refer to.
   */
  readonly semijoin?: 'exists' | 'fenced exists' | 'in'
  /** Whether the records that `through` leads to are locked (FOR SHARE), so that their permission stays valid. */
  readonly locksReferenced?: boolean
  /** A row as a change will make it: references to it lead to this row instead of the stored one. */
  readonly pendingRow?: { readonly collection: string; readonly id: string; readonly row: Sql }
  /** Since when deleted records of a collection count as live for `through`; live records only, where left out. */
  readonly deletedSince?: (resource: Resource) => string
}

const digests = new WeakMap<Predicate, string>()

/**
 * The digest of a predicate, as a part of cache keys; empty for `always`. It is computed once for each predicate
 * object. It is a cryptographic hash, so that no caller can write two filters with one digest.
 */
export function predicateDigest(predicate: Predicate): string {
  if (predicate.kind === 'always') return ''
  const known = digests.get(predicate)
  if (known !== undefined) return known
  const digest = hash('sha256', JSON.stringify(predicate), 'base64url').slice(0, 22)
  digests.set(predicate, digest)
  return digest
}

/** The rows that a predicate is compiled for. */
interface Rows {
  readonly resource: Resource
  readonly alias: string
  /** Compiles the negation. */
  readonly negated?: boolean
  /** Whether the predicate is one branch of an OR. */
  readonly isBranch?: boolean
}

const operators: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }
const opposites: Readonly<Record<string, string>> = { gt: '<=', gte: '<', lt: '>=', lte: '>' }
const everything = sql`1 = 1`
const nothing = sql`1 = 0`

/**
 * A predicate on the rows of `resource` as an SQL condition.
 *
 * @param alias the table's alias in the statement
 */
export function predicateSql(
  context: PredicateContext,
  resource: Resource,
  predicate: Predicate,
  alias: string = subject,
): Sql {
  return conditionSql(context, { resource, alias }, predicate)
}

/**
 * Live rows that match. A partial index of live rows serves a branch of an OR only where the branch itself says so.
 *
 * @param alias the table's alias in the statement
 */
export function liveSql(
  context: PredicateContext,
  resource: Resource,
  predicate: Predicate,
  alias: string = subject,
): Sql {
  return liveRowsSql(context, { resource, alias }, predicate)
}

function liveRowsSql(context: PredicateContext, rows: Rows, predicate: Predicate): Sql {
  const live = sql`${raw(rows.alias)}.deleted_at is null`
  if (predicate.kind === 'always') return live
  if (predicate.kind !== 'or') return sql`${live} and ${conditionSql(context, rows, predicate)}`
  const branches = predicate.terms.map((term) => liveRowsSql(context, { ...rows, isBranch: true }, term))
  return sql`${live} and (${join(branches, ' or ')})`
}

function conditionSql(context: PredicateContext, rows: Rows, predicate: Predicate): Sql {
  const { resource, alias, negated = false } = rows
  switch (predicate.kind) {
    case 'always':
      return negated ? nothing : everything
    case 'never':
      return negated ? everything : nothing
    case 'not':
      return conditionSql(context, { ...rows, negated: !negated }, predicate.term)
    case 'and':
    case 'or': {
      const conjunction = (predicate.kind === 'and') !== negated
      const inner = conjunction ? rows : { ...rows, isBranch: true }
      const terms = predicate.terms.map((term) => conditionSql(context, inner, term))
      return sql`(${join(terms, conjunction ? ' and ' : ' or ')})`
    }
    case 'through': {
      const found = throughSql(context, rows, predicate)
      return negated ? sql`not ${found}` : found
    }
  }
  const column = columnSql(alias, comparisonColumn(resource, predicate.field))
  const { bind, isAnyOf, isDistinct } = context.engine
  switch (predicate.kind) {
    case 'null':
      return negated ? sql`${column} is not null` : sql`${column} is null`
    case 'in': {
      const among = isAnyOf(column, predicate.values)
      return negated ? sql`not (${among})` : among
    }
    case 'differs': {
      const [only, ...others] = predicate.values
      if (only === undefined) return negated ? nothing : everything
      if (others.length === 0) return negated ? sql`${column} = ${bind(only)}` : isDistinct(column, bind(only))
      const among = isAnyOf(column, predicate.values)
      return negated ? among : sql`(${column} is null or not (${among}))`
    }
    case 'compare': {
      const { operator, value } = predicate
      const bound = bind(value)
      if (operator === 'eq') return negated ? sql`${column} <> ${bound}` : sql`${column} = ${bound}`
      if (operator === 'contains' || operator === 'startsWith') {
        const found = textSql(context.engine, rows, predicate, column)
        return negated ? sql`not (${found})` : found
      }
      const sign = negated ? opposites[operator] : operators[operator]
      return sql`${column} ${raw(sign as string)} ${bound}`
    }
  }
}

function throughSql(
  context: PredicateContext,
  { alias, negated = false, isBranch = false }: Rows,
  { collection, field, predicate }: Extract<Predicate, { kind: 'through' }>,
): Sql {
  const target = context.catalog.resources.get(collection) as Resource
  const { engine, semijoin, pendingRow, deletedSince } = context
  const referenced: Rows = { resource: target, alias: `${alias}x`, isBranch }
  const inner = raw(referenced.alias)
  const reference = columnSql(alias, field)
  // The referenced record permits this in any state.
  if (deletedSince !== undefined && predicate.kind === 'always') return sql`(${reference} is not null)`
  const rest = referencedSql(context, referenced, predicate)
  const from = sql`from ${tableSql(collection)} ${inner} where`
  // NOT IN is unknown for a reference that is null, so a negation follows each row.
  if (semijoin === 'in' && !negated) {
    const ids = sql`select ${inner}.id ${from} ${rest}`
    return isBranch ? engine.isInSubquery(reference, ids) : sql`${reference} in (${ids})`
  }
  const fence = semijoin === 'fenced exists' ? engine.fence : empty
  const lock = context.locksReferenced ? engine.lock.share : empty
  const found = sql`exists (select 1 ${from} ${inner}.id = ${reference} and ${rest}${fence}${lock})`
  if (pendingRow?.collection !== collection) return found
  const condition = conditionSql(context, referenced, predicate)
  const itself = sql`exists (select 1 from (${pendingRow.row}) ${inner} where ${condition})`
  return sql`case when ${reference} = ${pendingRow.id} then ${itself} else ${found} end`
}

/** The rows that match and that a reference may lead to. */
function referencedSql(context: PredicateContext, rows: Rows, predicate: Predicate): Sql {
  const { deletedSince } = context
  if (deletedSince === undefined) return liveRowsSql(context, rows, predicate)
  const deletedAt = sql`${raw(rows.alias)}.deleted_at`
  const retained = sql`(${deletedAt} is null or ${deletedAt} > ${deletedSince(rows.resource)})`
  return sql`${retained} and ${conditionSql(context, rows, predicate)}`
}

/** A text that contains another or begins with it, ignoring case. */
function textSql(
  engine: Engine,
  { resource, alias }: Rows,
  { field: name, operator, value }: Extract<Predicate, { kind: 'compare' }>,
  column: Sql,
): Sql {
  const part = fold(String(value))
  const field = resource.field.get(name)
  const indexed = field !== undefined && isFolded(field)
  const text = indexed ? columnSql(alias, foldedColumn(name)) : engine.fold(column)
  if (operator === 'contains') return engine.contains(text, part)
  // A range of the folded column's index instead of a check of every row.
  const end = indexed ? after(part) : undefined
  if (end !== undefined) return sql`(${text} >= ${part} and ${text} < ${end})`
  return engine.startsWith(text, part)
}

/** The least text greater than every text with this prefix; `undefined` if there is none. */
export function after(prefix: string): string | undefined {
  const characters = [...prefix]
  while (characters.length > 0) {
    const last = (characters.pop() as string).codePointAt(0) as number
    if (last < 0x10ffff) {
      // Surrogates are not characters: skip them.
      return characters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
    }
  }
  return undefined
}
