import { queries } from '../../src/checker/cases/queries.ts'
import { queriesFaults } from './faults/queries.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('QRY', queries, queriesFaults)
