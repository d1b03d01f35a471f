/**
 * Predicates as SQL, with the same meaning as `matches` in model/predicate.ts (AUT-6). Negation is pushed down to the
 * comparisons, so that they can use an index. It needs no special case for null, because SQL has three truth values.
 */

import {
  allOf,
  comparedNames,
  type EventGrant,
  evaluate,
  isOfAllRecords,
  linkOf,
  type Predicate,
  partsOf,
} from 'resourced-contract/model/predicate'
import { isHistory, type Resource } from 'resourced-contract/model/resource'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import {
  columnSql,
  comparisonColumn,
  foldedColumn,
  isRemoval,
  positionSql,
  type RecordedRow,
  recordedRow,
  snapshotColumns,
  subject,
  tableSql,
} from './columns.ts'
import type { SqlContext } from './context.ts'
import { comparisonSql } from './operators.ts'
import { foldedSql, textSql } from './text-comparison.ts'
import { shareLock } from './totals.ts'
import { itemToken } from './values.ts'

/**
 * The context of predicates, and how statements compile the conditions on other records: `through` on the record that a
 * reference leads to, and `some` on any live record of a collection.
 */
export interface PredicateContext extends SqlContext {
  /**
   * The subquery that `through` and `some` become. `exists` (the default) looks for the other records of each row, and
   * the planner may turn it into a join. `fenced exists` keeps the planner from that: for rows that are read one by one
   * until there are enough. `in` finds rows by the set of all records that they may refer to, or of the values that
   * these records have, and events by the set of their records.
   */
  readonly semijoin?: 'exists' | 'fenced exists' | 'in'
  /** Whether each subquery is planned by itself, because a statement has too many of them (`fenceMany`). */
  readonly isFenced?: boolean
  /**
   * Whether the records that `through` leads to are locked (FOR SHARE), so that their permission stays valid; and one
   * of the records that `some` finds. No lock covers the records that a negated `some` does not find.
   */
  readonly locksReferenced?: boolean
  /**
   * A row as a change will make it: references to it lead to this row instead of the stored one. `some` finds stored
   * rows only: otherwise whoever creates a membership would be permitted by that membership.
   */
  readonly pendingRow?: { readonly collection: string; readonly id: string; readonly row: Sql }
  /**
   * Since when deleted records of a collection count as live for `through`; live records only, where left out. A parent
   * that is deleted with its children still owns them. A record that `some` looks for is itself the right, such as a
   * membership: once it is deleted, the right is gone. So `some` counts live records always.
   */
  readonly deletedSince?: (resource: Resource) => string
  /** Whether deleted records count as live for `through`, and not for `some`, as long as they have a row. */
  readonly countsDeleted?: boolean
  /**
   * Since when deleted records of a collection are retained. `through` then also leads from a deleted row to the record
   * that the same deletion has deleted, if its predicate says what that must match.
   */
  readonly binSince?: (resource: Resource) => string
  /** Whether arrays with an item are found by the full-text index: for rows of the table itself that are looked for. */
  readonly findsItems?: boolean
}

/** The rows that a predicate is compiled for. */
interface Rows {
  readonly resource: Resource
  readonly alias: string
  /** Compiles the negation. */
  readonly negated?: boolean
  /** Whether the predicate is one branch of an OR. */
  readonly isBranch?: boolean
  /** The rows that the innermost `some` is about. */
  readonly outer?: Pick<Rows, 'resource' | 'alias'>
}

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
  return conditionSql(fenceMany(context, predicate), { resource, alias }, predicate)
}

// The default of `join_collapse_limit`: PostgreSQL takes seconds to plan many more semi-joins than it orders at once.
const mostJoined = 8

/** Fences the subqueries of predicates that have more of them together than the planner joins in time. */
export function fenceMany(context: PredicateContext, ...predicates: readonly Predicate[]): PredicateContext {
  return predicates.reduce(countLookups, 0) > mostJoined ? { ...context, isFenced: true } : context
}

