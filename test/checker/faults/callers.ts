/** Faults of who, and what they may do. */
import type { Fault } from '../planted.ts'

export const callersFaults: readonly Fault[] = []
