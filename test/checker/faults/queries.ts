/** Faults of collection parameters. */
import type { Fault } from '../planted.ts'
import { filterFaults } from './queries-filters.ts'
import { refusalFaults } from './queries-refused.ts'
import { shapeFaults } from './queries-shape.ts'

export const queriesFaults: readonly Fault[] = [...filterFaults, ...shapeFaults, ...refusalFaults]
