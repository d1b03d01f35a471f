/** Faults of addressing and fields. */
import type { Fault } from '../planted.ts'

export const resourcesFaults: readonly Fault[] = []
