import { casesByPrefix } from '../../src/checker/cases/cases.ts'
import { operationFaults } from './faults/operation.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('OPS', casesByPrefix.OPS, operationFaults)
