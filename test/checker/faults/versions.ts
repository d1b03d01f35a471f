/** Faults of versions. */
import type { Fault } from '../planted.ts'

export const versionsFaults: readonly Fault[] = []
