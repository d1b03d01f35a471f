/** The report for a terminal. */
import { stripVTControlCharacters, styleText } from 'node:util'
import type { CaseResult, Report, Verdict } from '../run/check.ts'
import { type Cause, causeGroups, causesOf, type Gap, gapsOf } from './causes.ts'
import {
  type Evidence,
  isProblem,
  leftoverLines,
  leftoversOf,
  type Problem,
  problemOf,
  type Score,
  scoresOf,
} from './summary.ts'

export interface TextOptions {
  readonly color: boolean
  /** In columns. */
  readonly width: number
  /** Rules and cases whose evidence is shown, or `all`; the overview if undefined. */
  readonly details?: readonly string[] | undefined
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

/** The report as text: at most two screens. With `details`, the evidence of the named rules and cases. */
export function textReport(report: Report, { color, width, details }: TextOptions): string {
  const paint: Paint = (style, text) => (color ? styleText(style, text, { validateStream: false }) : text)
  const show = { width, paint }
  const lines = details === undefined ? overview(report, show) : detailLines(report, details, show)
  // The texts of servers must not move the cursor.
  return `${lines.map((text) => (color ? text : stripVTControlCharacters(text))).join('\n')}\n`
}

interface Show {
  readonly width: number
  readonly paint: Paint
}

/** The most lines of each part of the report: together they fit two screens. */
const mostLines = { gaps: 7, leftovers: 8 }

function overview(report: Report, show: Show): string[] {
  const { base, requests, seconds, stopped, seed } = report
  const { paint } = show
  const groups = causeGroups(report)
  const gaps = gapsOf(report)
  const end = stopped ? '; stopped before its end' : ''
  return [
    '',
    `${paint('bold', base)}  ${requests} requests in ${seconds} s, seed ${seed}${end}`,
    '',
    ...scoresOf(report).map((score) => scoreLine(score, show)),
    ...groups.flatMap(({ title, causes, most }) => part(title, causes, most, (each) => causeLine(each, show), show)),
    ...part('What could not be found out', gaps, mostLines.gaps, (each) => gapLine(each, show), show),
    ...leftoverPart(report, show),
    ...hints(causesOf(report), show),
  ]
}

/** A part of the report with a title, and the number of its lines that are left out. */
function part<Each>(
  title: string,
  all: readonly Each[],
  most: number,
  lineOf: (each: Each) => string,
  { paint }: Show,
): string[] {
  if (all.length === 0) return []
  const shown = all.length <= most ? all : all.slice(0, most - 1)
  const rest = all.length - shown.length
  return ['', paint('bold', title), ...shown.map(lineOf), ...(rest === 0 ? [] : [paint('dim', `  … ${rest} more`)])]
}

function scoreLine({ title, text, failures, counts, tier }: Score, { width, paint }: Show): string {
  const isOpen = counts.holds + counts.fails + counts.advice === 0
  const [sign, style] = isOpen
    ? signs['not asked']
    : failures > 0
      ? signs.fails
      : counts.fails > 0 || (tier !== 'choices' && counts.advice > 0)
        ? signs.advice
        : signs.holds
  return `${paint(style, `${sign} ${title.padEnd(9)}`)}${cut(isOpen ? 'nothing could be observed' : text, width - 11)}`
}

/** A sign for what does not hold: only what must hold gets a cross. */
function signOf({ verdict, level }: CaseResult): readonly [sign: string, style: Style] {
  if (verdict === 'fails') return level === 'must' ? signs.fails : signs.advice
  return verdict === 'advice' ? ['·', 'dim'] : signs[verdict]
}

function causeLine({ lead, cases, blocked }: Cause, { width, paint }: Show): string {
  const [sign, style] = signOf(lead)
  const [found] = lead.findings
  const head = `  ${sign} ${lead.id} `
  const section = lead.section === '' ? '' : ` (${lead.section.replace(', section', '')})`
  const count = countText(cases.length - 1, blocked.length)
  const text = printable(found?.message ?? '').replaceAll(/\s+/g, ' ')
  const most = width - head.length - count.length
  // Narrow terminals show the section in details only.
  const needed = Math.min(leastText, lead.title.length + text.length + 2)
  const tail = most - section.length < needed ? count : section + count
  const room = width - head.length - tail.length
  // Both the expectation and the result stay readable.
  const message = cut(text, Math.max(room - lead.title.length - 2, Math.floor(room / 2)))
  return `${paint(style, head)}${cut(lead.title, room - message.length - 2)}: ${message}${paint('dim', tail)}`
}

/** Columns that a title and a message need at least. */
const leastText = 60

function countText(others: number, blocked: number): string {
  const parts = [
    ...(others === 0 ? [] : [`${others} more ${others === 1 ? 'case' : 'cases'}`]),
    ...(blocked === 0 ? [] : [`${blocked} blocked`]),
  ]
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`
}

function gapLine({ why, verdict, cases, blocked }: Gap, { width, paint }: Show): string {
  const [sign, style] = signs[verdict]
  const count = cases.length === 1 ? '1 case' : `${cases.length} cases`
  const tail = `: ${count}${blocked.length === 0 ? '' : `, ${blocked.length} blocked`}`
  return (
    paint(style, `  ${sign} `) +
    cut(printable(why).replaceAll(/\s+/g, ' '), width - 4 - tail.length) +
    paint('dim', tail)
  )
}

function leftoverPart(report: Report, { width, paint }: Show): string[] {
  const lines = leftoversOf(report)
    .flatMap(leftoverLines)
    .map((each) => cut(printable(each), width))
  const { created, remains, vanished } = report
  const shown = lines.length <= mostLines.leftovers ? lines : lines.slice(0, mostLines.leftovers - 1)
  const rest = lines.length - shown.length
  return [
    ...(created === 0
      ? []
      : ['', `${created} records were created, and ${created - remains.length} deleted again${goneWith(vanished)}`]),
    ...shown.map((each) => (each.startsWith(' ') ? each : paint('yellow', each))),
    ...(rest === 0 ? [] : [`  … ${rest} lines more, which the other formats show`]),
  ]
}

/** Records that the checker could not delete itself: the server may still hold them, where no request shows them. */
function goneWith(vanished: number): string {
  return vanished === 0 ? '' : `, ${vanished} of them with another record or by a job`
}

function hints(causes: readonly Cause[], { paint }: Show): string[] {
  const [first] = causes
  return [
    '',
    ...(first === undefined
      ? []
      : [paint('dim', `--details ${first.lead.id} shows its requests; --details all everything.`)]),
    paint('dim', '--format html --output report.html writes a page with all cases.'),
  ]
}

/** The results of the named rules and cases, with the evidence of those that do not hold. */
function detailLines(report: Report, details: readonly string[], show: Show): string[] {
  const isNamed = (found: CaseResult, rule: string) =>
    details.some((name) => name === 'all' || name === rule || name === found.id)
  return report.rules.flatMap(({ rule, cases }) =>
    cases
      .filter((found) => isNamed(found, rule.id))
      .flatMap((found) => (isProblem(found) ? problemLines(problemOf(rule, found), show) : [resultLine(found, show)])),
  )
}

function resultLine(found: CaseResult, { width, paint }: Show): string {
  const [sign, style] = signOf(found)
  const { id, title, verdict, why } = found
  const head = `${sign} ${id}  `
  return (
    paint(style, head) +
    cut(verdict === 'holds' ? title : `${title}: ${verdict}: ${printable(why)}`, width - head.length)
  )
}

/** The most lines for one problem. */
const mostOfProblem = 40

function problemLines({ rule, found, source, commands, findings }: Problem, { width, paint }: Show): string[] {
  const [sign, style] = signOf(found)
  const start = [
    '',
    paint(style, `${sign} ${found.id}  ${found.title}`),
    ...wrap(`${rule.id} (${source}): ${rule.sentence}`, width - 2).map((text) => `  ${paint('dim', text)}`),
  ]
  const end = wrap(`To correct it: ${found.mend}`, width - 2).map((text) => `  ${text}`)
  const evidence = findings.flatMap((each) => findingLines(each, paint))
  const rest = mostOfProblem - start.length - end.length
  const requests = shortened(commands, Math.max(rest - evidence.length, Math.floor(rest / 2)))
  return [
    ...start,
    ...requests.map((text) => `  ${paint(text.startsWith('# ✖') ? 'red' : 'cyan', printable(text))}`),
    ...shortened(evidence, rest - requests.length, 'end'),
    ...end,
  ]
}

/** At most so many lines: the first and the last ones, or the first ones alone. */
function shortened(lines: readonly string[], most: number, leavesOut: 'middle' | 'end' = 'middle'): readonly string[] {
  if (lines.length <= most) return lines
  const last = leavesOut === 'end' ? 0 : Math.floor((most - 1) / 2)
  const first = most - 1 - last
  const gap = `  # … ${lines.length - first - last} lines, all of them in --format html`
  return [...lines.slice(0, first), gap, ...(last === 0 ? [] : lines.slice(-last))]
}

function findingLines({ step, message, lines }: Evidence, paint: Paint): string[] {
  return [
    `  ${paint('bold', `${step === undefined ? '' : `${step}: `}${printable(message)}`)}`,
    ...lines.map(({ text, marked }) => (marked ? paint('red', `  > ${printable(text)}`) : `    ${printable(text)}`)),
  ]
}

/** A text without control characters. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes them
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

function cut(text: string, width: number): string {
  const most = Math.max(8, width)
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
