import { jobs } from '../../src/checker/cases/jobs.ts'
import { jobsFaults } from './faults/jobs.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('JOB', jobs, jobsFaults)
