/**
 * What all formats of a report share: scores, sections, problems with their evidence, leftovers, and the summary.
 */
import { ruleSections } from 'resourced-contract/spec/rules'
import type { Part } from '../case/case.ts'
import { type Tier, tiers } from '../case/tiers.ts'
import { type Exchange, jsonOf } from '../client/exchange.ts'
import type { Difference } from '../run/census.ts'
import type { CaseResult, Report, RuleResult, Verdict } from '../run/check.ts'
import { memberPointer } from '../values/json.ts'
import { replayLines } from './replay.ts'

export interface Score {
  readonly tier: Tier
  readonly title: string
  /** `87 of 94 hold; 3 must, 4 should`, or `follows 40 of 52 choices`. */
  readonly text: string
  readonly counts: Readonly<Record<Verdict, number>>
  /** The number of cases that fail and must hold. */
  readonly failures: number
}

export const tierTitles: Readonly<Record<Tier, string>> = { http: 'HTTP', safety: 'Safety', choices: 'Choices' }

const verdicts: readonly Verdict[] = [
  ...(['holds', 'fails', 'advice', 'blocked', 'not set up', 'not applicable', 'not asked'] as const),
]

export function scoresOf(report: Pick<Report, 'rules' | 'strict'>): readonly Score[] {
  const all = report.rules.flatMap(({ cases }) => cases)
  return tiers.map((tier) => {
    const cases = all.filter((each) => each.tier === tier)
    const count = (test: (each: CaseResult) => boolean) => cases.filter(test).length
    const counts = Object.fromEntries(
      verdicts.map((verdict) => [verdict, count((each) => each.verdict === verdict)]),
    ) as Record<Verdict, number>
    const { holds, fails, advice, blocked } = counts
    const open = counts['not set up'] + blocked
    const must = count(({ verdict, level }) => verdict === 'fails' && level === 'must')
    const isChoice = tier === 'choices' && !report.strict
    const parts = [
      isChoice
        ? `follows ${holds} of ${holds + advice} choices of this specification`
        : `${holds} of ${holds + fails + advice} hold`,
      ...(must === 0 ? [] : [`${must} that must hold ${must === 1 ? 'fails' : 'fail'}`]),
      ...(fails === must ? [] : [`${fails - must} that should hold ${fails - must === 1 ? 'fails' : 'fail'}`]),
      ...(isChoice || advice === 0 ? [] : [`${advice} to consider`]),
      ...(open === 0 ? [] : [`${open} could not be tried`]),
    ]
    return { tier, title: tierTitles[tier], text: parts.join(', '), counts, failures: must }
  })
}

/** Whether a case fails the run: one that must hold; in a strict run, any. */
export function isFailure({ verdict, level }: CaseResult, strict: boolean): boolean {
  return verdict === 'fails' && (strict || level === 'must')
}

export function hasFailed({ rules, strict }: Pick<Report, 'rules' | 'strict'>): boolean {
  return rules.some(({ cases }) => cases.some((found) => isFailure(found, strict)))
}

/** Whether responses showed that a rule or case holds, or that it does not. */
export function isObserved({ verdict }: { readonly verdict: Verdict }): boolean {
  return verdict === 'holds' || isProblem({ verdict })
}

/** Whether responses showed that a rule or case does not hold. */
export function isProblem({ verdict }: { readonly verdict: Verdict }): boolean {
  return verdict === 'fails' || verdict === 'advice'
}

export function sectionsOf({ rules }: Pick<Report, 'rules'>) {
  return ruleSections
    .map(({ prefix, title }) => ({ prefix, title, rules: rules.filter(({ rule }) => rule.section === prefix) }))
    .filter((section) => section.rules.length > 0)
}

export function holdingCases({ cases }: RuleResult): number {
  return cases.filter(({ verdict }) => verdict === 'holds').length
}

/** A case that does not hold, with its evidence. */
export interface Problem {
  readonly rule: RuleResult['rule']
  readonly found: CaseResult
  /** `must, HTTP: RFC 9110, section 15.5.6`. */
  readonly source: string
  /** The requests of the case as lines for a shell. */
  readonly commands: readonly string[]
  readonly findings: readonly Evidence[]
}

export interface Evidence {
  /** The step that sent the request. */
  readonly step: string | undefined
  readonly message: string
  readonly lines: readonly Line[]
}

const weights = { must: 0, should: 1, may: 2 }

/** All cases that do not hold, those of rules that must hold first. */
export function problemsOf({ rules }: Pick<Report, 'rules'>): Problem[] {
  return rules
    .flatMap(({ rule, cases }) => cases.filter(isProblem).map((found) => problemOf(rule, found)))
    .sort((left, right) => weights[left.found.level] - weights[right.found.level])
}

export function problemOf(rule: RuleResult['rule'], found: CaseResult): Problem {
  const source = `${found.level}, ${tierTitles[found.tier]}${found.section && `: ${found.section}`}`
  const findings = found.findings.map(({ exchange, part, message }) => ({
    ...{ step: exchange?.step, message },
    lines: exchange === undefined ? [] : responseLines(exchange, part),
  }))
  return { rule, found, source, commands: replayLines(found), findings }
}

/** The lines of a response as text. A mark stands before those that show the problem. */
export function markedLines({ lines }: Evidence): string[] {
  return lines.map(({ text, marked }) => `${marked ? '> ' : '  '}${text}`)
}

/** The scores in one line: `HTTP: 87 of 94 hold; Safety: …`. */
export function summaryLine(report: Pick<Report, 'rules' | 'strict'>): string {
  return scoresOf(report)
    .map(({ title, text }) => `${title}: ${text}`)
    .join('; ')
}

