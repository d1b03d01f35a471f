/** Business rules: what they refuse is a 409 that clients did not get before. */
import type { BusinessRule } from '../../model/declaration.ts'
import type { Resource } from '../../model/resource.ts'
import { canonical } from '../openapi/canonical.ts'
import type { Said } from './said.ts'

/** Compares the rules of one resource, by their codes; one that is a function is known by its source. */
export function compareRules(was: Resource, is: Resource): Said[] {
  const before = byName(was.rules)
  return [...byName(is.rules)].flatMap(([name, rules]): Said[] => {
    const known = before.get(name)
    const said = { names: [name], at: ['rules'] }
    if (known === undefined) return [{ kind: 'rule-added', ...said }]
    return textOf(known) === textOf(rules) ? [] : [{ kind: 'rule-changed', ...said }]
  })
}

function byName(rules: readonly BusinessRule[]): Map<string, BusinessRule[]> {
  return Map.groupBy(rules, (rule) => ('code' in rule ? rule.code : `of a function on ${[rule.on].flat().join(', ')}`))
}

function textOf(rules: readonly BusinessRule[]): string {
  return rules
    .map((rule) =>
      'check' in rule
        ? `${canonical(rule.on)} ${String(rule.check)}`
        : canonical([[rule.on].flat().sort(), rule.unless]),
    )
    .sort()
    .join('\n')
}
