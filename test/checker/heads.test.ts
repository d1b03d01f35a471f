import { heads } from '../../src/checker/cases/heads.ts'
import { headsFaults } from './faults/heads.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('HED', heads, headsFaults)
