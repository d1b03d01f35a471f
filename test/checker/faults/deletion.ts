/** Faults of deletion. */
import type { Fault } from '../planted.ts'

export const deletionFaults: readonly Fault[] = []
