/**
 * Random marks in revisions and clocks. A database that loses its last changes (an older copy, a failover to a replica
 * that lacked some) counts on from before them. With a mark drawn for each change, it never reaches a state of the lost
 * ones again, so no entity tag and no remembered answer of a lost state fits a later one.
 */

import { randomInt } from 'node:crypto'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Bound } from '../transaction.ts'

/** The lower bits of a revision count the changes of its record; the upper ones are the mark of the last change. */
const counted = 2 ** 20
/** So many bits of a clock count. Sums over the slots of all collections stay exact numbers. */
const clockRange = 2 ** 40

/** The mark of the change that made a revision, in SQL. */
export function changeMarkSql(revision: string): string {
  return `${revision} - ${revision} % ${counted}`
}

/** Draws the mark of a change of records: a revision without its count. */
export function newMark(): number {
  return randomInt(1, 2 ** 32) * counted
}

/** The next revision of a record, in SQL that changes its row. */
export function nextRevisionSql(mark: Bound): Sql {
  return sql`((_revision + 1) & ${raw(String(counted - 1))}) + ${mark}`
}

/** Draws how far a change advances the clock of its collection. */
export function newStride(): number {
  return randomInt(1, clockRange)
}

/** The next state of a clock, in SQL that changes its row. */
export function nextClockSql(stride: Bound): Sql {
  return sql`(revision + ${stride}) & ${raw(String(clockRange - 1))}`
}

/** The same for a state that was read. */
export function advance(revision: number, stride: number): number {
  return (revision + stride) % clockRange
}
