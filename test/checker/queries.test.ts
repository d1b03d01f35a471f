import { casesByPrefix } from '../../src/checker/cases/cases.ts'
import { queriesFaults } from './faults/queries.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('QRY', casesByPrefix.QRY, queriesFaults)
