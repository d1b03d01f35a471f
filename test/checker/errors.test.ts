import { errors } from '../../src/checker/cases/errors.ts'
import { errorsFaults } from './faults/errors.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('ERR', errors, errorsFaults)
