import { callers } from '../../src/checker/cases/callers.ts'
import { callersFaults } from './faults/callers.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('AUT', callers, callersFaults)
