import { casesByPrefix } from '../../packages/check/src/cases/cases.ts'
import { jobsFaults } from './faults/jobs.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('JOB', casesByPrefix.JOB, jobsFaults)
