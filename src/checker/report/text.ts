/** The report for a terminal. */
import { stripVTControlCharacters, styleText } from 'node:util'
import { ruleSections } from '../../spec/rules.ts'
import type { Finding } from '../case/case.ts'
import type { Report } from '../run/check.ts'
import type { CaseResult, RuleResult, Verdict } from '../run/verdict.ts'
import { commandOf } from './curl.ts'
import { leftoversOf } from './leftovers.ts'
import { answerLines } from './lines.ts'
import { requestsOf, summaryLine, wrongCases } from './summary.ts'

/** How a terminal is written to. */
export interface TextOptions {
  readonly color: boolean
  /** Columns. */
  readonly width: number
}

type Style = Parameters<typeof styleText>[0]

const signs: Readonly<Record<Verdict, readonly [sign: string, style: Style]>> = {
  holds: ['✔', 'green'],
  fails: ['✖', 'red'],
  advice: ['!', 'yellow'],
  blocked: ['⋯', 'magenta'],
  'not set up': ['?', 'magenta'],
  'not applicable': ['·', 'dim'],
  'not asked': ['·', 'dim'],
}

/** A report as text: a table of all rules, then each thing that is wrong with its evidence. */
export function textReport(report: Report, { color, width }: TextOptions): string {
  const paint = (style: Style, text: string) => (color ? styleText(style, text, { validateStream: false }) : text)
  const lines = [...table(report, width, paint), ...evidence(report, width, paint), ...ending(report, paint)]
  // What a server has sent moves no cursor.
  return `${lines.map((text) => (color ? text : stripVTControlCharacters(text))).join('\n')}\n`
}

type Paint = (style: Style, text: string) => string

function table({ rules }: Report, width: number, paint: Paint): string[] {
  return ruleSections.flatMap(({ prefix, title }) => {
    const own = rules.filter(({ rule }) => rule.section === prefix)
    if (own.length === 0) return []
    return ['', paint('bold', `${prefix}  ${title}`), ...own.map((rule) => row(rule, width, paint))]
  })
}

function row({ rule, verdict, why, cases }: RuleResult, width: number, paint: Paint): string {
  const [sign, style] = signs[verdict]
  const seen = cases.filter((each) => each.verdict === 'holds').length
  const count = cases.length === 0 ? '' : `${seen}/${cases.length}`
  const isSeen = verdict === 'holds' || verdict === 'fails' || verdict === 'advice'
  const text = isSeen ? rule.sentence : `${verdict}: ${why}`
  const head = `  ${sign} ${rule.id.padEnd(7)}${rule.level.padEnd(7)}${count.padEnd(7)}`
  return paint(style, head) + (isSeen ? cut(text, width - head.length) : paint('dim', cut(text, width - head.length)))
}

function evidence(report: Report, width: number, paint: Paint): string[] {
  return wrongCases(report).flatMap(({ rule, found }) => [
    '',
    paint(
      found.verdict === 'fails' ? ['red', 'bold'] : ['yellow', 'bold'],
      `${signs[found.verdict][0]} ${found.id}  ${found.title}`,
    ),
    ...wrapped(`${rule.rule.id} (${levelOf(found)}, ${sourceOf(rule)}): ${rule.rule.sentence}`, width - 2).map(
      (text) => `  ${paint('dim', text)}`,
    ),
    ...requestsOf(found, ({ asked }) => commandOf(asked)).map((text) => `  ${paint('cyan', printable(text))}`),
    ...found.findings.flatMap((each) => findingLines(each, paint)),
    ...wrapped(`To mend it: ${found.mend}`, width - 2).map((text) => `  ${text}`),
  ])
}

/** Who says a rule. */
export function sourceOf({ rule }: RuleResult): string {
  if (rule.mark === 'specification') return 'the specification'
  return rule.mark === 'decision' ? 'settled where the specification is silent' : 'beyond the specification'
}

function levelOf({ level }: CaseResult): string {
  return level
}

function findingLines({ exchange, part, message }: Finding, paint: Paint): string[] {
  const lines = exchange === undefined ? [] : answerLines(exchange, part)
  return [
    `  ${paint('bold', exchange === undefined ? printable(message) : `${exchange.step}: ${printable(message)}`)}`,
    ...lines.map(({ text, marked }) => (marked ? paint('red', `  > ${printable(text)}`) : `    ${printable(text)}`)),
  ]
}

function ending(report: Report, paint: Paint): string[] {
  const { base, requests, seconds, created, stopped } = report
  return [
    '',
    paint('bold', summaryLine(report)),
    `${base}: ${requests} requests in ${seconds} s${stopped ? '; stopped before its end' : ''}`,
    ...(created === 0 ? [] : [`${created} records were created, and ${created - report.remains.length} deleted again`]),
    ...leftoversOf(report).flatMap(({ message, paths }) => [
      paint('yellow', printable(`${message}${paths.length === 0 ? '' : ':'}`)),
      ...paths.map((path) => `  ${printable(path)}`),
    ]),
  ]
}

/** A text without what terminals take as commands. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

function cut(text: string, width: number): string {
  const most = Math.max(20, width)
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** A text in lines of at most a width, broken between words. */
function wrapped(text: string, width: number): string[] {
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
