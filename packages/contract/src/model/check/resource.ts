/**
 * Checks a resource: its owner, parent and unique sets, how records are deleted, business rules, access rules, and
 * those of single fields (AUT-13, AUT-14).
 */

import { faults } from '../../spec/fault-entries.ts'
import { oneOf } from '../../spec/words.ts'
import { actions, ruleCodeForm } from '../declaration.ts'
import { isServers } from '../keywords.ts'
import { suggest } from '../nearest.ts'
import { isObject } from '../plain-copy.ts'
import { isComparable, systemFields } from '../resource.ts'
import { parseDuration, parsePeriod } from '../time.ts'
import { checkCondition } from './conditions.ts'
import { checkFields } from './fields.ts'
import { checkSummaries } from './kept-figures.ts'
import { type FieldView, own, type Part, type ResourceView, type ResourceViews, show } from './parts.ts'

/** Checks a resource; returns which of its actions depend on which others. */
export function checkResource(resource: ResourceView, resources: ResourceViews): Edge[] {
  const { part } = resource
  part.key('title').title()
  checkFields(resource, resources)
  checkOwner(resource)
  checkWithin(resource)
  checkUnique(resource)
  checkSummaries(resource)
  checkDeletion(resource)
  checkUpdates(resource)
  const dependencies = checkAccess(resource, resources)
  part.key('prepare').synchronous()
  checkEventFunctions(resource)
  checkHistory(resource)
  checkFieldAccess(resource, resources)
  checkRules(resource, resources)
  return dependencies
}

/** An edge between two nodes, and its place in the declaration. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly place: Part
}

/** Checks `owner`: a text field that the server sets to the id of the caller (AUT-7). */
function checkOwner(resource: ResourceView): void {
  const { name, fields } = resource
  const owner = resource.part.key('owner')
  if (owner.isAbsent) return
  const field = resource.field.get(owner.text)
  if (field === undefined) {
    const texts = fields.filter((each) => each.shape.type === 'string').map((each) => each.name)
    const remedy = 'Declare the field, such as owner_id: { type: "string" }.'
    owner.unknown(`is not a field of ${name}: ${show(owner.value)}`, texts, remedy)
  } else if (field.shape.type !== 'string' || field.shape.enum !== undefined) {
    owner.report(`must be a field of texts: it holds the id of the caller`, `Write ${field.name}: { type: "string" }.`)
  } else if (field.declared['unique'] === true || isUniqueAlone(resource, field.name)) {
    const message = 'must not be unique by itself: each caller could create one record only'
    owner.report(message, `Remove "unique" from ${field.name}, or make it unique together with another field.`)
  }
}

function isUniqueAlone({ part }: ResourceView, name: string): boolean {
  const sets = part.key('unique').items()
  return sets.some(({ value }) => Array.isArray(value) && value.length === 1 && value[0] === name)
}

/** Checks `within`: the reference whose target also nests the collection (RES-2). */
function checkWithin({ name, part, fields, field: named }: ResourceView): void {
  const within = part.key('within')
  if (within.isAbsent) return
  const field = named.get(within.text)
  const references = fields.filter((each) => each.declared['reference'] !== undefined)
  const names = references.map((each) => each.name)
  if (field === undefined) {
    within.unknown(`is not a field of ${name}: ${show(within.value)}`, names, 'Name a field that is a reference.')
  } else if (field.declared['reference'] === undefined) {
    const remedy = names.length > 0 ? `Name a reference: ${names.join(', ')}.` : `Write "reference" on ${field.name}.`
    within.report(`is not a reference: ${show(within.value)}`, remedy)
  } else if (field.shape.optional && field.declared['reference'] !== name) {
    // A tree nests within itself, and its root has no parent.
    within.report('must be a field that always has a value', `Take "optional" from ${field.name}.`)
  }
}