function countLookups(sum: number, predicate: Predicate): number {
  if (predicate.kind === 'through' || predicate.kind === 'some') return countLookups(sum + 1, predicate.predicate)
  return partsOf(predicate).reduce(countLookups, sum)
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
  return liveRowsSql(fenceMany(context, predicate), { resource, alias }, predicate)
}

function liveRowsSql(context: PredicateContext, rows: Rows, predicate: Predicate): Sql {
  // Events and revisions are always live: without the condition, their indexes alone can count them.
  if (rows.resource.order === 'by-position') return conditionSql(context, rows, predicate)
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
      const live = throughSql(context, rows, predicate)
      const together = togetherSql(context, rows, predicate)
      const found = together === undefined ? live : sql`(${live} or ${together})`
      return negated ? sql`not ${found}` : found
    }
    case 'some': {
      const found = someSql(context, rows, predicate)
      return negated ? sql`not ${found}` : found
    }
    case 'event': {
      const isFound = context.semijoin === 'in' && !negated && !isHistory(resource)
      const readable = isFound ? foundEventsSql(context, rows, predicate) : eventSql(context, rows, predicate)
      return negated ? sql`not ${readable}` : readable
    }
    case 'masked':
      return maskedSql(context, rows, predicate)
  }
  const column = columnSql(alias, comparisonColumn(resource, predicate.field))
  const { bind, isAnyOf, isDistinct } = context.dialect
  switch (predicate.kind) {
    case 'has': {
      const found = itemsSql(context, rows, predicate)
      return negated ? sql`(${column} is not null and not ${found})` : found
    }
    case 'null':
      return negated ? sql`${column} is not null` : sql`${column} is null`
    case 'decided':
      // Unknown selects as many rows as false, because negations are in the comparisons.
      return predicate.holds === negated ? nothing : sql`${column} is not null`
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
    case 'outer': {
      const { outer: about } = rows
      // Unknown selects no row, negated or not.
      if (about === undefined) return nothing
      const words = comparisonSql[predicate.operator]
      if ('length' in words) {
        const other = columnSql(about.alias, comparisonColumn(about.resource, predicate.outer))
        return sql`${column} ${words[negated ? 1 : 0]} ${other}`
      }
      const [text, part] = [foldedSql(context, rows, predicate.field), foldedSql(context, about, predicate.outer)]
      const found = context.dialect.compareText(words, text, part)
      return negated ? sql`not (${found})` : found
    }
    case 'compare': {
      const { operator, value } = predicate
      // After an event is after its position, which clients do not have.
      if (predicate.field === 'id' && resource.order === 'by-position' && operator === 'gt') {
        return sql`${columnSql(alias, '_row')} ${raw(negated ? '<=' : '>')} ${positionSql(resource, value)}`
      }
      const words = comparisonSql[operator]
      if ('length' in words) return sql`${column} ${words[negated ? 1 : 0]} ${bind(value)}`
      const found = textSql(context, rows, predicate, words)
      return negated ? sql`not (${found})` : found
    }
  }
}

/**
 * The rows whose array has items: found by the full-text index, which has a token of each item, or decided by the array
 * itself, which rows of any source have.
 */
function itemsSql(
  { dialect, findsItems }: PredicateContext,
  { resource, alias, negated }: Rows,
  { field, values, all }: Extract<Predicate, { kind: 'has' }>,
): Sql {
  if (findsItems !== true || negated) return dialect.hasItems(columnSql(alias, field), values, all)
  const tokens = values.map((value) => itemToken(field, value))
  return sql`(${dialect.matchesSearch(resource.name, alias, all ? { all: tokens } : { any: tokens })})`
}

/** In a condition of CASE, unknown is not true: the same as for `matches`. */
function maskedSql(
  context: PredicateContext,
  rows: Rows,
  { readable, term }: Extract<Predicate, { kind: 'masked' }>,
): Sql {
  const unset = evaluate({}, term)
  const ofNull = unset === undefined ? raw('null') : unset !== (rows.negated ?? false) ? everything : nothing
  const isReadable = conditionSql(context, { ...rows, negated: false, isBranch: true }, readable)
  const shown = conditionSql(context, { ...rows, isBranch: true }, term)
  return sql`case when ${isReadable} then ${shown} else ${ofNull} end`
}

