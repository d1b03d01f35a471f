/** What all reports begin with. */
import type { Report } from '../run/check.ts'
import type { CaseResult, RuleResult, Verdict } from '../run/verdict.ts'

/** Verdicts in the order in which they are told. */
export const verdicts: readonly Verdict[] = [
  'holds',
  'fails',
  'advice',
  'blocked',
  'not set up',
  'not applicable',
  'not asked',
]

/** How many rules there are of each verdict. */
export function countsOf({ rules }: Pick<Report, 'rules'>): ReadonlyMap<Verdict, number> {
  return new Map(verdicts.map((verdict) => [verdict, rules.filter((rule) => rule.verdict === verdict).length]))
}

/** A case that fails a demand of the specification. */
export function isFatal({ verdict, level }: Pick<CaseResult, 'verdict' | 'level'>): boolean {
  return verdict === 'fails' && level === 'must'
}

/** Whether anything fails that must hold. */
export function hasFailed({ rules }: Pick<Report, 'rules'>): boolean {
  return rules.some(({ cases }) => cases.some(isFatal))
}

/** All cases that are not so, the demands first. */
export function wrongCases({
  rules,
}: Pick<Report, 'rules'>): { readonly rule: RuleResult; readonly found: CaseResult }[] {
  const weight = { must: 0, should: 1, may: 2 }
  return rules
    .flatMap((rule) => rule.cases.map((found) => ({ rule, found })))
    .filter(({ found }) => found.verdict === 'fails' || found.verdict === 'advice')
    .sort((left, right) => weight[left.found.level] - weight[right.found.level])
}

/** One line on a report as a whole: `41 rules hold, 3 fail, …`. */
export function summaryLine(report: Report): string {
  const counts = countsOf(report)
  const told: Readonly<Record<Verdict, (count: number) => string>> = {
    holds: (count) => `${count} ${count === 1 ? 'rule holds' : 'rules hold'}`,
    fails: (count) => `${count} ${count === 1 ? 'fails' : 'fail'}`,
    advice: (count) => `${count} to think about`,
    blocked: (count) => `${count} blocked by others`,
    'not set up': (count) => `${count} could not be set up`,
    'not applicable': (count) => `${count} not applicable`,
    'not asked': (count) => `${count} not asked`,
  }
  return verdicts
    .flatMap((verdict) => (counts.get(verdict) ? [told[verdict](counts.get(verdict) as number)] : []))
    .join(', ')
}

/** The requests of a case, each once, with how often it was made. */
export function requestsOf(
  { exchanges }: CaseResult,
  command: (exchange: CaseResult['exchanges'][number]) => string,
): string[] {
  const times = new Map<string, number>()
  for (const exchange of exchanges) {
    const text = command(exchange)
    times.set(text, (times.get(text) ?? 0) + 1)
  }
  return [...times].map(([text, count]) => (count === 1 ? text : `${text}   # ${count} times`))
}
