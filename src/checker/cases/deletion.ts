/** DEL: deletion. */
import type { CaseSection } from '../case.ts'

export const deletion: CaseSection = {
  cases: [],
  unseen: {},
}
