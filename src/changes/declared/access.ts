/** Who may do what (AUT-3): whether anyone lost it. */
import { type AccessRule, actions } from '../../model/declaration.ts'
import type { Resource } from '../../model/resource.ts'
import { canonical } from '../openapi/canonical.ts'
import type { Said } from './said.ts'

/** Compares the rules of each action; an action is allowed where any of its rules allows it. */
export function compareAccess(was: Resource, is: Resource): Said[] {
  return actions.flatMap((action): Said[] => {
    const before = new Set(was.access[action].map(textOf))
    const after = new Set(is.access[action].map(textOf))
    const lost = after.has('anyone') ? [] : [...before].filter((rule) => !after.has(rule) && rule !== 'nobody')
    const gained = [...after].filter((rule) => !before.has(rule) && rule !== 'nobody')
    const said = { at: ['access', action], keyword: action, before: shown(before), after: shown(after) }
    if (lost.length === 0)
      return gained.length === 0 || before.has('anyone') ? [] : [{ kind: 'access-widened', ...said }]
    // A condition that came may allow the same, or more: only the data says.
    const decidable = before.has('anyone') || gained.every(isPlain)
    return [{ kind: decidable ? 'access-narrowed' : 'access-changed', ...said }]
  })
}

function shown(rules: ReadonlySet<string>): string {
  return [...rules].join(' or ')
}

/** A function is known by its source: what it closes over is not seen. */
function textOf(rule: AccessRule): string {
  return typeof rule === 'string' ? rule : typeof rule === 'function' ? String(rule) : canonical(rule)
}

function isPlain(rule: string): boolean {
  return ['anyone', 'nobody', 'owner'].includes(rule) || rule.startsWith('role:')
}
