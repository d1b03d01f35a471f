import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { queriesFaults } from './faults/queries.ts'
import { idFaults } from './faults/queries-ids.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('QRY', casesByPrefix.QRY, queriesFaults)
tryFaults('WHR', casesByPrefix.WHR, idFaults)
