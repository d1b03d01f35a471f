/** Faults of documents. */
import type { Fault } from '../planted.ts'

export const documentsFaults: readonly Fault[] = []
