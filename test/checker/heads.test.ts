import { casesByPrefix } from '../../src/checker/cases/cases.ts'
import { headsFaults } from './faults/heads.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('HED', casesByPrefix.HED, headsFaults)
