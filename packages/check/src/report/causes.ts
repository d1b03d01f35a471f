/**
 * Groups results by their cause: cases that fail by the same wrong response are one line, with what depends on them;
 * reasons for which cases showed nothing are said once.
 */
import { tiers } from '../case/tiers.ts'
import type { CaseResult, Report } from '../run/check.ts'
import { isProblem } from './summary.ts'

export interface Cause {
  /** The most severe of the cases: it stands for all. */
  readonly lead: CaseResult
  /** All of them, the lead among them. */
  readonly cases: readonly CaseResult[]
  /** Cases that depend on one of them. */
  readonly blocked: readonly CaseResult[]
}

export interface Gap {
  readonly why: string
  readonly verdict: CaseResult['verdict']
  readonly cases: readonly CaseResult[]
  readonly blocked: readonly CaseResult[]
}

/** What does not hold, the worst first: by level, then by tier, then by the number of cases. */
export function causesOf({ rules }: Pick<Report, 'rules'>): readonly Cause[] {
  const all = rules.flatMap(({ cases }) => cases)
  const blockedBy = dependents(all)
  return [...Map.groupBy(all.filter(isProblem), keyOf).values()]
    .map((cases) => {
      const sorted = cases.toSorted((left, right) => severityOf(left) - severityOf(right))
      return { lead: sorted[0] as CaseResult, cases: sorted, blocked: blockedOf(cases, blockedBy) }
    })
    .sort((left, right) => severityOf(left.lead) - severityOf(right.lead) || sizeOf(right) - sizeOf(left))
}

/** Causes in groups, and how many of each the text shows. Other choices are no faults, unless the run is strict. */
export function causeGroups(report: Pick<Report, 'rules' | 'strict'>) {
  const isChoice = ({ lead }: Cause) => lead.tier === 'choices' && !report.strict
  const causes = causesOf(report)
  return [
    { title: 'What does not hold, the worst first', causes: causes.filter((each) => !isChoice(each)), most: 14 },
    { title: 'Other choices than those of this specification', causes: causes.filter(isChoice), most: 7 },
  ]
}

/** Why cases showed nothing: each reason once, those that could not be set up first. */
export function gapsOf({ rules }: Pick<Report, 'rules'>): readonly Gap[] {
  const all = rules.flatMap(({ cases }) => cases)
  const blockedBy = dependents(all)
  const open = all.filter(({ verdict }) => /^not /.test(verdict))
  return [...Map.groupBy(open, ({ verdict, why }) => `${verdict} ${normalized(why)}`).values()]
    .map((cases) => {
      const { verdict, why } = cases[0] as CaseResult
      return { why, verdict, cases, blocked: blockedOf(cases, blockedBy) }
    })
    .sort((left, right) => gapOrder(left) - gapOrder(right) || sizeOf(right) - sizeOf(left))
}

/** The number of cases for which a cause or a gap counts. */
function sizeOf({ cases, blocked }: Pick<Cause, 'cases' | 'blocked'>): number {
  return cases.length + blocked.length
}

function gapOrder({ verdict }: Gap): number {
  return verdict === 'not set up' ? 0 : verdict === 'not applicable' ? 1 : 2
}

const levels = ['must', 'should', 'may'] as const

function severityOf({ verdict, level, tier }: CaseResult): number {
  return (verdict === 'fails' ? 0 : 100) + levels.indexOf(level) * 10 + tiers.indexOf(tier)
}

function dependents(all: readonly CaseResult[]): ReadonlyMap<string | undefined, readonly CaseResult[]> {
  return Map.groupBy(all, ({ blockedBy }) => blockedBy)
}

function blockedOf(cases: readonly CaseResult[], blockedBy: ReturnType<typeof dependents>): readonly CaseResult[] {
  const direct = cases.flatMap(({ id }) => blockedBy.get(id) ?? [])
  return direct.length === 0 ? [] : [...direct, ...blockedOf(direct, blockedBy)]
}

/**
 * What is equal in cases with one cause: a wrong header field, or a request that is refused or not answered, wherever
 * it occurs; any other finding within its rule.
 */
function keyOf({ id, findings: [first] }: CaseResult): string {
  if (first === undefined) return id
  const { part, exchange, message } = first
  const text = normalized(message)
  if (typeof part === 'object' && 'field' in part) return `${part.field.toLowerCase()} ${text}`
  const request = exchange === undefined ? '' : `${exchange.asked.method} ${shapeOf(exchange.asked.url)}`
  if (exchange !== undefined && exchange.answer === undefined) return `${request} ${exchange.failure}`
  if (part === 'status' && (exchange?.answer?.status ?? 0) >= 400) return `${request} ${exchange?.answer?.status}`
  return `${id.slice(0, id.indexOf('/'))} ${JSON.stringify(part)} ${text}`
}

/** A text without what differs from record to record: numbers and quoted values. */
function normalized(text: string): string {
  return text.replaceAll(/checked-\w+|"[^"]*"|[\da-f]{8}-[\da-f-]{27}|\d+/g, '…')
}

/** The path of an address, without identifiers, and the names of its parameters. */
function shapeOf(address: string): string {
  const [path = '', query = ''] = address.replace(/^[a-z]+:\/\/[^/]*/i, '').split('?')
  const segments = path.split('/').map((each) => (/\d/.test(each) && !/^v\d+$/.test(each) ? '{id}' : each))
  const names = query.split('&').map((each) => each.split('=')[0])
  return `${segments.join('/')}?${names.join('&')}`
}
