/**
 * Sums of children (`sumOf`): a field of a record that holds the sum of a field of all live records that refer to it.
 * Triggers of the table that is added up change it in the transaction of each change, whoever makes it.
 */
import type { Catalog, Field, Resource } from 'resourced-contract/model/resource'
import { fault, issue } from 'resourced-contract/spec/faults'
import type { Sql } from 'sql-template-tag'
import { comparisonColumn } from './columns.ts'

/** A sum as tables have it: plain data. */
export interface TotalSpec {
  /** The table that holds the sum, its column, and the column of its comparison key; null: it is its own. */
  readonly parent: string
  readonly column: string
  readonly key: string | null
  /** Digits after the point and in all; null: the sum is an integer. */
  readonly scale: number | null
  readonly precision: number
  /** The columns of the table that is added up. */
  readonly reference: string
  readonly amount: string
}

/** The digits of the largest integer that JSON carries exactly. */
const largest = Number.MAX_SAFE_INTEGER

/** The sums of a resource's records. */
export function totalSpecsOf({ resources }: Pick<Catalog, 'resources'>, { totals = [] }: Resource): TotalSpec[] {
  return totals.map(({ collection, field, reference, amount }) => {
    const parent = resources.get(collection) as Resource
    const { decimal } = parent.field.get(field) as Field
    const key = comparisonColumn(parent, field)
    return {
      ...{ parent: collection, column: field, key: key === field ? null : key, reference, amount },
      ...{ scale: decimal?.scale ?? null, precision: decimal?.precision ?? String(largest).length },
    }
  })
}

/** Sums that the same records hold of the same records: they change together, so that each change is one state. */
export type TotalGroup = readonly [TotalSpec, ...TotalSpec[]]

/** The sums of a table in such groups. */
export function groupsOf(specs: readonly TotalSpec[]): TotalGroup[] {
  return [...Map.groupBy(specs, ({ parent, reference }) => `${parent} ${reference}`).values()] as never
}

/** The least number that a sum may not reach, as an integer of its last digits. */
export function boundOfTotal({ scale, precision }: Pick<TotalSpec, 'scale' | 'precision'>): bigint {
  return scale === null ? BigInt(largest) + 1n : 10n ** BigInt(precision)
}

/** The refusal of a change that would make a sum too large. */
export function totalTooLarge(amount: string): Error {
  return fault('CONFLICT', { errors: [issue('totalRange', { field: amount })] })
}

/**
 * Keeps others from changing a record that is referred to, as text at the end of a select. A record that holds a sum of
 * those that refer to it changes with them: two transactions that shared its lock would wait for each other.
 */
export function shareLock(
  { lock }: { readonly lock: Readonly<Record<'share' | 'update', Sql>> },
  { fields }: Resource,
): Sql {
  return fields.some(({ sumOf }) => sumOf !== undefined) ? lock.update : lock.share
}
