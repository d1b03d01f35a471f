/** Every rule of the interface, section by section. A number is never reused, whatever becomes of its rule. */
import type { Rule, RuleSection } from './rule.ts'
import { callers, transport } from './rules/access.ts'
import { pages, queries } from './rules/collections.ts'
import { conditions, heads, preflight } from './rules/conditions.ts'
import { deletion, jobs } from './rules/deletion.ts'
import { documents, errors, limits, operation, versions } from './rules/operation.ts'
import { methods, resources } from './rules/resources.ts'

/** The sections in the order of the document. */
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

/** All rules, in the order of the document. */
export const rules: readonly Rule[] = ruleSections.flatMap((section) =>
  section.rules.map((entry) => ({ ...entry, section: section.prefix })),
)
