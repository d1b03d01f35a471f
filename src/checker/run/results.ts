/** The results of cases and rules, without the credentials of callers. */
import type { Rule, RuleLevel } from '../../spec/rules/rule.ts'
import { type Case, type Finding, ruleOf } from '../case/case.ts'
import { nameSecrets } from '../client/credentials.ts'
import type { Exchange, Fields } from '../client/exchange.ts'

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

/**
 * Replaces credentials with the names of variables, wherever they stand in a result.
 *
 * @param credentials by the name of their variable
 */
export function redactor(credentials: Readonly<Record<string, Fields>>): (result: CaseResult) => CaseResult {
  const text = nameSecrets(credentials)
  const fieldsOf = (fields: Fields) => fields.map(([name, value]) => [name, text(value)] as const)
  const redacted = new Map<Exchange, Exchange>()
  const exchangeOf = (exchange: Exchange): Exchange => {
    const { asked, answer } = exchange
    const known = redacted.get(exchange) ?? {
      ...exchange,
      asked: {
        ...{ method: asked.method, url: text(asked.url), fields: fieldsOf(asked.fields) },
        ...{ body: asked.body && text(asked.body), bytes: asked.bytes && text(asked.bytes) },
      },
      answer: answer && { ...answer, fields: fieldsOf(answer.fields), body: text(answer.body) },
    }
    // Findings and the list of exchanges share their exchanges.
    redacted.set(exchange, known)
    return known
  }
  const findingOf = (finding: Finding): Finding => ({
    ...finding,
    message: text(finding.message),
    exchange: finding.exchange && exchangeOf(finding.exchange),
  })
  return (result) => ({
    ...result,
    why: text(result.why),
    findings: result.findings.map(findingOf),
    exchanges: result.exchanges.map(exchangeOf),
  })
}