/** Checks `unique`: sets of fields whose values can be compared. */
function checkUnique(resource: ResourceView): void {
  const sets = resource.part.key('unique')
  const { value } = sets
  if (sets.isAbsent) return
  if (!Array.isArray(value)) {
    sets.mustBe('an array of sets of fields', 'Write [["project_id", "title"]].')
  } else if (value.length > 0 && value.every((set) => typeof set === 'string')) {
    sets.report('must be an array of sets of fields', `Write [${show(value)}].`)
  } else for (const set of sets.items()) checkUniqueSet(set, resource)
}

function checkUniqueSet(set: Part, resource: ResourceView): void {
  const names = set.value
  if (!Array.isArray(names) || names.length === 0) {
    set.mustBe('an array of fields', 'Write ["project_id", "title"].')
    return
  }
  for (const [position, name] of set.items().entries()) {
    if (names.indexOf(name.value) === position) checkUniqueField(name, resource)
    else name.report(`is named twice: ${show(name.value)}`, 'Remove one of the two.')
  }
}

function checkUniqueField(part: Part, { name, field: named }: ResourceView): void {
  const field = named.get(part.text)
  if (field === undefined) {
    part.report(`is not a field of ${name}: ${show(part.value)}`, suggest(part.text, named.keys()))
  } else if (field.writeOnly) {
    part.report('is writeOnly: a clash would let callers find out its value', 'Use another field.')
  } else if (!isComparable(field.shape.type)) {
    const message = `is an ${field.shape.type}: such values cannot be compared`
    part.report(message, 'Use a field of one text, number or truth value.')
  }
}

/** Checks how records are deleted. */
function checkDeletion(resource: ResourceView): void {
  const deletion = resource.part.key('deletion')
  checkDuration(deletion.key('gracePeriod'), 'Write a longer one, or variant: hard.')
  if (deletion.record['variant'] === 'hard') checkHard(deletion.key('restorable'), deletion.key('gracePeriod'))
}

/** Checks which changes of many records there are. */
function checkUpdates(resource: ResourceView): void {
  const updates = resource.part.key('updates')
  const above = updates.key('above')
  if (above.isAbsent || updates.record['byFilter'] === true) return
  above.report('has no effect without byFilter: true', 'Write updates: { byFilter: true, above: … }, or remove it.')
}

/** Records of the variant `hard` are not kept for a while. */
function checkHard(restorable: Part, gracePeriod: Part): void {
  const remedy = 'Remove it, or write variant: soft.'
  if (restorable.value === true) restorable.report('contradicts the variant hard: nothing is left to restore', remedy)
  if (parseDuration(gracePeriod.text).kind === 'duration') {
    gracePeriod.report('contradicts the variant hard: nothing is kept', remedy)
  }
}

/** Checks an ISO 8601 duration that is longer than nothing. */
export function checkDuration(period: Part, longer: string): void {
  if (period.isAbsent) return
  const reading = parseDuration(period.text)
  if (reading.kind === 'malformed') {
    period.mustBe('an ISO 8601 duration', 'Write one such as "P30D", "PT12H" or "PT90S".')
  } else if (reading.kind === 'calendar') {
    const remedy = 'Write days: "P30D" for a month, "P365D" for a year.'
    period.report('counts months or years, which are not all of one length', remedy)
  } else if (reading.milliseconds === 0) {
    period.report('is no time at all', longer)
  } else if (reading.milliseconds > 36_525 * 86_400_000) {
    period.report('is longer than a hundred years', 'Write a shorter one.')
  }
}

/**
 * Checks the access rules of a resource.
 *
 * @returns which action depends on which other action by `through`, to find cycles
 */
function checkAccess(resource: ResourceView, resources: ResourceViews): Edge[] {
  const edges: Edge[] = []
  for (const [action, rules] of resource.part.key('access').entries()) {
    if (!(actions as readonly string[]).includes(action)) continue
    const remedy = 'Write "nobody", or leave it out: then only administrators may.'
    for (const { target, place } of checkAccessRules(rules, { resource, resources, remedy })) {
      edges.push({ from: `${resource.name}.${action}`, to: target, place })
    }
  }
  return edges
}

interface AccessRules {
  readonly resource: ResourceView
  readonly resources: ResourceViews
  /** What to write in place of no rules. */
  readonly remedy: string
}

