/** RES: addressing and fields. */
import type { CaseSection } from '../case.ts'

export const resources: CaseSection = {
  cases: [],
  unseen: {},
}
