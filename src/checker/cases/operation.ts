/** OPS: operation. */
import type { CaseSection } from '../case.ts'

export const operation: CaseSection = {
  cases: [],
  unseen: {},
}
