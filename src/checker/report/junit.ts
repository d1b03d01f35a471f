/** The report as JUnit's XML, which CI servers read: a suite for a section, a test for a case. */
import { ruleSections } from '../../spec/rules.ts'
import type { Report } from '../run/check.ts'
import type { CaseResult } from '../run/verdict.ts'
import { commandOf } from './curl.ts'
import { leftoversOf } from './leftovers.ts'
import { answerLines } from './lines.ts'
import { requestsOf } from './summary.ts'

/** A report as XML. What only may be otherwise is no failure there. */
export function junitReport(report: Report): string {
  const suites = ruleSections.flatMap(({ prefix, title }) => {
    const cases = report.rules.filter(({ rule }) => rule.section === prefix).flatMap((rule) => rule.cases)
    if (cases.length === 0) return []
    const failures = cases.filter(({ verdict }) => verdict === 'fails').length
    const skipped = cases.filter(isSkipped).length
    const seconds = cases.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1_000
    return [
      `  <testsuite name="${xml(`${prefix} ${title}`)}" tests="${cases.length}" failures="${failures}" skipped="${skipped}" time="${seconds}" timestamp="${report.date}">`,
      ...cases.map(testCase),
      '  </testsuite>',
    ]
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xml(report.base)}">\n${[...suites, ...leftoverSuite(report)].join('\n')}\n</testsuites>\n`
}

/** What was left behind is a test that passes and says so: no rule is about it. */
function leftoverSuite(report: Report): string[] {
  const lines = leftoversOf(report).flatMap(({ message, paths }) => [message, ...paths.map((path) => `  ${path}`)])
  if (lines.length === 0) return []
  return [
    '  <testsuite name="What remains" tests="1" failures="0" skipped="0">',
    `    <testcase classname="leftovers" name="The server holds what it held before"><system-err>${xml(lines.join('\n'))}</system-err></testcase>`,
    '  </testsuite>',
  ]
}

function isSkipped({ verdict }: CaseResult): boolean {
  return verdict !== 'holds' && verdict !== 'fails' && verdict !== 'advice'
}

function testCase(found: CaseResult): string {
  const { id, title, verdict, why, milliseconds } = found
  const open = `    <testcase classname="${xml(id)}" name="${xml(title)}" time="${milliseconds / 1_000}"`
  if (verdict === 'holds') return `${open}/>`
  if (isSkipped(found)) return `${open}><skipped message="${xml(`${verdict}: ${why}`)}"/></testcase>`
  const text = xml(evidenceOf(found))
  if (verdict === 'advice') return `${open}><system-out>${text}</system-out></testcase>`
  const message = xml(found.findings.map((each) => each.message).join('; '))
  return `${open}><failure type="${found.level}" message="${message}">${text}</failure></testcase>`
}

function evidenceOf(found: CaseResult): string {
  const commands = requestsOf(found, ({ asked }) => commandOf(asked))
  const findings = found.findings.flatMap(({ exchange, part, message }) => [
    message,
    ...(exchange === undefined
      ? []
      : answerLines(exchange, part).map(({ text, marked }) => `${marked ? '> ' : '  '}${text}`)),
  ])
  return [...commands, ...findings, `To mend it: ${found.mend}`].join('\n')
}

const entities: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' }

// XML 1.0 has no way to write them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu

function xml(text: string): string {
  return text.replaceAll(unwritable, '\ufffd').replaceAll(/[<>&"]/g, (each) => entities[each] as string)
}
