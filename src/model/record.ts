/** Records: the comparison keys of their values, and drafts of records that are not stored yet. */

import type { Issue } from '../spec/faults.ts'
import { decimalKeyOf } from './decimal.ts'
import type { Comparable, Scalar } from './predicate.ts'
import type { Field, RecordValues, Resource } from './resource.ts'
import { instantKey, timestamp } from './time.ts'

/** A record as a request would make it. */
export interface Draft {
  /** Each value fits its field: a value that does not is `null`, so that readers of a draft need not check it. */
  readonly values: RecordValues
  /** What makes it invalid: 400. */
  readonly issues: readonly Issue[]
  /** The declared fields whose value differs from the current one; on creation all that have a value. */
  readonly changed: readonly string[]
}

/** How the values of a declared or system field are compared; `undefined`: no such field. */
export function comparableType(resource: Resource, name: string): Field['type'] | 'timestamp' | undefined {
  if (name === 'id') return 'string'
  if (name === 'created_at' || name === 'updated_at' || name === 'deleted_at') return 'timestamp'
  return resource.field.get(name)?.type
}

/**
 * The comparison key of a value: instants and decimals in one spelling, other values unchanged. `undefined` if the
 * value does not fit the field: then no comparison is true.
 */
export function comparisonKey(resource: Resource, name: string, value: unknown): Scalar | undefined {
  switch (comparableType(resource, name)) {
    case 'timestamp': {
      const milliseconds = typeof value === 'string' && instantKey(value) !== undefined ? Date.parse(value) : Number.NaN
      return Number.isNaN(milliseconds) ? undefined : timestamp(milliseconds)
    }
    case 'string':
      if (typeof value !== 'string') return undefined
      return resource.field.get(name)?.format === 'date-time' ? instantKey(value) : value
    case 'decimal':
      return decimalKeyOf(value)
    case 'integer':
    case 'number':
      return typeof value === 'number' ? value : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    default:
      return undefined
  }
}

/**
 * The comparison keys of a record, for `matches`. Values that cannot be compared become a constant that is not `null`.
 */
export function comparisonKeys(resource: Resource, record: RecordValues): Comparable {
  const keys: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(record)) {
    keys[name] = value === null || value === undefined ? null : (comparisonKey(resource, name, value) ?? opaque)
  }
  return keys
}

// Not null, and equal to no value in a condition.
const opaque = Object.freeze({})
