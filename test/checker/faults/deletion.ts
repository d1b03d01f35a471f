/** Faults of deletion. */
import type { Fault } from '../planted.ts'
import { answerFaults } from './deletion/answers.ts'
import { bulkFaults, filterFaults } from './deletion/bulk.ts'
import { dependentFaults } from './deletion/dependents.ts'
import { goneFaults } from './deletion/gone.ts'
import { restoreFaults } from './deletion/restore.ts'

export const deletionFaults: readonly Fault[] = [
  ...goneFaults,
  ...answerFaults,
  ...dependentFaults,
  ...restoreFaults,
  ...bulkFaults,
  ...filterFaults,
]
