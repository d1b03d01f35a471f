import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { operationFaults } from './faults/operation.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('OPS', casesByPrefix.OPS, operationFaults)