/** Checks one rule or several; returns the actions that they depend on. */
function checkAccessRules(
  rules: Part,
  { resource, resources, remedy }: AccessRules,
): { readonly target: string; readonly place: Part }[] {
  if (Array.isArray(rules.value) && rules.value.length === 0) rules.report('is empty', remedy)
  return (Array.isArray(rules.value) ? rules.items() : [rules]).flatMap((place) => {
    return checkRule(place, resource, resources).map((target) => ({ target, place }))
  })
}

const words = ['anyone', 'nobody', 'owner']
const everyCaller = 'Write "anyone" for every caller with a credential. No rule admits requests without a credential.'
const noCaller = 'Write "nobody" for no caller at all, or leave the action out: then only administrators may.'
const creator = 'Write "owner" for the caller who created the record, or compare a field with { caller: "id" }.'
const publicData =
  'Write "anyone" for every caller with a credential. No rule admits requests without a credential: for public data, ' +
  'publish an API key that has no roles.'
// Words that people know from elsewhere. Near spellings could mean the opposite: "anybody" is near "nobody".
const explained: Readonly<Record<string, string>> = {
  everyone: everyCaller, everybody: everyCaller, anybody: everyCaller, all: everyCaller, '*': everyCaller,
  authenticated: everyCaller, public: publicData, anonymous: publicData, guest: publicData, none: noCaller,
  never: noCaller, noone: noCaller, 'no-one': noCaller, self: creator, me: creator, creator: creator,
} // biome-ignore format: one row reads best

/** Checks one rule; returns the actions that it depends on, as `collection.action`. */
function checkRule(rule: Part, resource: ResourceView, resources: ResourceViews): string[] {
  const { value } = rule
  if (typeof value === 'function') rule.synchronous()
  else if (typeof value === 'string') checkWord(rule, value, resource)
  else if (!isObject(value)) {
    const remedy =
      'Write "anyone", "nobody", "owner", "role:NAME", { where }, { through, action }, { some, where }, ' +
      '{ none, where } or { all }.'
    rule.report(`is not an access rule: ${show(value)}`, remedy)
  } else if (Object.hasOwn(value, 'through')) return checkThrough(rule, resource, resources)
  else if (Object.hasOwn(value, 'all')) return checkAll(rule, resource, resources)
  else if (Object.hasOwn(value, 'some') || Object.hasOwn(value, 'none')) checkLookup(rule, resource, resources)
  else if (Object.hasOwn(value, 'where')) {
    rule.keys(['where'])
    const where = rule.key('where')
    if (!isEmpty(where)) checkCondition(where, { resource, record: undefined })
    else where.report('is true of every record', 'Write "anyone", or a condition.')
  } else {
    const remedy = 'Write { where: { … } }, { through: FIELD, action: ACTION } or { some: NAME, where: { … } }.'
    rule.report(`is not an access rule: ${show(value)}`, remedy)
  }
  return []
}

function isEmpty({ value }: Part): boolean {
  return isObject(value) && Object.keys(value).length === 0
}

/** Checks `all`: several rules, of which each must permit the action. */
function checkAll(rule: Part, resource: ResourceView, resources: ResourceViews): string[] {
  rule.keys(['all'])
  const all = rule.key('all')
  if (!Array.isArray(all.value)) all.mustBe('an array of access rules', 'Write all: ["owner", { where: { … } }].')
  else if (all.value.length === 0)
    all.report('is empty', 'Write the rules that must all permit the action, or "anyone".')
  return all.items().flatMap((each) => checkRule(each, resource, resources))
}

