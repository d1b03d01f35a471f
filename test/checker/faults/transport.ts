/** Faults of transport and hygiene. */
import type { Fault } from '../planted.ts'

export const transportFaults: readonly Fault[] = []
