/** The lock of a record that others refer to. */
import type { Resource } from 'resourced-contract/model/resource'
import type { Sql } from 'sql-template-tag'
import type { Dialect } from './dialect.ts'

/**
 * Keeps others from changing a record, as text at the end of a select. A record that holds a sum of those that refer
 * to it changes with them: two transactions that shared its lock would wait for each other.
 */
export function shareLock({ lock }: Pick<Dialect, 'lock'>, { fields }: Resource): Sql {
  return fields.some(({ sumOf }) => sumOf !== undefined) ? lock.update : lock.share
}
