/** Faults of pages. */
import type { Fault } from '../planted.ts'

export const pagesFaults: readonly Fault[] = []
