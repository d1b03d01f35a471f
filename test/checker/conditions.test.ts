import { conditions } from '../../src/checker/cases/conditions.ts'
import { conditionsFaults } from './faults/conditions.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('CON', conditions, conditionsFaults)
