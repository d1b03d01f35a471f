/** QRY: collection parameters. */
import type { CaseSection } from '../case.ts'

export const queries: CaseSection = {
  cases: [],
  unseen: {},
}
