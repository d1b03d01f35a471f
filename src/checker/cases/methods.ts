/** MET: methods. */
import type { CaseSection } from '../case.ts'

export const methods: CaseSection = {
  cases: [],
  unseen: {},
}
