import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { eventsFaults } from './faults/events.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('EVT', casesByPrefix.EVT, eventsFaults)
