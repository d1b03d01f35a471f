/** JOB: long work. */
import type { CaseSection } from '../case.ts'

export const jobs: CaseSection = {
  cases: [],
  unseen: {},
}
