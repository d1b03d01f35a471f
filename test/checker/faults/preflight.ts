/** Faults of OPTIONS and CORS. */
import type { Fault } from '../planted.ts'

export const preflightFaults: readonly Fault[] = []
