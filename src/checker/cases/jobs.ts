/** JOB: long work. */
import type { CaseSection } from '../case.ts'
import { exportCases } from './jobs/exports.ts'
import { jobCases } from './jobs/status.ts'

export const jobs: CaseSection = {
  cases: [...jobCases, ...exportCases],
  unseen: {
    'JOB-3': 'Whether a job outlives a crash is seen only by who may end the server in the middle of one.',
    'JOB-5':
      'Which of several servers has run a batch is told to nobody outside; what it comes to is judged under DEL and JOB-2.',
  },
}
