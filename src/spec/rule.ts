/** What a rule of the interface is: a numbered sentence that can be checked. */

/** Who says it. */
export type RuleMark =
  /** The specification demands it. */
  | 'specification'
  /** The specification is silent, and this is what we decided. */
  | 'decision'
  /** It goes beyond the specification. */
  | 'beyond'

/**
 * How binding the rule is for a server of this kind, whoever made it: `must` where the specification demands it,
 * `should` where it leaves the point open and we settled it, `may` where it is optional or beyond the specification.
 */
export type RuleLevel = 'must' | 'should' | 'may'

/** One rule as its section writes it down. */
export interface RuleEntry {
  /** Permanent: tests, error documentation and commit messages cite it. */
  readonly id: `${string}-${number}`
  readonly mark: RuleMark
  readonly level: RuleLevel
  /** Whether this release keeps the rule; what is held has scenarios, and a test looks for them. */
  readonly held: boolean
  readonly sentence: string
}

/** A group of rules about one thing. */
export interface RuleSection {
  /** What its rule numbers begin with. */
  readonly prefix: string
  readonly title: string
  readonly rules: readonly RuleEntry[]
}

/** A rule, with the prefix of its section. */
export interface Rule extends RuleEntry {
  readonly section: string
}
