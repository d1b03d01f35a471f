/** OPT: OPTIONS and CORS. */
import type { CaseSection } from '../case.ts'

export const preflight: CaseSection = {
  cases: [],
  unseen: {},
}
