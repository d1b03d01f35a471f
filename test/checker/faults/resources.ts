/** Faults of addressing and fields. */
import type { Fault } from '../planted.ts'
import { identityFaults } from './resources/identity.ts'
import { recordsFaults } from './resources/records.ts'

export const resourcesFaults: readonly Fault[] = [...identityFaults, ...recordsFaults]