function throughSql(
  context: PredicateContext,
  { alias, negated = false, isBranch = false }: Rows,
  { collection, field, predicate }: Extract<Predicate, { kind: 'through' }>,
): Sql {
  const { resources, system } = context.catalog
  const target = (resources.get(collection) ?? system.get(collection)) as Resource
  const { dialect, semijoin, pendingRow } = context
  const referenced: Rows = { resource: target, alias: `${alias}x`, isBranch }
  const inner = raw(referenced.alias)
  const reference = columnSql(alias, field)
  // The referenced record permits this in any state.
  const isAnyState = context.deletedSince !== undefined || context.countsDeleted === true
  if (isAnyState && predicate.kind === 'always') return sql`(${reference} is not null)`
  const rest = referencedSql(context, referenced, predicate)
  const from = sql`from ${tableSql(collection)} ${inner} where`
  const fence = semijoin === 'fenced exists' || context.isFenced ? dialect.fence : empty
  // NOT IN is unknown for a reference that is null, so a negation follows each row.
  if (semijoin === 'in' && !negated) {
    const ids = sql`select ${inner}.id ${from} ${rest}`
    return isBranch ? dialect.isInSubquery(reference, ids) : sql`${reference} in (${ids}${fence})`
  }
  const lock = context.locksReferenced ? shareLock(dialect, referenced.resource) : empty
  const found = sql`exists (select 1 ${from} ${inner}.id = ${reference} and ${rest}${fence}${lock})`
  if (pendingRow?.collection !== collection) return found
  const condition = conditionSql(context, referenced, predicate)
  const itself = sql`exists (select 1 from (${pendingRow.row}) ${inner} where ${condition})`
  return sql`case when ${reference} = ${pendingRow.id} then ${itself} else ${found} end`
}

function someSql(
  context: PredicateContext,
  rows: Rows,
  { collection, predicate }: Extract<Predicate, { kind: 'some' }>,
): Sql {
  const { alias, resource, negated = false, isBranch = false } = rows
  const { resources, system } = context.catalog
  const target = (resources.get(collection) ?? system.get(collection)) as Resource
  const { dialect, semijoin } = context
  const found: Rows = { resource: target, alias: `${alias}x`, isBranch, outer: { resource, alias } }
  const inner = raw(found.alias)
  const from = sql`from ${tableSql(collection)} ${inner} where`
  const fence = semijoin === 'fenced exists' || context.isFenced ? dialect.fence : empty
  const link = semijoin === 'in' && !negated ? linkOf(predicate) : undefined
  if (link !== undefined) {
    const { field, outer, rest } = link
    const column = columnSql(found.alias, comparisonColumn(target, field))
    const held = sql`select ${column} ${from} ${liveRowsSql(context, found, rest)}`
    const own = columnSql(alias, comparisonColumn(resource, outer))
    return isBranch ? dialect.isInSubquery(own, held) : sql`${own} in (${held}${fence})`
  }
  const lock = context.locksReferenced ? shareLock(dialect, found.resource) : empty
  const live = liveRowsSql(context, found, predicate)
  return sql`exists (select 1 ${from} ${live}${fence}${lock})`
}

