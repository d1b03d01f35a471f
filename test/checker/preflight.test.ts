import { preflight } from '../../src/checker/cases/preflight.ts'
import { preflightFaults } from './faults/preflight.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('OPT', preflight, preflightFaults)
