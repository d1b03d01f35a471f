/** LIM: limits. */
import type { CaseSection } from '../case.ts'

export const limits: CaseSection = {
  cases: [],
  unseen: {},
}
