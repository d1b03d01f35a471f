import { casesByPrefix } from '../../src/checker/cases/cases.ts'
import { resourcesFaults } from './faults/resources.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('RES', casesByPrefix.RES, resourcesFaults)
