import { methods } from '../../src/checker/cases/methods.ts'
import { methodsFaults } from './faults/methods.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('MET', methods, methodsFaults)
