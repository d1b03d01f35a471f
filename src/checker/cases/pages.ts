/** PAG: pages. */
import type { CaseSection } from '../case.ts'

export const pages: CaseSection = {
  cases: [],
  unseen: {},
}
