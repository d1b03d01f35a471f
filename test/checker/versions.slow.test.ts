import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { versionsFaults } from './faults/versions.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('VER', casesByPrefix.VER, versionsFaults)