interface Leftover {
  readonly message: string
  /** Paths from the root. */
  readonly paths: readonly string[]
}

/**
 * The records that exist after the run and did not exist before. Empty if the server has the same records as before.
 */
export function leftoversOf({ remains, jobs, differences }: Report): readonly Leftover[] {
  // The server deletes jobs itself, so a few examples are enough.
  const someJobs = jobs.length <= 4 ? jobs : [...jobs.slice(0, 3), `… ${jobs.length - 3} more`]
  const undeleted = { message: `Created by the check, and could not be deleted (${remains.length})`, paths: remains }
  const message = `Jobs and exports that the check started and could not delete (${jobs.length})`
  return [
    ...(remains.length === 0 ? [] : [undeleted]),
    ...differences.map((each) => ({ message: differenceText(each), paths: each.unexplained })),
    ...(jobs.length === 0 ? [] : [{ message, paths: someJobs }]),
  ]
}

/** The lines of a leftover as text: the message, then its paths. */
export function leftoverLines({ message, paths }: Leftover): string[] {
  return [`${message}${paths.length === 0 ? '' : ':'}`, ...paths.map((path) => `  ${path}`)]
}

function differenceText(difference: Difference): string {
  const { collection, before, after, created, unexplained, isMade, isUnreadable } = difference
  if (isUnreadable === true) {
    const count = before === undefined ? '' : ` of ${before} records`
    return `${collection}: its list${count} could be read before the check, and cannot be read any more`
  }
  const isMore = after !== undefined && before !== undefined && after > before
  const parts = [
    ...(created.length === 0 ? [] : [`${created.length} listed above`]),
    ...(unexplained.length === 0 ? [] : [`probably the check's: ${unexplained.length}`]),
  ]
  const others = isMade ? 'by others, as far as can be seen' : 'by the server: clients only read these records'
  const cause = parts.length > 0 ? parts.join('; ') : `${isMore ? 'created' : 'changed'} ${others}`
  return `${collection}: ${countText(before, after)}; ${cause}`
}

function countText(before: number | undefined, after: number | undefined): string {
  if (before === undefined || after === undefined) return 'the records could not be counted before and after'
  const difference = Math.abs(after - before)
  if (difference === 0) return `as many records as before (${before}), but not the same`
  const counted = difference === 1 ? '1 record' : `${difference} records`
  return `${counted} ${after > before ? 'more' : 'fewer'} than before (${before}, now ${after})`
}

interface Line {
  readonly text: string
  /** Whether it shows the problem. */
  readonly marked: boolean
}

const mostLines = 40
const widest = 200

/** A response as lines, those of the wrong part marked. */
function responseLines({ answer, failure }: Exchange, part: Part): Line[] {
  if (answer === undefined) return [{ text: failure ?? 'no response', marked: true }]
  const name = typeof part === 'object' && 'field' in part ? part.field.toLowerCase() : undefined
  return [
    line(`HTTP/${answer.version} ${answer.status}`, part === 'status' || part === 'connection'),
    ...answer.fields.map(([each, value]) => line(`${each}: ${value}`, each.toLowerCase() === name)),
    ...(answer.body === '' ? [] : [line('', false), ...bodyLines(answer, part)]),
  ]
}

function bodyLines(answer: NonNullable<Exchange['answer']>, part: Part): Line[] {
  const pointer = typeof part === 'object' && 'pointer' in part ? part.pointer : undefined
  const value = jsonOf(answer)
  const lines =
    value === undefined ? answer.body.split('\n').map((text) => line(text, false)) : jsonLines(value, pointer)
  const all = part === 'body' ? lines.map((each) => ({ ...each, marked: true })) : lines
  if (all.length <= mostLines) return all
  const first = all.findIndex(({ marked }) => marked)
  const start = first < mostLines ? 0 : first - mostLines / 2
  const rest = all.length - start - mostLines
  return [
    ...(start > 0 ? [line(`… ${start} lines`, false)] : []),
    ...all.slice(start, start + mostLines),
    ...(rest > 0 ? [line(`… ${rest} lines more`, false)] : []),
  ]
}

function line(text: string, marked: boolean): Line {
  return { text: text.length > widest ? `${text.slice(0, widest)} …` : text, marked }
}

/** JSON with one member a line. Marks the value at a pointer; if there is none, the first line. */
function jsonLines(value: unknown, pointer: string | undefined): Line[] {
  const lines: Line[] = []
  const write = (each: unknown, at: string, before: string, after: string, isInside: boolean) => {
    const marked = isInside || at === pointer
    const indent = '  '.repeat(at.split('/').length - 1)
    if (typeof each !== 'object' || each === null || Object.keys(each).length === 0) {
      lines.push(line(`${indent}${before}${JSON.stringify(each)}${after}`, marked))
      return
    }
    const isArray = Array.isArray(each)
    lines.push(line(`${indent}${before}${isArray ? '[' : '{'}`, marked))
    const entries = Object.entries(each)
    for (const [index, [name, inner]] of entries.entries()) {
      const comma = index < entries.length - 1 ? ',' : ''
      write(inner, at + memberPointer(name), isArray ? '' : `${JSON.stringify(name)}: `, comma, marked)
    }
    lines.push(line(`${indent}${isArray ? ']' : '}'}${after}`, marked))
  }
  write(value, '', '', '', false)
  if (pointer === undefined || lines.some(({ marked }) => marked)) return lines
  return lines.map((each, index) => (index === 0 ? { ...each, marked: true } : each))
}
