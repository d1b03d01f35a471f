/** Faults of operation. */
import type { Fault } from '../planted.ts'

export const operationFaults: readonly Fault[] = []
