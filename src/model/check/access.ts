/** Checks access rules: who may perform which action (AUT-3 to AUT-7). */
import { actions } from '../declaration.ts'
import { nearest, oneOf, suggest } from '../nearest.ts'
import { isObject } from '../plain-copy.ts'
import { checkCondition } from './conditions.ts'
import { own, type Part, type ResourceView, type ResourceViews } from './parts.ts'
import { show } from './problem.ts'
import type { Edge } from './relations.ts'

/**
 * Checks the access rules of a resource.
 *
 * @returns which action depends on which other action by `through`, to find cycles
 */
export function checkAccess(resource: ResourceView, resources: ResourceViews): Edge[] {
  const access = resource.part.key('access')
  const edges: Edge[] = []
  if (!access.optionalObject('access: { read: "anyone" }')) return edges
  for (const [action, rules] of access.entries()) {
    if (!(actions as readonly string[]).includes(action)) {
      rules.report('is not an action', suggest(action, actions))
      continue
    }
    if (Array.isArray(rules.value) && rules.value.length === 0) {
      rules.report('is empty', 'Write "nobody", or leave it out: then only administrators may.')
    }
    for (const rule of Array.isArray(rules.value) ? rules.items() : [rules]) {
      const target = checkRule(rule, resource, resources)
      if (target !== undefined) edges.push({ from: `${resource.name}.${action}`, to: target, path: rule.path })
    }
  }
  return edges
}

const words = ['anyone', 'nobody', 'owner']
const hints: Readonly<Record<string, string>> = {
  everyone: 'anyone', everybody: 'anyone', all: 'anyone', public: 'anyone', authenticated: 'anyone', '*': 'anyone',
  none: 'nobody', never: 'nobody', self: 'owner', me: 'owner',
} // biome-ignore format: one row reads best

/** Checks one rule; returns the action that it depends on, as `collection.action`. */
function checkRule(rule: Part, resource: ResourceView, resources: ResourceViews): string | undefined {
  const { value } = rule
  if (typeof value === 'function') rule.synchronous()
  else if (typeof value === 'string') checkWord(rule, value, resource)
  else if (!isObject(value)) {
    const remedy = 'Write "anyone", "nobody", "owner", "role:NAME", { where } or { through, action }.'
    rule.report(`is not an access rule: ${show(value)}`, remedy)
  } else if (Object.hasOwn(value, 'through')) return checkThrough(rule, resource, resources)
  else if (Object.hasOwn(value, 'where')) {
    rule.keys(['where'])
    const where = rule.key('where')
    if (!isObject(where.value) || Object.keys(where.value).length > 0) {
      checkCondition(where, { resource, record: undefined })
    } else where.report('is true of every record', 'Write "anyone", or a condition.')
  } else {
    const remedy = 'Write { where: { … } } or { through: FIELD, action: ACTION }.'
    rule.report(`is not an access rule: ${show(value)}`, remedy)
  }
  return undefined
}

function checkWord(part: Part, rule: string, resource: ResourceView): void {
  if (rule.startsWith('role:')) {
    if (/^role:[^\s,]+$/.test(rule)) return
    const remedy = 'Write role: and a name without spaces or commas, such as "role:editor".'
    part.report(`names no role: ${show(rule)}`, remedy)
  } else if (rule === 'owner') {
    if (resource.owner !== undefined) return
    const remedy = 'Write owner: the field that holds the id of the creator.'
    part.report(`needs an owner, and ${resource.name} has none`, remedy)
  } else if (!words.includes(rule)) {
    const near = (own(hints, rule) as string | undefined) ?? nearest(rule, words)
    const role = /^[\w-]+$/.test(rule)
      ? `Write "role:${rule}" for a role, or "anyone", "nobody" or "owner".`
      : 'Write "anyone", "nobody", "owner" or "role:NAME".'
    part.report(`is not an access rule: ${show(rule)}`, near === undefined ? role : `Did you mean "${near}"?`)
  }
}

function checkThrough(rule: Part, resource: ResourceView, resources: ResourceViews): string | undefined {
  rule.keys(['through', 'action'])
  const [through, action] = [rule.key('through'), rule.key('action')]
  const field = resource.fields.get(through.text)
  const reference = field?.declared['reference']
  if (reference === undefined) {
    const what = field === undefined ? `is not a field of ${resource.name}` : 'is not a reference'
    const references = [...resource.fields.values()].filter((each) => each.declared['reference'] !== undefined)
    const names = references.map((each) => each.name)
    const remedy = `Name a reference${names.length > 0 ? `: ${oneOf(names)}` : ''}.`
    through.unknown(`${what}: ${show(through.value)}`, names, remedy)
  }
  if (!(actions as readonly string[]).includes(action.text)) {
    action.unknown(`is not an action: ${show(action.value)}`, actions)
    return undefined
  }
  const target = typeof reference === 'string' ? resources.get(reference) : undefined
  if (target === undefined) return undefined
  if (own(target.access, action.text) !== undefined) return `${target.name}.${action.text}`
  const remedy = `Declare access.${action.text} in ${target.name}, or name an action that is declared there.`
  action.report(`is not declared in ${target.name}: administrators alone could ever pass`, remedy)
  return undefined
}
