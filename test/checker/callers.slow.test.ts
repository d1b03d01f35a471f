import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { callersFaults } from './faults/callers.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('AUT', casesByPrefix.AUT, callersFaults)
