/** Faults of methods. */
import type { Fault } from '../planted.ts'
import { mannersFaults } from './methods/manners.ts'
import { writingFaults } from './methods/writing.ts'

export const methodsFaults: readonly Fault[] = [...writingFaults, ...mannersFaults]
