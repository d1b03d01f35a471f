/** The report as JUnit XML for CI servers: a suite for each section, a test for each case. */
import type { CaseResult, Report, RuleResult } from '../run/check.ts'
import { isFailure, isObserved, leftoverLines, leftoversOf, markedLines, problemOf, sectionsOf } from './summary.ts'

/** A report as XML. A test fails if its case fails the run: in the terms of the exit code. */
export function junitReport(report: Report): string {
  const suites = sectionsOf(report).flatMap(({ prefix, title, rules }) => {
    const all = rules.flatMap(({ rule, cases }) => cases.map((found) => ({ rule, found })))
    if (all.length === 0) return []
    const count = (test: (found: CaseResult) => boolean) => all.filter(({ found }) => test(found)).length
    const attributes = attributesOf({
      name: `${prefix} ${title}`,
      tests: all.length,
      failures: count((found) => isFailure(found, report.strict)),
      skipped: count((found) => !isObserved(found)),
      time: all.reduce((sum, { found }) => sum + found.milliseconds, 0) / 1_000,
      timestamp: report.date,
    })
    return [`  <testsuite${attributes}>`, ...all.map((each) => testCase(each, report.strict)), '  </testsuite>']
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributesOf({ name: report.base })}>`,
    `  <properties><property${attributesOf({ name: 'seed', value: report.seed })}/></properties>`,
    ...suites,
    ...leftoverSuite(report),
    '</testsuites>\n',
  ].join('\n')
}

/** A test that passes and shows what the run left on the server. No rule is about it. */
function leftoverSuite(report: Report): string[] {
  const lines = leftoversOf(report).flatMap(leftoverLines)
  if (lines.length === 0) return []
  const attributes = attributesOf({ classname: 'leftovers', name: 'The server holds what it held before' })
  return [
    '  <testsuite name="Leftovers" tests="1" failures="0" skipped="0">',
    `    <testcase${attributes}><system-err>${xml(lines.join('\n'))}</system-err></testcase>`,
    '  </testsuite>',
  ]
}

interface Tested {
  readonly rule: RuleResult['rule']
  readonly found: CaseResult
}

function testCase({ rule, found }: Tested, strict: boolean): string {
  const { id, title, level, verdict, why, milliseconds } = found
  const open = `    <testcase${attributesOf({ classname: id, name: title, time: milliseconds / 1_000 })}`
  if (verdict === 'holds') return `${open}/>`
  if (!isObserved(found)) return `${open}><skipped${attributesOf({ message: `${verdict}: ${why}` })}/></testcase>`
  const { source, commands, findings } = problemOf(rule, found)
  const evidence = findings.flatMap((each) => [each.message, ...markedLines(each)])
  const text = xml([source, ...commands, ...evidence, `To correct it: ${found.mend}`].join('\n'))
  if (!isFailure(found, strict)) return `${open}><system-out>${text}</system-out></testcase>`
  const failure = attributesOf({ type: level, message: findings.map(({ message }) => message).join('; ') })
  return `${open}><failure${failure}>${text}</failure></testcase>`
}

function attributesOf(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${xml(String(value))}"`)
    .join('')
}

const entities: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' }

// XML 1.0 cannot represent these characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern replaces them
const unrepresentable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu

function xml(text: string): string {
  return text.replaceAll(unrepresentable, '\ufffd').replaceAll(/[<>&"]/g, (each) => entities[each] as string)
}
