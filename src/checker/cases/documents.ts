/** DOC: documents. */
import type { CaseSection } from '../case.ts'

export const documents: CaseSection = {
  cases: [],
  unseen: {},
}