/** The same for a deleted row and the record that the same deletion has deleted; `undefined`: only live ones count. */
function togetherSql(
  context: PredicateContext,
  { alias }: Rows,
  { collection, field, deleted }: Extract<Predicate, { kind: 'through' }>,
): Sql | undefined {
  const { binSince, deletedSince, countsDeleted } = context
  if (deleted === undefined || binSince === undefined) return undefined
  // Both say that deleted records count as live.
  if (deletedSince !== undefined || countsDeleted === true) return undefined
  const resource = context.catalog.resources.get(collection) as Resource
  const parent = `${alias}x`
  const refers = sql`${columnSql(parent, 'id')} = ${columnSql(alias, field)}`
  const isSame = sql`${columnSql(parent, '_deletion')} = ${columnSql(alias, '_deletion')}`
  const areDeleted = sql`${columnSql(alias, 'deleted_at')} is not null and ${isSame}`
  const isRetained = sql`${columnSql(parent, 'deleted_at')} > ${binSince(resource)}`
  const matches = conditionSql({ ...context, semijoin: 'exists' }, { resource, alias: parent, isBranch: true }, deleted)
  const found = sql`${refers} and ${areDeleted} and ${isRetained} and ${matches}`
  return sql`exists (select 1 from ${tableSql(collection)} ${raw(parent)} where ${found})`
}

/** The rows that match and that a reference may lead to. */
function referencedSql(context: PredicateContext, rows: Rows, predicate: Predicate): Sql {
  const { deletedSince, countsDeleted } = context
  if (countsDeleted) return conditionSql(context, rows, predicate)
  if (deletedSince === undefined) return liveRowsSql(context, rows, predicate)
  const deletedAt = sql`${raw(rows.alias)}.deleted_at`
  const retained = sql`(${deletedAt} is null or ${deletedAt} > ${deletedSince(rows.resource)})`
  return sql`${retained} and ${conditionSql(context, rows, predicate)}`
}

// The permission to read events (EVT-4): the read rule of a collection holds for the record as the event shows it and
// as it is, and what is left of a deleted record depends on `readDeleted`.

type EventPermission = Extract<Predicate, { readonly kind: 'event' }>

/**
 * The events of the table `alias` that may be read. It is true or false, never unknown.
 */
function eventSql(context: PredicateContext, { resource, alias }: Rows, permission: EventPermission): Sql {
  const collection = columnSql(alias, 'collection')
  const row = recordedRow(resource, alias)
  const { grants } = permission
  // The removal of a record empties its events, except for those that say so.
  if (isOfAllRecords(permission)) {
    const known = context.dialect.isAnyOf(
      collection,
      grants.map((grant) => grant.collection),
    )
    return sql`(${raw(row.shown)} is not null and ${known})`
  }
  const cases = grants.map((grant) => sql`when ${grant.collection} then ${grantSql(context, { alias, row }, grant)}`)
  return sql`(case ${collection} ${join(cases, ' ')} else 0 end = 1)`
}

/**
 * The same events, found by the records that may be read: permission is decided once for each record, and not for each
 * of its events. Only the events of removals are left of records without a row.
 */
function foundEventsSql(context: SqlContext, { resource: events, alias }: Rows, { grants }: EventPermission): Sql {
  const dependent = grants.filter(({ read }) => read.kind !== 'always')
  if (dependent.length === 0) return eventSql(context, { resource: events, alias }, { kind: 'event', grants })
  const others = grants.filter((grant) => !dependent.includes(grant))
  const event = `${alias}e`
  const found = { resource: events, alias: event }
  const shown = recordedRow(events, event)
  const column = (name: string) => columnSql(event, name)
  const ofRecords = dependent.map(({ collection, read, readDeleted }) => {
    const resource = context.catalog.resources.get(collection) as Resource
    const row = `${event}r`
    const live = liveSql({ ...context, semijoin: 'in' }, resource, read, row)
    const deleted = predicateSql({ ...inAnyState(context), semijoin: 'in' }, resource, allOf([read, readDeleted]), row)
    const ids = sql`select ${columnSql(row, 'id')} from ${tableSql(collection)} ${raw(row)} where`
    const records = sql`${ids} ${live} union all ${ids} ${columnSql(row, 'deleted_at')} is not null and ${deleted}`
    const isKept = sql`${column('collection')} = ${collection} and ${column('data')} is not null`
    const shows = showsSql(context, shown, `${event}s`, resource, read)
    return sql`${isKept} and ${column('record')} in (${records}) and ${shows}`
  })
  const ofRemovals = sql`${raw(isRemoval)} and ${eventSql(context, found, { kind: 'event', grants: dependent })}`
  const parts = [...ofRecords, ofRemovals]
  if (others.length > 0) parts.push(eventSql(context, found, { kind: 'event', grants: others }))
  const rows = parts.map((part) => sql`select ${column('_row')} from events ${raw(event)} where ${part}`)
  return sql`${columnSql(alias, '_row')} in (${join(rows, ' union all ')})`
}

