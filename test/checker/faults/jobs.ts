/** Faults of long work. */
import type { Fault } from '../planted.ts'

export const jobsFaults: readonly Fault[] = []
