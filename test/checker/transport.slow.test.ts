import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { transportFaults } from './faults/transport.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('SEC', casesByPrefix.SEC, transportFaults)
