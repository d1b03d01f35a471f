/** The report as JSON, and the comparison with an earlier one. */
import type { Report, Verdict } from '../run/check.ts'

const format = 'resourced-check/1'

export function jsonReport(report: Report): string {
  return `${JSON.stringify({ format, ...report }, null, 2)}\n`
}

/**
 * What has changed since an earlier report, as text.
 *
 * @param before a report that `parseReport` returned
 */
export function compareReports(before: SavedReport, after: Pick<Report, 'rules'>): string {
  const earlier = new Map(before.rules.flatMap(({ cases }) => cases).map(({ id, verdict }) => [id, verdict]))
  const changes = { Worse: [] as string[], Better: [] as string[], Otherwise: [] as string[] }
  const now = after.rules.flatMap(({ cases }) => cases)
  for (const { id, title, verdict } of now) {
    const was = earlier.get(id)
    if (was !== verdict) changes[directions[verdict]].push(`  ${id}  ${title}: ${was ?? 'not there'} → ${verdict}`)
    earlier.delete(id)
  }
  for (const [id, was] of earlier) changes.Otherwise.push(`  ${id}: ${was} → not asked`)
  const parts = Object.entries(changes).filter(([, lines]) => lines.length > 0)
  if (parts.length === 0) return 'Nothing has changed.\n'
  return parts.map(([title, lines]) => `${[`${title} (${lines.length})`, ...lines].join('\n')}\n`).join('\n')
}

const directions: Readonly<Record<Verdict, 'Worse' | 'Better' | 'Otherwise'>> = {
  ...{ fails: 'Worse', advice: 'Worse', holds: 'Better' },
  ...{ blocked: 'Otherwise', 'not set up': 'Otherwise', 'not applicable': 'Otherwise', 'not asked': 'Otherwise' },
}

/** What a comparison needs of a saved report. */
export interface SavedReport {
  readonly base: string
  readonly rules: readonly { readonly cases: readonly { readonly id: string; readonly verdict: string }[] }[]
}

/**
 * Reads the output of `jsonReport`.
 *
 * @throws Error if it is something else
 */
export function parseReport(text: string): SavedReport {
  const report = JSON.parse(text) as SavedReport & { readonly format?: unknown }
  if (report?.format !== format || !Array.isArray(report.rules)) throw new Error(`it is no report of ${format}`)
  return report
}
