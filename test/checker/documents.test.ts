import { documents } from '../../src/checker/cases/documents.ts'
import { documentsFaults } from './faults/documents.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('DOC', documents, documentsFaults)
