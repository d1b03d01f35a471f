/** How much a comparison may cost: a document made to keep a machine busy ends in an error instead. */
import { DocumentError } from './openapi/document.ts'

/** Counts steps. */
export interface Budget {
  /** @throws DocumentError when there were too many */
  spend(steps: number): void
}

/** Far more than the largest published interfaces take, and a few seconds at most. */
const mostSteps = 10_000_000

/** Begins to count. */
export function budget(most = mostSteps): Budget {
  let left = most
  return {
    spend(steps) {
      left -= steps
      if (left >= 0) return
      throw new DocumentError('', 'is too intricate to be compared. Compare it in parts, such as path by path.')
    },
  }
}
