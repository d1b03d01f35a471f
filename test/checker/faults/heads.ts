/** Faults of HEAD and ranges. */
import type { Fault } from '../planted.ts'

export const headsFaults: readonly Fault[] = []
