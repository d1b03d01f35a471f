/** SEC: transport and hygiene. */
import type { CaseSection } from '../case.ts'

export const transport: CaseSection = {
  cases: [],
  unseen: {},
}
