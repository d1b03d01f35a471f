import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { methodsFaults } from './faults/methods.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('MET', casesByPrefix.MET, methodsFaults)
