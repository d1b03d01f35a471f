/** All rules of the interface, and the order of their sections. */

import { callers, transport } from './rules/access.ts'
import { pages, queries } from './rules/collections.ts'
import { conditions, heads, preflight } from './rules/conditions.ts'
import { deletion, jobs } from './rules/deletion.ts'
import { documents, errors, limits, operation, versions } from './rules/operation.ts'
import { methods, resources } from './rules/resources.ts'
import type { Rule, RuleEntry, RuleLevel, RuleSection } from './rules/rule.ts'

/** The sections in the order of `docs/interface.md`; the checker has the same order. */
export const ruleSections: readonly RuleSection[] = [
  resources,
  methods,
  queries,
  pages,
  conditions,
  heads,
  preflight,
  deletion,
  jobs,
  callers,
  errors,
  limits,
  versions,
  transport,
  documents,
  operation,
]

/** All rules, in the same order. */
export const rules: readonly Rule[] = ruleSections.flatMap((section) =>
  section.rules.map((entry) => ({ ...entry, section: section.prefix, level: levelOf(entry) })),
)

function levelOf({ mark, isOptional }: RuleEntry): RuleLevel {
  if (mark === 'decision') return 'should'
  return mark === 'specification' && !isOptional ? 'must' : 'may'
}
