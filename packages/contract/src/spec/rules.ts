/** All rules of the interface, and the order of their sections. */

import { accessRules } from './rules/access.ts'
import { changeRules } from './rules/changes.ts'
import { collectionRules } from './rules/collections.ts'
import { conditionRules } from './rules/conditions.ts'
import { deletionRules } from './rules/deletion.ts'
import { eventRules } from './rules/events.ts'
import { operationRules } from './rules/operation.ts'
import { relatedRules } from './rules/related.ts'
import { resourceRules } from './rules/resources.ts'
import type { Rule, RuleLevel, RuleSection } from './rules/rule.ts'
import { tenantRules } from './rules/tenants.ts'

/** The sections in the order of `docs/reference/rules.md`; the checker has the same order. */
export const ruleSections: readonly RuleSection[] = [
  ...resourceRules,
  ...collectionRules,
  ...relatedRules,
  ...changeRules,
  ...conditionRules,
  ...deletionRules,
  ...accessRules,
  ...eventRules,
  ...tenantRules,
  ...operationRules,
]

/** All rules, in the same order. */
export const rules: readonly Rule[] = ruleSections.flatMap((section) =>
  section.rules.map((entry) => ({ ...entry, section: section.prefix, level: levelOf(entry) })),
)

function levelOf({ mark, isOptional }: Pick<Rule, 'mark' | 'isOptional'>): RuleLevel {
  if (mark === 'decision') return 'should'
  return mark === 'specification' && !isOptional ? 'must' : 'may'
}
