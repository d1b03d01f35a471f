/**
 * Compares what two declarations promise beyond their OpenAPI documents: access, deletion, uniqueness, business rules,
 * limits.
 */
import { type AccessRule, actions, type BusinessRule } from 'resourced-contract/model/declaration'
import { pointerTo } from 'resourced-contract/model/place'
import { canonicalJson } from 'resourced-contract/model/plain-copy'
import { type Catalog, type Field, isRestorable, type Resource } from 'resourced-contract/model/resource'
import { comparedKeywords, type Difference } from './finding.ts'

/** A difference in a resource, or in the limits of the interface. */
type Declared = Pick<Difference, 'kind' | 'field' | 'names' | 'keyword' | 'before' | 'after'> & {
  /** The path to it in the declaration: below the resource or, of limits, below the root. */
  readonly at: readonly string[]
}

/** All differences of two declarations that their documents do not show. */
export function compareDeclarations(old: Catalog, now: Catalog): Difference[] {
  const difference = (root: readonly string[], { at, ...found }: Declared): Difference => {
    const places = [{ in: 'new', of: 'declaration', pointer: pointerTo([...root, ...at]) } as const]
    return { ...found, version: now.version, resources: root.slice(1), operations: [], places }
  }
  const inResources = [...old.resources.values()].flatMap((was) => {
    const is = now.resources.get(was.name)
    if (is === undefined) return []
    const found = comparisons.flatMap((compare) => compare(was, is))
    return found.map((each) => difference(['resources', was.name], each))
  })
  return [...inResources, ...compareLimits(old, now).map((each) => difference([], each))]
}

const comparisons = [
  ...[compareAccess, compareDeletion, compareUnique, compareOwner, compareSearch, compareFields],
  ...[compareRules, compareMaxAge],
]

/** AUT-3. An action is allowed where any of its rules allows it. */
function compareAccess(was: Resource, is: Resource): Declared[] {
  const ofActions = actions.flatMap((action) =>
    compareAccessRules(was.access[action], is.access[action], { at: ['access', action], keyword: action }),
  )
  return [...ofActions, ...compareFieldAccess(was, is)]
}

/** AUT-13, AUT-14. A field without rules is open to all who may use the record. */
function compareFieldAccess(was: Resource, is: Resource): Declared[] {
  const names = [...was.field.keys()].filter((name) => is.field.has(name))
  return names.flatMap((name) =>
    (['read', 'write'] as const).flatMap((use) => {
      const rulesOf = ({ fieldAccess }: Resource) => fieldAccess?.get(name)?.[use] ?? ['anyone' as const]
      const place = { at: ['access', 'fields', name, use], keyword: `${use} of ${name}` }
      return compareAccessRules(rulesOf(was), rulesOf(is), place)
    }),
  )
}

function compareAccessRules(
  was: readonly AccessRule[],
  is: readonly AccessRule[],
  place: Pick<Declared, 'at' | 'keyword'>,
): Declared[] {
  const before = new Set(was.map(accessText))
  const after = new Set(is.map(accessText))
  const lost = after.has('anyone') ? [] : [...before].filter((rule) => !after.has(rule) && rule !== 'nobody')
  const gained = [...after].filter((rule) => !before.has(rule) && rule !== 'nobody')
  const shown = (rules: ReadonlySet<string>) => [...rules].join(' or ')
  const found = { ...place, before: shown(before), after: shown(after) }
  if (lost.length === 0) {
    return gained.length === 0 || before.has('anyone') ? [] : [{ kind: 'access-widened', ...found }]
  }
  // A new condition may allow the same callers, or more: only the data says.
  const isDecidable =
    before.has('anyone') ||
    gained.every((rule) => ['anyone', 'nobody', 'owner'].includes(rule) || rule.startsWith('role:'))
  return [{ kind: isDecidable ? 'access-narrowed' : 'access-changed', ...found }]
}

/** Functions are compared by their source; values of their closures are not compared. */
function accessText(rule: AccessRule): string {
  if (typeof rule === 'string') return rule
  if (typeof rule === 'function') return String(rule)
  return canonicalJson('all' in rule ? { all: rule.all.map(accessText).sort() } : rule)
}

