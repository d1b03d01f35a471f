import { limits } from '../../src/checker/cases/limits.ts'
import { limitsFaults } from './faults/limits.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('LIM', limits, limitsFaults)
