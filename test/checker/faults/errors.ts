/** Faults of errors. */
import type { Fault } from '../planted.ts'

export const errorsFaults: readonly Fault[] = []
