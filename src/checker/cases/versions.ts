/** VER: versions. */
import type { CaseSection } from '../case.ts'

export const versions: CaseSection = {
  cases: [],
  unseen: {},
}
