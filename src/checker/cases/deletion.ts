/** DEL: deletion. Nothing that is sent could take a record that the checker has not made, whatever the server gets wrong. */
import type { Case } from '../case/case.ts'
import { answerCases } from './deletion/answers.ts'
import { bulkCases } from './deletion/bulk.ts'
import { refusedBulkCases } from './deletion/bulk-refused.ts'
import { dependentCases } from './deletion/dependents.ts'
import { filterCases } from './deletion/filter.ts'
import { goneCases } from './deletion/gone.ts'
import { restoreCases } from './deletion/restore.ts'

export const deletion: readonly Case[] = [
  ...goneCases,
  ...answerCases,
  ...dependentCases,
  ...restoreCases,
  ...bulkCases,
  ...refusedBulkCases,
  ...filterCases,
]