const day = 86_400_000

function compareDeletion(before: Resource, after: Resource): Declared[] {
  const [was, is] = [before.deletion, after.deletion]
  const found: Declared[] = []
  const at = (key: string) => ({ at: ['deletion', key] })
  if (was.variant !== is.variant) {
    found.push({ kind: is.variant === 'hard' ? 'deletion-hard' : 'deletion-soft', ...at('variant') })
  } else if (was.gracePeriod !== is.gracePeriod && isRestorable(before) && isRestorable(after)) {
    const kind = is.gracePeriod < was.gracePeriod ? 'grace-shortened' : 'grace-lengthened'
    const shown = (period: number) => (period % day === 0 ? `${period / day} days` : `${period / 1_000} seconds`)
    found.push({ kind, ...at('gracePeriod'), before: shown(was.gracePeriod), after: shown(is.gracePeriod) })
  }
  if (was.answer !== is.answer) {
    found.push({ kind: 'deletion-answer', ...at('answer'), before: was.answer, after: is.answer })
  }
  const [most, now] = [was.asynchronous.above, is.asynchronous.above]
  if (now === 0 && most !== 0) found.push({ kind: 'deletion-always-later', ...at('asynchronous') })
  else if (now < most) {
    const never = most === Infinity ? 'never' : most
    found.push({ kind: 'deletion-sooner-later', ...at('asynchronous'), before: never, after: now })
  }
  return found
}

function compareUnique(was: Resource, is: Resource): Declared[] {
  const added = is.unique
    .filter((set) => !was.unique.some((known) => known.every((field) => set.includes(field))))
    // Values of new fields cannot clash with anything that old clients send.
    .filter((set) => set.every((field) => was.field.has(field)))
  return added.map((names) => ({
    kind: 'unique-added',
    names,
    at: names.length === 1 ? ['fields', names[0]!] : ['unique'],
  }))
}

function compareOwner(was: Resource, is: Resource): Declared[] {
  if (was.owner === is.owner || is.owner === undefined || !was.field.has(is.owner)) return []
  return [{ kind: 'owner-changed', before: was.owner ?? 'none', after: is.owner, at: ['owner'] }]
}

function compareSearch(was: Resource, is: Resource): Declared[] {
  const searched = ({ fields }: Resource) => fields.filter((field) => field.search).map((field) => field.name)
  const [before, after] = [searched(was), searched(is)]
  // Without search fields there is no parameter `q`: the documents show that.
  if (before.length === 0 || after.length === 0) return []
  const lost = before.filter((name) => !after.includes(name) && is.field.has(name))
  const gained = after.filter((name) => !before.includes(name))
  return [...ifAny('search-removed', lost, { at: ['fields'] }), ...ifAny('search-added', gained, { at: ['fields'] })]
}

function compareFields({ fields }: Resource, { field }: Resource): Declared[] {
  return fields.flatMap((was): Declared[] => {
    const is = field.get(was.name)
    if (is === undefined) return []
    const about = { field: was.name, at: ['fields', was.name] }
    const found: Declared[] = []
    for (const word of was.readOnly || is.readOnly ? [] : comparedKeywords) {
      if (was[word] !== is[word]) found.push({ kind: `${word}-${is[word] ? 'added' : 'removed'}`, ...about })
    }
    const [lost, gained] = [transitionsBeyond(was, is), transitionsBeyond(is, was)]
    found.push(...ifAny('transitions-removed', lost, about), ...ifAny('transitions-added', gained, about))
    const [before, after] = [was.reference, is.reference]
    if (before?.collection !== after?.collection) {
      found.push({ kind: 'reference-changed', ...about, before: before?.collection, after: after?.collection })
    } else if (before?.onDelete !== after?.onDelete) {
      const kind = after?.onDelete === 'restrict' ? 'on-delete-stricter' : 'on-delete-changed'
      found.push({ kind, ...about, before: before?.onDelete, after: after?.onDelete })
    }
    if (before !== undefined && after !== undefined && before.requires !== after.requires) {
      found.push({ kind: after.requires === 'read' ? 'reference-narrowed' : 'reference-widened', ...about })
    }
    return found
  })
}

