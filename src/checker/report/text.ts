/** The report for a terminal. */
import { stripVTControlCharacters, styleText } from 'node:util'
import type { Report, RuleResult, Verdict } from '../run/check.ts'
import {
  type Evidence,
  holdingCases,
  isObserved,
  leftoverLines,
  leftoversOf,
  type Problem,
  problemsOf,
  sectionsOf,
  summaryLine,
} from './summary.ts'

export interface TextOptions {
  readonly color: boolean
  /** In columns. */
  readonly width: number
}

type Style = Parameters<typeof styleText>[0]
type Paint = (style: Style, text: string) => string

const signs: Readonly<Record<Verdict, readonly [sign: string, style: Style]>> = {
  holds: ['✔', 'green'],
  fails: ['✖', 'red'],
  advice: ['!', 'yellow'],
  blocked: ['⋯', 'magenta'],
  'not set up': ['?', 'magenta'],
  'not applicable': ['·', 'dim'],
  'not asked': ['·', 'dim'],
}

/** A report as text: a table of all rules, then every problem with its evidence, then the summary. */
export function textReport(report: Report, { color, width }: TextOptions): string {
  const paint: Paint = (style, text) => (color ? styleText(style, text, { validateStream: false }) : text)
  const lines = [
    ...sectionsOf(report).flatMap(({ prefix, title, rules }) => [
      '',
      paint('bold', `${prefix}  ${title}`),
      ...rules.map((rule) => ruleRow(rule, width, paint)),
    ]),
    ...problemsOf(report).flatMap((problem) => problemLines(problem, width, paint)),
    ...endingLines(report, paint),
  ]
  // The texts of servers must not move the cursor.
  return `${lines.map((text) => (color ? text : stripVTControlCharacters(text))).join('\n')}\n`
}

function ruleRow(result: RuleResult, width: number, paint: Paint): string {
  const { rule, verdict, why, cases } = result
  const [sign, style] = signs[verdict]
  const count = cases.length === 0 ? '' : `${holdingCases(result)}/${cases.length}`
  const head = `  ${sign} ${rule.id.padEnd(7)}${rule.level.padEnd(7)}${count.padEnd(7)}`
  const text = cut(isObserved(result) ? rule.sentence : `${verdict}: ${why}`, width - head.length)
  return paint(style, head) + (isObserved(result) ? text : paint('dim', text))
}

function problemLines({ rule, found, source, commands, findings }: Problem, width: number, paint: Paint): string[] {
  const title = `${signs[found.verdict][0]} ${found.id}  ${found.title}`
  const wrapped = (text: string) => wrap(text, width - 2)
  return [
    '',
    paint(found.verdict === 'fails' ? ['red', 'bold'] : ['yellow', 'bold'], title),
    ...wrapped(`${rule.id} (${found.level}, ${source}): ${rule.sentence}`).map((text) => `  ${paint('dim', text)}`),
    ...commands.map((text) => `  ${paint('cyan', printable(text))}`),
    ...findings.flatMap((each) => findingLines(each, paint)),
    ...wrapped(`To correct it: ${found.mend}`).map((text) => `  ${text}`),
  ]
}

function findingLines({ step, message, lines }: Evidence, paint: Paint): string[] {
  return [
    `  ${paint('bold', `${step === undefined ? '' : `${step}: `}${printable(message)}`)}`,
    ...lines.map(({ text, marked }) => (marked ? paint('red', `  > ${printable(text)}`) : `    ${printable(text)}`)),
  ]
}

function endingLines(report: Report, paint: Paint): string[] {
  const { base, requests, seconds, created, remains, stopped } = report
  return [
    '',
    paint('bold', summaryLine(report)),
    `${base}: ${requests} requests in ${seconds} s${stopped ? '; stopped before its end' : ''}`,
    ...(created === 0 ? [] : [`${created} records were created, and ${created - remains.length} deleted again`]),
    ...leftoversOf(report).flatMap((each) => {
      const [message = '', ...paths] = leftoverLines(each).map(printable)
      return [paint('yellow', message), ...paths]
    }),
  ]
}

/** A text without control characters. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes them
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

function cut(text: string, width: number): string {
  const most = Math.max(20, width)
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** Breaks a text between words into lines of at most a width. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > Math.max(30, width)) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}
