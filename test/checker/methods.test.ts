import { casesByPrefix } from '../../src/checker/cases/cases.ts'
import { methodsFaults } from './faults/methods.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('MET', casesByPrefix.MET, methodsFaults)
