/**
 * What events contain of a record (`data`, EVT-3): values of the columns of its row, by the names of the columns.
 * Triggers write them (`Dialect.eventTriggers`), and `Dialect.snapshotSource` reads them back.
 */
import { ruleFields, simpleRules } from 'resourced-contract/model/access-rules'
import type { AccessRule } from 'resourced-contract/model/declaration'
import type { Resource } from 'resourced-contract/model/resource'
import { columnsOf, type SnapshotColumn, snapshotTimestamps } from './columns.ts'
import { changeMarkSql } from './marks.ts'

/** What events contain of the rows of a table. */
export interface EventSpec {
  /** Whether changes are events, and whether states are kept as revisions. */
  readonly hasEvents: boolean
  readonly hasHistory: boolean
  /** In the order of the table. */
  readonly columns: readonly SnapshotColumn[]
  /** What the events of a deletion contain: the columns that access rules compare (DEL-7). */
  readonly kept: readonly SnapshotColumn[]
  /** Whether deleted records are kept for a while, so that their removal is an event of its own. */
  readonly isSoft: boolean
}

/** What events and revisions contain of the records of a resource; `undefined`: it has neither. */
export function eventSpecOf(resource: Resource): EventSpec | undefined {
  const hasHistory = resource.history !== undefined
  if (!resource.events && !hasHistory) return undefined
  const rules = ['read', 'readDeleted', ...(hasHistory ? (['readHistory'] as const) : [])] as const
  const { access, fieldAccess, owner } = resource
  const compared = comparedBy(
    rules.flatMap((action) => access[action]),
    owner,
  )
  const isCompared = (name: string) => compared === 'all' || compared.has(name)
  const byFields = comparedBy(
    [...(fieldAccess?.values() ?? [])].flatMap(({ read }) => read ?? []),
    owner,
  )
  const isNeeded = (name: string) => isCompared(name) || byFields === 'all' || byFields.has(name)
  const declared = columnsOf(resource).filter(({ field, role }) => {
    // Conditions of functions name no writeOnly field.
    if (field.writeOnly) return [compared, byFields].some((each) => each !== 'all' && each.has(field.name))
    return role === 'value' || isNeeded(field.name)
  })
  const columns = [...declared, ...snapshotTimestamps]
  const named = (name: string) => declared.find((column) => column.name === name)?.field.name ?? name
  return {
    ...{ hasEvents: resource.events, hasHistory },
    // `deleted_at` is null while a record is live.
    columns: columns.filter(({ name }) => name !== 'deleted_at').map(plain),
    kept: columns.filter(({ name }) => isCompared(named(name))).map(plain),
    isSoft: resource.deletion.variant === 'soft',
  }
}

/** The fields that some rules compare, system fields too; `all` where a rule is a function. */
function comparedBy(given: readonly AccessRule[], owner: string | undefined): ReadonlySet<string> | 'all' {
  const rules = simpleRules(given)
  if (rules.some((rule) => typeof rule === 'function')) return 'all'
  const owners = owner !== undefined && rules.includes('owner') ? [owner] : []
  return new Set([...owners, ...rules.flatMap(ruleFields)])
}

/** The kind of the event of a change that leaves a record live. */
export const liveKind = "case when old.deleted_at is null then 'updated' else 'restored' end"

/** The kind of a revision that a trigger writes for a change, and of the state before one. */
export const changeKind = `case when new.deleted_at is not null then 'deleted'
  when old.deleted_at is not null then 'restored' else 'updated' end`
export const formerKind = `case when old.deleted_at is not null then 'deleted'
  when old.created_at = old.updated_at then 'created' else 'updated' end`

/**
 * Whether a change goes on: that of many records changes the sums of a record (`sumOf`) with each of them. Together it
 * is one event and one state.
 *
 * @param mark of the running transaction; no mark is -1
 */
export function goesOnSql(mark: string): string {
  const [before, after] = [changeMarkSql('old._revision'), changeMarkSql('new._revision')]
  // In the order of their costs.
  return `(old.deleted_at is null and new.deleted_at is null and ${before} = ${after} and ${after} = ${mark})`
}

/** The time of such a state. A deletion that is undone gives the record its former time back. */
export function timeOf(row: 'new' | 'old'): string {
  return `coalesce(${row}.deleted_at, ${row}.updated_at)`
}

function plain({ name, type }: SnapshotColumn): SnapshotColumn {
  return { name, type }
}
