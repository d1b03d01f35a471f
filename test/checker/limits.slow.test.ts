import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { limitsFaults } from './faults/limits.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('LIM', casesByPrefix.LIM, limitsFaults)
