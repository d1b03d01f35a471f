/** QRY: collection parameters. */
import type { Case } from '../case/case.ts'
import { deletedCases } from './queries-deleted.ts'
import { fieldsCases } from './queries-fields.ts'
import { filterCases } from './queries-filters.ts'
import { orderCases } from './queries-order.ts'
import { refusedCases } from './queries-refused.ts'
import { searchCases } from './queries-search.ts'

export const queries: readonly Case[] = [
  ...filterCases,
  ...orderCases,
  ...fieldsCases,
  ...searchCases,
  ...deletedCases,
  ...refusedCases,
]
