/** Faults of methods. */
import type { Fault } from '../planted.ts'

export const methodsFaults: readonly Fault[] = []
