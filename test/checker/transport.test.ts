import { transport } from '../../src/checker/cases/transport.ts'
import { transportFaults } from './faults/transport.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('SEC', transport, transportFaults)