/** Checks a rule for which a live record of another collection decides. */
function checkLookup(rule: Part, resource: ResourceView, resources: ResourceViews): void {
  rule.keys(['some', 'none', 'where'])
  const [some, none, where] = [rule.key('some'), rule.key('none'), rule.key('where')]
  if (!some.isAbsent && !none.isAbsent)
    none.report('cannot be combined with `some`', 'Write all: [{ some }, { none }].')
  const collection = some.isAbsent ? none : some
  const looked = resources.get(collection.text)
  if (looked === undefined) collection.unknown(`is no collection: ${show(collection.value)}`, resources.keys())
  if (where.isAbsent || isEmpty(where)) {
    const remedy = 'Write the condition, such as where: { user_id: { caller: "id" } }.'
    where.report(where.isAbsent ? 'is missing' : 'is true of every record', remedy)
  } else if (looked !== undefined) checkCondition(where, { resource: looked, record: resource, isLookup: true })
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
    const role = /^[\w-]+$/.test(rule)
      ? `Write "role:${rule}" for a role, or "anyone", "nobody" or "owner".`
      : 'Write "anyone", "nobody", "owner" or "role:NAME".'
    const remedy = (own(explained, rule.toLowerCase()) as string | undefined) ?? suggest(rule, words, role)
    part.report(`is not an access rule: ${show(rule)}`, remedy)
  }
}

function checkThrough(rule: Part, resource: ResourceView, resources: ResourceViews): string[] {
  rule.keys(['through', 'action'])
  const [through, action] = [rule.key('through'), rule.key('action')]
  const field = resource.field.get(through.text)
  const reference = field?.declared['reference']
  if (reference === undefined) {
    const what = field === undefined ? `is not a field of ${resource.name}` : 'is not a reference'
    const references = resource.fields.filter((each) => each.declared['reference'] !== undefined)
    const names = references.map((each) => each.name)
    const remedy = `Name a reference${names.length > 0 ? `: ${oneOf(names)}` : ''}.`
    through.unknown(`${what}: ${show(through.value)}`, names, remedy)
  }
  if (!(actions as readonly string[]).includes(action.text)) {
    action.unknown(`is not an action: ${show(action.value)}`, actions)
    return []
  }
  const target = typeof reference === 'string' ? resources.get(reference) : undefined
  if (target === undefined) return []
  if (own(target.access, action.text) !== undefined) return [`${target.name}.${action.text}`]
  const remedy = `Declare access.${action.text} in ${target.name}, or name an action that is declared there.`
  action.report(`is not declared in ${target.name}: administrators alone could ever pass`, remedy)
  return []
}

/** Checks `history`, and that nobody is allowed to read what is not kept. */
function checkHistory({ part }: ResourceView): void {
  const history = part.key('history')
  const keep = history.key('keep')
  if (isObject(history.value)) {
    history.keys(['keep'])
    const kept = parsePeriod(keep.text)
    if (kept === undefined) keep.mustBe('an ISO 8601 duration', 'Write one such as "P1Y", "P90D" or "PT12H".')
    else if (kept.months + kept.milliseconds === 0) keep.report('is no time at all', 'Write a longer one.')
  }
  const reading = part.key('access').key('readHistory')
  if (reading.isAbsent || history.value === true || isObject(history.value)) return
  reading.report('is about a history, which the resource does not have', 'Write history: true on the resource.')
}

/** Checks `on`: functions that run after a change (EVT-12). */
function checkEventFunctions({ part }: ResourceView): void {
  const on = part.key('on')
  if (!isObject(on.value) || part.key('events').value === true) return
  on.report('needs the events that it follows', 'Write events: true on the resource.')
}

/** Checks the business rules of a resource. */
function checkRules(resource: ResourceView, resources: ResourceViews): void {
  for (const rule of resource.part.key('rules').items()) {
    rule.key('check').synchronous()
    if (isObject(rule.value) && rule.key('check').isAbsent) checkDeclarative(rule, resource, resources)
  }
}

function checkDeclarative(rule: Part, resource: ResourceView, resources: ResourceViews): void {
  checkCode(rule.key('code'))
  const when = rule.key('when')
  if (!when.isAbsent) checkCondition(when, { resource, record: resource })
  checkUnless(rule.key('unless'), resource, resources)
}

