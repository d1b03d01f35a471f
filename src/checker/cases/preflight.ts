/** OPT: OPTIONS and CORS. */
import type { CaseSection } from '../case.ts'
import { cors } from './preflight/cors.ts'
import { options } from './preflight/options.ts'

export const preflight: CaseSection = {
  cases: [...options, ...cors],
  unseen: {},
}
