import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { resourcesFaults } from './faults/resources.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('RES', casesByPrefix.RES, resourcesFaults)
