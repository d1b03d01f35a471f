/** Reports, each as a text. */
export { compareReports } from './compare.ts'
export { htmlReport } from './html.ts'
export { jsonReport } from './json.ts'
export { junitReport } from './junit.ts'
export { leftoversOf } from './leftovers.ts'
export { markdownReport } from './markdown.ts'
export { hasFailed } from './summary.ts'
export { textReport } from './text.ts'
