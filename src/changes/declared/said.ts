/** A difference between two declarations, told by the resource that it is in. */
import type { Difference } from '../finding.ts'

export type Said = Omit<Difference, 'resources' | 'operations' | 'places' | 'version' | 'direction'> & {
  /** The steps to it, below the resource or, of limits, below the declaration. */
  readonly at: readonly string[]
}
