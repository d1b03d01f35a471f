import { casesByPrefix } from '../../src/checker/cases/cases.ts'
import { preflightFaults } from './faults/preflight.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('OPT', casesByPrefix.OPT, preflightFaults)
