import { resources } from '../../src/checker/cases/resources.ts'
import { resourcesFaults } from './faults/resources.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('RES', resources, resourcesFaults)
