/** What is said of cases, and of the rules that they are about. */
import type { Rule, RuleLevel } from '../../spec/rules/rule.ts'
import { type Case, type Finding, ruleOf } from '../case/case.ts'
import type { Exchange } from '../client/exchange.ts'

/** What is said of a case, or of a rule. */
export type Verdict =
  /** It was seen to be so. */
  | 'holds'
  /** It was seen not to be so. */
  | 'fails'
  /** It was seen not to be so, and need not be. */
  | 'advice'
  /** The server has nothing that it could be about, or it cannot be seen from outside. */
  | 'not applicable'
  /** What it needs could not be brought about. */
  | 'not set up'
  /** Something fails without which it proves nothing. */
  | 'blocked'
  /** Nobody wanted to know. */
  | 'not asked'

/** A case, and what came of it. */
export interface CaseResult {
  readonly id: Case['id']
  readonly title: string
  readonly level: RuleLevel
  readonly mend: string
  readonly verdict: Verdict
  /** Why it was not seen; empty otherwise. */
  readonly why: string
  /** The collection that it was tried on. */
  readonly collection: string
  readonly findings: readonly Finding[]
  /** All that was asked for it, where it fails. */
  readonly exchanges: readonly Exchange[]
  readonly milliseconds: number
}

/** A rule, and what was seen of it. */
export interface RuleResult {
  readonly rule: Pick<Rule, 'id' | 'section' | 'level' | 'mark' | 'sentence'>
  readonly verdict: Verdict
  readonly why: string
  readonly cases: readonly CaseResult[]
}

// Whatever is worst is said of the rule; what was not seen is said only where nothing was.
const order: readonly Verdict[] = ['fails', 'advice', 'holds', 'blocked', 'not set up', 'not asked', 'not applicable']

/** What is said of a rule. */
export function ruleResult(rule: Rule, all: readonly CaseResult[]): RuleResult {
  const { id, section, level, mark, sentence, unobservable } = rule
  const cases = all.filter((each) => ruleOf(each) === id)
  const verdict = order.find((each) => cases.some((one) => one.verdict === each)) ?? 'not applicable'
  const first = cases.find((each) => each.verdict === verdict)
  const why = first?.why ?? unobservable ?? 'nothing of it can be seen from outside'
  return { rule: { id, section, level, mark, sentence }, verdict, why, cases }
}

/** What a case that is not so means: only what may be otherwise is mere advice. */
export function broken(level: RuleLevel): Verdict {
  return level === 'may' ? 'advice' : 'fails'
}
