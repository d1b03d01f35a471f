/** Access rules: who may do what (AUT-3 to AUT-7). */
import { actions } from '../declaration.ts'
import { isRecord } from '../field.ts'
import { nearest, oneOf, suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { checkCondition } from './conditions.ts'
import { checkKeys, expectRecord, own, type Report, show } from './problem.ts'
import type { Edge } from './relations.ts'
import type { ResourceView, ResourceViews } from './views.ts'

/**
 * Checks the access rules of a resource.
 *
 * @returns which action reads through which other one, to find those that go round in circles
 */
export function checkAccess(report: Report, resource: ResourceView, resources: ResourceViews): Edge[] {
  const path = at(resource.path, 'access')
  const access = own(resource.declared, 'access')
  const edges: Edge[] = []
  if (access === undefined || !expectRecord(report, path, access, 'access: { read: "anyone" }')) return edges
  for (const [action, rules] of Object.entries(access)) {
    const place = at(path, action)
    if (!(actions as readonly string[]).includes(action)) {
      report(place, 'is not an action', suggest(action, actions))
      continue
    }
    const each = (rule: unknown, path: string) => {
      const target = checkRule(report, path, rule, resource, resources)
      if (target !== undefined) edges.push({ from: `${resource.name}.${action}`, to: target, path })
    }
    if (!Array.isArray(rules)) each(rules, place)
    else if (rules.length === 0)
      report(place, 'is empty', 'Write "nobody", or leave it out: then only administrators may.')
    else
      rules.forEach((rule, index) => {
        each(rule, item(place, index))
      })
  }
  return edges
}

const words = ['anyone', 'nobody', 'owner']
const hints: Readonly<Record<string, string>> = {
  everyone: 'anyone', everybody: 'anyone', all: 'anyone', public: 'anyone', authenticated: 'anyone', '*': 'anyone',
  none: 'nobody', never: 'nobody', self: 'owner', me: 'owner',
} // biome-ignore format: one row reads best

/** Checks one rule; returns the action that it reads through, as `collection.action`. */
function checkRule(
  report: Report,
  path: string,
  rule: unknown,
  resource: ResourceView,
  resources: ResourceViews,
): string | undefined {
  if (typeof rule === 'function') checkSynchronous(report, path, rule)
  else if (typeof rule === 'string') checkWord(report, path, rule, resource)
  else if (!isRecord(rule))
    report(
      path,
      `is not an access rule: ${show(rule)}`,
      'Write "anyone", "nobody", "owner", "role:NAME", { where } or { through, action }.',
    )
  else if (Object.hasOwn(rule, 'through')) return checkThrough(report, path, rule, resource, resources)
  else if (Object.hasOwn(rule, 'where')) {
    checkKeys(report, path, rule, ['where'])
    if (isRecord(rule.where) && Object.keys(rule.where).length === 0) {
      report(at(path, 'where'), 'is true of every record', 'Write "anyone", or a condition.')
    } else checkCondition(report, at(path, 'where'), rule.where, { resource, record: undefined })
  } else
    report(
      path,
      `is not an access rule: ${show(rule)}`,
      'Write { where: { … } } or { through: FIELD, action: ACTION }.',
    )
  return undefined
}

/** Reports a function that awaits: rules are decided at once. */
export function checkSynchronous(report: Report, path: string, check: unknown): void {
  if (typeof check === 'function' && Object.prototype.toString.call(check) === '[object AsyncFunction]') {
    report(path, 'must not await: its answer is needed at once', 'Write a function without async.')
  }
}

function checkWord(report: Report, path: string, rule: string, resource: ResourceView): void {
  if (rule.startsWith('role:')) {
    if (/^role:[^\s,]+$/.test(rule)) return
    report(
      path,
      `names no role: ${show(rule)}`,
      'Write role: and a name without spaces or commas, such as "role:editor".',
    )
  } else if (rule === 'owner') {
    if (resource.owner !== undefined) return
    report(
      path,
      `needs an owner, and ${resource.name} has none`,
      'Write owner: the field that holds the id of the creator.',
    )
  } else if (!words.includes(rule)) {
    const near = (own(hints, rule) as string | undefined) ?? nearest(rule, words)
    const role = /^[\w-]+$/.test(rule)
      ? `Write "role:${rule}" for a role, or "anyone", "nobody" or "owner".`
      : undefined
    const remedy =
      near === undefined ? (role ?? 'Write "anyone", "nobody", "owner" or "role:NAME".') : `Did you mean "${near}"?`
    report(path, `is not an access rule: ${show(rule)}`, remedy)
  }
}

function checkThrough(
  report: Report,
  path: string,
  rule: Readonly<Record<string, unknown>>,
  resource: ResourceView,
  resources: ResourceViews,
): string | undefined {
  checkKeys(report, path, rule, ['through', 'action'])
  const { through, action } = rule
  const field = typeof through === 'string' ? resource.fields.get(through) : undefined
  const references = [...resource.fields.values()].filter((each) => each.declared.reference !== undefined)
  if (field === undefined || field.declared.reference === undefined) {
    const message =
      field === undefined
        ? `is not a field of ${resource.name}: ${show(through)}`
        : `is not a reference: ${show(through)}`
    const names = references.map((each) => each.name)
    report(
      at(path, 'through'),
      message,
      suggest(
        typeof through === 'string' ? through : '',
        names,
        `Name a reference${names.length > 0 ? `: ${oneOf(names)}` : ''}.`,
      ),
    )
  }
  const place = at(path, 'action')
  if (typeof action !== 'string' || !(actions as readonly string[]).includes(action)) {
    report(place, `is not an action: ${show(action)}`, suggest(typeof action === 'string' ? action : '', actions))
    return undefined
  }
  const target = typeof field?.declared.reference === 'string' ? resources.get(field.declared.reference) : undefined
  if (target === undefined) return undefined
  if (own(target.access, action) === undefined) {
    const remedy = `Declare access.${action} in ${target.name}, or name an action that is declared there.`
    report(place, `is not declared in ${target.name}: administrators alone could ever pass`, remedy)
    return undefined
  }
  return `${target.name}.${action}`
}
