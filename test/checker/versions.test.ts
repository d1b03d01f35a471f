import { versions } from '../../src/checker/cases/versions.ts'
import { versionsFaults } from './faults/versions.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('VER', versions, versionsFaults)
