/** Faults of limits. */
import type { Fault } from '../planted.ts'

export const limitsFaults: readonly Fault[] = []
