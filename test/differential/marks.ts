/** Marks of revisions and clocks that are the same on both engines: they count, as if no change could be lost. */
export { advance, nextClockSql, nextRevisionSql } from '../../packages/server/src/storage/sql/marks.ts'

/** @returns the mark of every change */
export function newMark(): number {
  return 0
}

/** @returns how far every change advances a clock */
export function newStride(): number {
  return 1
}
