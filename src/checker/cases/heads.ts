/** HED: HEAD and ranges. */
import type { CaseSection } from '../case.ts'

export const heads: CaseSection = {
  cases: [],
  unseen: {},
}