/** A parent that was deleted too still counts for a record that is not live, and for what an event shows. */
function inAnyState(context: SqlContext): PredicateContext {
  return { ...context, semijoin: 'exists', countsDeleted: true, findsItems: false }
}

/** Whether a predicate holds for the record as an event shows it. */
function showsSql(context: SqlContext, row: RecordedRow, shown: string, resource: Resource, predicate: Predicate): Sql {
  const holds = predicateSql(inAnyState(context), resource, predicate, shown)
  if (predicate.kind === 'always' || predicate.kind === 'never') return holds
  const compared = comparedNames(predicate).flatMap((name) => [comparisonColumn(resource, name), foldedColumn(name)])
  // A predicate may compare nothing but the id, and PostgreSQL needs a column.
  const columns = snapshotColumns(resource).filter(({ name }) => [...compared, 'created_at'].includes(name))
  const snapshot = context.dialect.snapshotSource(row, columns)
  return sql`exists (select 1 from ${snapshot} ${raw(shown)} where ${holds})`
}

/** 1 where a grant holds for an event of its collection, otherwise 0. */
function grantSql(
  context: PredicateContext,
  { alias, row: shown }: { readonly alias: string; readonly row: RecordedRow },
  grant: EventGrant,
): Sql {
  const { collection, read, readDeleted, history } = grant
  const data = sql`${raw(shown.shown)} is not null`
  if (read.kind === 'always' && readDeleted.kind === 'always' && history === undefined) return bit(data)
  const resource = context.catalog.resources.get(collection) as Resource
  const kind = columnSql(alias, 'kind')
  // The record as it is, if it is live, is judged as any read of it.
  const lenient = inAnyState(context)
  const strict: PredicateContext = { ...context, semijoin: 'exists', findsItems: false }
  const row = `${alias}r`
  const isShown = (predicate: Predicate) => showsSql(context, shown, `${alias}s`, resource, predicate)
  const deletion = sql`${kind} = 'deleted'`
  const whileLive = bit(predicateSql(strict, resource, read, row))
  const mayReadDeleted = predicateSql(lenient, resource, readDeleted, row)
  const shownDeleted =
    history === undefined ? sql`(${deletion} or ${mayReadDeleted})` : retainedSql(row, history, mayReadDeleted)
  const onceDeleted = bit(sql`${predicateSql(lenient, resource, read, row)} and ${shownDeleted}`)
  const now = sql`case when ${columnSql(row, 'deleted_at')} is null then ${whileLive} else ${onceDeleted} end`
  const source = sql`${tableSql(collection)} ${raw(row)}`
  const current = sql`select ${now} from ${source} where ${columnSql(row, 'id')} = ${raw(shown.id)}`
  const gone =
    history !== undefined ? raw('0') : bit(sql`${deletion} or (${kind} = 'purged' and ${isShown(readDeleted)})`)
  const before = read.kind === 'always' ? empty : sql` and ${isShown(read)}`
  return bit(sql`${data} and coalesce((${current}), ${gone}) = 1${before}`)
}

/** Whether a deleted record is still kept, and may be read. */
function retainedSql(row: string, { deletedSince }: NonNullable<EventGrant['history']>, mayRead: Sql): Sql {
  if (deletedSince === undefined) return nothing
  return sql`${columnSql(row, 'deleted_at')} > ${deletedSince} and ${mayRead}`
}

function bit(condition: Sql): Sql {
  return sql`case when ${condition} then 1 else 0 end`
}
