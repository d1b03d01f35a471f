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

/** What a rule says. */
interface RuleText {
  readonly mark: RuleMark
  /** Whether the specification calls the rule optional. */
  readonly isOptional?: true
  readonly sentence: string
  /** Why clients cannot observe whether a server keeps the rule. The checker has no cases for such a rule. */
  readonly unobservable?: string | undefined
}

/** A rule as its section has it. */
interface RuleEntry extends RuleText {
  /** Permanent: tests, error documentation and commit messages cite it. A number is never reused. */
  readonly id: string
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

type MakeRule = (sentence: string, unobservable?: string) => RuleText

/** A rule that the specification demands. */
export const demanded: MakeRule = (sentence, unobservable) => ({ mark: 'specification', sentence, unobservable })
/** A rule of the specification that it calls optional. */
export const optional: MakeRule = (...said) => ({ ...demanded(...said), isOptional: true })
/** Our decision where the specification leaves the point open. */
export const decided: MakeRule = (...said) => ({ ...demanded(...said), mark: 'decision' })
/** A rule that goes beyond the specification. */
export const beyond: MakeRule = (...said) => ({ ...demanded(...said), mark: 'beyond' })

/** A section, with its rules by their numbers. */
export function section(prefix: string, title: string, rules: Readonly<Record<string, RuleText>>): RuleSection {
  return { prefix, title, rules: Object.entries(rules).map(([id, rule]) => ({ id, ...rule })) }
}
