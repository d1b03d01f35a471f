import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { headsFaults } from './faults/heads.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('HED', casesByPrefix.HED, headsFaults)
