import { casesByPrefix } from '../../src/checker/cases/cases.ts'
import { eventsFaults } from './faults/events.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('EVT', casesByPrefix.EVT, eventsFaults)
