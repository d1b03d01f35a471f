/** AUT: who, and what they may do. */
import type { CaseSection } from '../case.ts'

export const callers: CaseSection = {
  cases: [],
  unseen: {},
}
