/** What the command `resourced check-changes` takes of the comparison. */
export { compareInterfaces, type ServedVersion } from './compare-interfaces.ts'
export type { Finding } from './finding.ts'
export { DocumentError, documentOf } from './openapi-document.ts'
export { markdownReport, textReport } from './report.ts'