function checkCode(code: Part): void {
  const { text } = code
  if (!ruleCodeForm.test(text)) {
    const better = text
      .slice(0, 60)
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^[_0-9]+|_+$/g, '')
    code.mustBe('UPPER_CASE_WITH_UNDERSCORES', `Write "${better === '' ? 'PROJECT_HAS_OPEN_TASKS' : better}".`)
  } else if (Object.hasOwn(faults, text)) {
    code.report(`is a code that the interface itself answers with: ${text}`, 'Choose a code of your own.')
  }
}

function checkUnless(unless: Part, resource: ResourceView, resources: ResourceViews): void {
  if (!isObject(unless.value)) return
  const [none, some, where] = [unless.key('none'), unless.key('some'), unless.key('where')]
  const both = !none.isAbsent && !some.isAbsent
  if (both) some.report('cannot be combined with `none`', 'Write two rules.')
  const collection = none.isAbsent ? some : none
  const judged = collection.isAbsent ? resource : resources.get(collection.text)
  if (judged === undefined) collection.unknown(`is no collection: ${show(collection.value)}`, resources.keys())
  if (!Object.hasOwn(unless.record, 'where')) {
    where.report('is missing', 'Write the condition, such as where: { status: "open" }.')
  } else if (judged !== undefined && !both) checkCondition(where, { resource: judged, record: resource })
}

/** Checks `access.fields`. */
function checkFieldAccess(resource: ResourceView, resources: ResourceViews): void {
  for (const [name, part] of resource.part.key('access').key('fields').entries()) {
    const field = resource.field.get(name)
    if (field === undefined) {
      checkUnknown(part, name, resource)
      continue
    }
    if (!isObject(part.value)) continue
    const [read, write] = [part.key('read'), part.key('write')]
    if (Object.keys(part.record).length === 0) {
      part.report('says nothing', 'Write read, write, or both, such as { read: "role:hr" }.')
    }
    const remedy = 'Write "nobody", or leave it out: then it follows the permission for the record.'
    for (const rules of [read, write]) if (!rules.isAbsent) checkAccessRules(rules, { resource, resources, remedy })
    checkRead(read, field)
    checkWrite(write, field, resource)
  }
}

function checkUnknown(part: Part, name: string, { name: collection, field }: ResourceView): void {
  if ((systemFields as readonly string[]).includes(name)) {
    const remedy = 'Remove it. To hide the record, write a rule for access.read.'
    part.reportKey('is a field that every record shows', remedy)
  } else part.as(name).unknown(`is not a field of ${collection}`, field.keys())
}

function checkRead(read: Part, field: FieldView): void {
  if (read.isAbsent || !field.writeOnly) return
  read.report('is of a writeOnly field, which no response contains', 'Remove the rule, or "writeOnly" from the field.')
}

function checkWrite(write: Part, { name, declared, shape }: FieldView, resource: ResourceView): void {
  if (write.isAbsent) return
  if (isServers(declared) && name !== resource.owner) {
    const word = ['readOnly', 'set', 'sequence'].find((each) => declared[each as keyof typeof declared] !== undefined)
    write.report('is of a field that the server sets', `Remove the rule, or ${show(word)} from the field.`)
  } else if (name === resource.owner) {
    const remedy = 'Remove the rule: only administrators may send the owner (AUT-7).'
    write.report('is of the owner, which the server sets', remedy)
  } else if (!shape.optional && declared['default'] === undefined && !coversCreation(write, resource)) {
    const remedy = `Give ${name} a default, or write "optional", so that other callers can create records.`
    write.report('restricts a required field: callers who may create records may be unable to', remedy)
  }
}

/** Whether all callers who may create records may write the field, as far as the rules alone say it. */
function coversCreation(write: Part, { access }: ResourceView): boolean {
  const written = rulesOf(write.value)
  // A caller owns what they create. Whether a condition holds depends on the record.
  const mayHold = (rule: unknown) => rule === 'anyone' || rule === 'owner' || typeof rule !== 'string'
  if (written.some(mayHold)) return true
  const created = rulesOf(access['create'] ?? 'role:admin')
  return created.every((rule) => rule === 'nobody' || written.includes(rule))
}

function rulesOf(rules: unknown): unknown[] {
  return [rules].flat()
}
