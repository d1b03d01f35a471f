/** What a check has left behind, in sentences that every format shows. */

import type { Report } from '../run/check.ts'
import type { Difference } from '../run/reconcile.ts'

/** Something that was left behind, and where. */
export interface Leftover {
  readonly message: string
  /** Paths from the root. */
  readonly paths: readonly string[]
}

/** What a report says is there now and was not before; nothing where the server is as it was. */
export function leftoversOf({
  remains,
  jobs,
  differences,
}: Pick<Report, 'remains' | 'jobs' | 'differences'>): Leftover[] {
  return [
    ...(remains.length === 0
      ? []
      : [{ message: `Created by the check, and could not be deleted (${remains.length})`, paths: remains }]),
    ...differences.map((each) => ({ message: sentenceOf(each), paths: each.unexplained })),
    ...(jobs.length === 0
      ? []
      : [
          {
            message: `Jobs and exports that the check began, and could not delete (${jobs.length})`,
            paths: fewOf(jobs),
          },
        ]),
  ]
}

/** The server removes jobs by itself: a few show where they are. */
function fewOf(paths: readonly string[]): readonly string[] {
  return paths.length <= 4 ? paths : [...paths.slice(0, 3), `… ${paths.length - 3} more`]
}

function sentenceOf({ collection, before, after, created, unexplained }: Difference): string {
  const changed = changeOf(before, after)
  const parts = [
    ...(created.length === 0 ? [] : [`${created.length} listed above`]),
    ...(unexplained.length === 0 ? [] : [`probably the check's: ${unexplained.length}`]),
  ]
  const more = after !== undefined && before !== undefined && after > before
  const rest = parts.length > 0 ? parts.join('; ') : `${more ? 'created' : 'changed'} by others, as far as can be seen`
  return `${collection}: ${changed}; ${rest}`
}

function changeOf(before: number | undefined, after: number | undefined): string {
  if (before === undefined || after === undefined) return 'the records could not be counted before and after'
  const difference = Math.abs(after - before)
  const counted = difference === 1 ? '1 record' : `${difference} records`
  if (difference === 0) return `as many records as before (${before}), but not the same`
  return `${counted} ${after > before ? 'more' : 'fewer'} than before (${before}, now ${after})`
}
