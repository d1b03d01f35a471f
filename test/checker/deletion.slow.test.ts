import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { deletionFaults } from './faults/deletion.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('DEL', casesByPrefix.DEL, deletionFaults)
