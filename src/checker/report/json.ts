/** The report as data: for programs, and to compare a later one with. */
import type { Report } from '../run/check.ts'

/** What the document calls itself. */
export const format = 'resourced-check/1'

/** A report as JSON. */
export function jsonReport(report: Report): string {
  return `${JSON.stringify({ format, ...report }, null, 2)}\n`
}
