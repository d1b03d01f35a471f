/** Faults of deletion. */
import type { Fault } from '../planted.ts'
import { answerFaults } from './deletion/answers.ts'
import { bulkFaults } from './deletion/bulk.ts'
import { dependentFaults } from './deletion/dependents.ts'
import { filterFaults } from './deletion/filter.ts'
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
