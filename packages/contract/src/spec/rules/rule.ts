/** The form of the rules: numbered sentences about the interface that can be checked. */

/** Where a rule comes from. */
type RuleMark =
  /** The specification demands it. */
  | 'specification'
  /** The specification leaves the point open; this is our decision. */
  | 'decision'
  /** It goes beyond the specification. */
  | 'beyond'

/**
 * How binding the rule is for any server with such an interface: `must` where the specification demands it, `should`
 * where it leaves the point open, `may` where the rule is optional or goes beyond the specification.
 */
export type RuleLevel = 'must' | 'should' | 'may'

/** One rule as its section declares it. */
interface RuleEntry {
  /** Permanent: tests, error documentation and commit messages cite it. A number is never reused. */
  readonly id: `${string}-${number}`
  readonly mark: RuleMark
  /** Whether the specification calls the rule optional. */
  readonly isOptional?: true
  /** Whether the rule is for a later release. A test demands a scenario for every other rule. */
  readonly isPlanned?: true
  readonly sentence: string
  /** Why clients cannot observe whether a server keeps the rule. The checker has no cases for such a rule. */
  readonly unobservable?: string
}

/** A group of rules about one subject. */
export interface RuleSection {
  /** The first part of its rule numbers. */
  readonly prefix: string
  readonly title: string
  readonly rules: readonly RuleEntry[]
}

/** A rule with the prefix of its section. */
export interface Rule extends RuleEntry {
  readonly section: string
  readonly level: RuleLevel
}