/** The transitions that one of two fields allows and the other does not, of the values that both have. */
function transitionsBeyond(field: Field, other: Field): string[] {
  const values = (field.enum ?? []).filter((value) => other.enum?.includes(value))
  const allows = ({ transitions }: Field, from: string, to: string) =>
    transitions === undefined || transitions[from]?.includes(to) === true
  return values.flatMap((from) =>
    values
      .filter((to) => to !== from && allows(field, from, to) && !allows(other, from, to))
      .map((to) => `from ${from} to ${to}`),
  )
}

/** Compares business rules by their codes. A rule that is a function has no code, so its source is compared. */
function compareRules(was: Resource, is: Resource): Declared[] {
  const byName = ({ rules }: Resource) =>
    Map.groupBy(rules, (rule) => ('code' in rule ? rule.code : `of a function on ${[rule.on].flat().join(', ')}`))
  const before = byName(was)
  return [...byName(is)].flatMap(([name, rules]): Declared[] => {
    const known = before.get(name)
    const found = { names: [name], at: ['rules'] }
    if (known === undefined) return [{ kind: 'rule-added', ...found }]
    return ruleTexts(known) === ruleTexts(rules) ? [] : [{ kind: 'rule-changed', ...found }]
  })
}

function ruleTexts(rules: readonly BusinessRule[]): string {
  const textOf = (rule: BusinessRule) =>
    'check' in rule ? [rule.on, String(rule.check)] : [[rule.on].flat().sort(), rule.when, rule.unless]
  return rules
    .map((rule) => canonicalJson(textOf(rule)))
    .sort()
    .join('\n')
}

function compareMaxAge({ maxAge: before }: Resource, { maxAge: after }: Resource): Declared[] {
  return after > before ? [{ kind: 'cached-longer', at: ['maxAge'], before, after }] : []
}

const loweredLimits = {
  bodyBytes: 'body-limit-lowered',
  bodyMembers: 'body-members-lowered',
  patchOperations: 'patch-operations-lowered',
} as const

function compareLimits({ limits: was }: Catalog, { limits: is }: Catalog): Declared[] {
  const exports = (['count', 'bytes'] as const).flatMap((keyword): Declared[] => {
    const [before, after] = [was.exports[keyword], is.exports[keyword]]
    if (after >= before) return []
    return [{ kind: 'export-limit-lowered', at: ['limits', 'exports', keyword], keyword, before, after }]
  })
  const bodies = (['bodyBytes', 'bodyMembers', 'patchOperations'] as const).flatMap((keyword): Declared[] => {
    const [before, after] = [was[keyword], is[keyword]]
    return after < before ? [{ kind: loweredLimits[keyword], at: ['limits', keyword], before, after }] : []
  })
  const rates = [
    ['caller', was.rate.caller, is.rate.caller] as const,
    ...(is.rate.changes ? [['changes', was.rate.changes, is.rate.changes] as const] : []),
    ...[...is.rate.actions].map(([name, rate]) => [name, was.rate.actions.get(name), rate] as const),
  ]
  return [
    ...bodies,
    ...exports,
    ...rates.flatMap(([name, before, after]): Declared[] => {
      const isKept = before && after.most >= before.most && after.most / after.window >= before.most / before.window
      if (isKept) return []
      const shown = (rate: typeof before) => rate && `${rate.most} in ${rate.window} s`
      const at = ['limits', 'rate', ...(name === 'caller' || name === 'changes' ? [] : ['actions']), name]
      return [{ kind: 'rate-lowered', at, keyword: name, before: shown(before), after: shown(after) }]
    }),
  ]
}

function ifAny(kind: Declared['kind'], names: readonly string[], about: Omit<Declared, 'kind'>): Declared[] {
  return names.length === 0 ? [] : [{ kind, names, ...about }]
}
