import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { conditionsFaults } from './faults/conditions.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('CON', casesByPrefix.CON, conditionsFaults)
