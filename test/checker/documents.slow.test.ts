import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { documentsFaults } from './faults/documents.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('DOC', casesByPrefix.DOC, documentsFaults)
