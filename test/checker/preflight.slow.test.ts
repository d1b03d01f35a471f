import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { preflightFaults } from './faults/preflight.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('OPT', casesByPrefix.OPT, preflightFaults)
