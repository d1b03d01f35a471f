import { deletion } from '../../src/checker/cases/deletion.ts'
import { deletionFaults } from './faults/deletion.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('DEL', deletion, deletionFaults)
