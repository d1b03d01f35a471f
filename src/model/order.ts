/** The order of a list, and a place in it. */
import type { Scalar } from './predicate.ts'

/** One term of an order. */
export interface SortTerm {
  readonly field: string
  readonly descending: boolean
}

/** A place in an ordered list: the sort keys and the id of the record beside it. */
export interface Position {
  readonly direction: 'forward' | 'backward'
  /** One key for each sort term, then the id; none: the edge of the list. */
  readonly keys: readonly (Scalar | null)[]
}
