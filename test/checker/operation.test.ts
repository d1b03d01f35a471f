import { operation } from '../../src/checker/cases/operation.ts'
import { operationFaults } from './faults/operation.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('OPS', operation, operationFaults)
