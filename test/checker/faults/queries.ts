/** Faults of collection parameters. */
import type { Fault } from '../planted.ts'

export const queriesFaults: readonly Fault[] = []
