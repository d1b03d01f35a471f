/** Verdicts on cases, and on the rules that they are about. */
import type { Rule, RuleLevel } from '../../spec/rules/rule.ts'
import { type Case, type Finding, ruleOf } from '../case/case.ts'
import type { Exchange } from '../client/exchange.ts'

/** The verdict on a case or a rule. */
export type Verdict =
  /** Responses showed that it holds. */
  | 'holds'
  /** Responses showed that it does not hold. */
  | 'fails'
  /** Responses showed that it does not hold, and it may be ignored. */
  | 'advice'
  /** The server has nothing that it is about, or clients cannot observe it. */
  | 'not applicable'
  /** The checker could not create the conditions that it needs. */
  | 'not set up'
  /** A case on which it depends does not hold. */
  | 'blocked'
  /** Options or a stop left it out. */
  | 'not asked'

/** The result of a case. */
export interface CaseResult {
  readonly id: Case['id']
  readonly title: string
  readonly level: RuleLevel
  readonly mend: string
  readonly verdict: Verdict
  /** Why responses showed nothing; empty otherwise. */
  readonly why: string
  /** The collection on which it ran. */
  readonly collection: string
  readonly findings: readonly Finding[]
  /** All exchanges of a case that does not hold. */
  readonly exchanges: readonly Exchange[]
  readonly milliseconds: number
}

/** The result of a rule. */
export interface RuleResult {
  readonly rule: Pick<Rule, 'id' | 'section' | 'level' | 'mark' | 'sentence'>
  readonly verdict: Verdict
  readonly why: string
  readonly cases: readonly CaseResult[]
}

/** A rule gets the first of these verdicts that one of its cases has. */
const order: readonly Verdict[] = ['fails', 'advice', 'holds', 'blocked', 'not set up', 'not asked', 'not applicable']

/** Sums up the results of a rule's cases. */
export function ruleResult(rule: Rule, all: readonly CaseResult[]): RuleResult {
  const { id, section, level, mark, sentence, unobservable } = rule
  const cases = all.filter((each) => ruleOf(each) === id)
  const verdict = order.find((each) => cases.some((one) => one.verdict === each)) ?? 'not applicable'
  const first = cases.find((each) => each.verdict === verdict)
  const why = first?.why ?? unobservable ?? 'clients cannot observe it'
  return { rule: { id, section, level, mark, sentence }, verdict, why, cases }
}

/** The verdict on a case that does not hold. */
export function problemVerdict(level: RuleLevel): Verdict {
  return level === 'may' ? 'advice' : 'fails'
}
