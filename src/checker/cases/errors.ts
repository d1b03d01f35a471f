/** ERR: errors. */
import type { CaseSection } from '../case.ts'

export const errors: CaseSection = {
  cases: [],
  unseen: {},
}
