import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { pagesFaults } from './faults/pages.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('PAG', casesByPrefix.PAG, pagesFaults)
