import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { errorsFaults } from './faults/errors.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('ERR', casesByPrefix.ERR, errorsFaults)
