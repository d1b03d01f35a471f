/** HED: HEAD and ranges. */
import type { CaseSection } from '../case.ts'
import { preparing } from './heads/pending.ts'
import { ranges } from './heads/ranges.ts'
import { same } from './heads/same.ts'

export const heads: CaseSection = {
  cases: [...same, ...preparing, ...ranges],
  unseen: {},
}
