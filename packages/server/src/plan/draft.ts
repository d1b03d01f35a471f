/**
 * The record that a body would make, and everything that is wrong with it (ERR-3). POST, PUT and PATCH differ only in
 * the value of a field that was not sent. A JSON Patch is applied to the record as clients see it (MET-4). A JSON Merge
 * Patch (RFC 7396) is merged field by field, where the draft judges each field. No response depends on values that the
 * caller may not read: those of a record without permission to read it, and those of `writeOnly` fields (AUT-9).
 *
 * A change of an older version is drafted in that version's terms, and then translated to stored terms (VER-2).
 */
import { isDeepStrictEqual } from 'node:util'
import { canonicalValue } from 'resourced-contract/model/decimal'
import { grantOf } from 'resourced-contract/model/field-grants'
import { jsonText } from 'resourced-contract/model/json/json-text'
import { countMembers } from 'resourced-contract/model/json/read-json'
import { limitDefaults } from 'resourced-contract/model/limits'
import { isObject } from 'resourced-contract/model/plain-copy'
import {
  type Catalog,
  type Draft,
  type Field,
  type MappedResource,
  type RecordValues,
  type Resource,
  storedResource,
  systemFields,
} from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue, unknownMembers } from 'resourced-contract/spec/faults'
import { isServer } from '../policy/permit.ts'
import { createToStored, recordFromStored, updateToStored } from '../versions/translate-record.ts'
import type { RecordAccess } from './check-record.ts'
import { indexKeyIssues } from './index-keys.ts'
import { patchedBody } from './patched-body.ts'
import type { Create, Update } from './plan.ts'
import {
  isSetOnCreation,
  type LackingAttribute,
  type ServerSources,
  serverValue,
  withCreationValues,
  withUpdateValues,
} from './server-values.ts'

/** The stored record that a POST of any version would make, or why the caller may not make any. */
export function draftCreate(plan: Create): Draft | LackingAttribute {
  const { resource } = plan
  const complete = withCreationValues(plan, draftOfBody(plan))
  return 'kind' in complete ? complete : withIndexKeys(resource, complete)
}

/** The same without the values that the server sets. */
export function draftOfBody(plan: Create): Draft {
  const { versionResource } = plan
  if (versionResource === undefined) return draftOfCreate(plan)
  const { fromStored } = versionResource.mapping
  const parent = plan.parent && { ...plan.parent, field: fromStored.get(plan.parent.field) ?? '' }
  const draft = draftOfCreate({ ...plan, resource: versionResource, parent })
  return createToStored(versionResource, draft, draftOfCreate({ ...plan, body: {} }))
}

/** A draft of a stored record, with an issue for each text that is too long for an index. */
function withIndexKeys(resource: Resource, draft: Draft, before?: RecordValues): Draft {
  const found = indexKeyIssues(resource, draft, before)
  return found.length === 0 ? draft : { ...draft, issues: [...draft.issues, ...found] }
}

/** The result of an update: a draft, or why there is none. */
type Drafted =
  | { readonly kind: 'draft'; readonly draft: Draft }
  | { readonly kind: 'forbidden'; readonly lacks?: string }
  | Exclude<ReturnType<typeof patchedBody>, { kind: 'patched' }>

/**
 * The stored record that a PUT or PATCH of any version would make of `current`, or why it makes none.
 *
 * @param access of the caller to `current`
 */
export function draftUpdate(
  plan: Update,
  current: RecordValues,
  access: RecordAccess = whole,
  limits: ChangeLimits = limitDefaults,
): Drafted {
  const { resource, versionResource } = plan
  if (!access.isReadable && needsReading(plan, versionResource ?? resource)) return { kind: 'forbidden' }
  const asked = versionResource === undefined ? plan : { ...plan, resource: versionResource }
  const record = versionResource === undefined ? current : recordFromStored(versionResource, current)
  const own = versionResource === undefined ? access : accessInVersion(versionResource, access)
  const patched = asked.kind === 'patch' ? patchedBody(asked, record, own, limits) : undefined
  if (patched !== undefined && patched.kind !== 'patched') return patched
  const sent = patched === undefined ? asked.body : patched.value
  const draft = draftOfUpdate(asked, record, sent, own, limits)
  const stored = versionResource === undefined ? draft : updateToStored(versionResource, current, draft)
  const setsFields = resource.fields.some(({ set }) => set !== undefined)
  const complete = setsFields ? withUpdateValues(plan, stored, current) : stored
  return 'kind' in complete ? complete : { kind: 'draft', draft: withIndexKeys(resource, complete, current) }
}

const whole: RecordAccess = { isReadable: true }

/** The limits of a change; see `Catalog.limits`. */
type ChangeLimits = Pick<Catalog['limits'], 'patchOperations' | 'bodyMembers' | 'bodyBytes'>

/** The access to a record by the names that a version has for its fields. */
function accessInVersion({ mapping }: MappedResource, { isReadable, hidden, locked }: RecordAccess): RecordAccess {
  const named = (names: ReadonlySet<string>) =>
    new Set([...names].flatMap((name) => mapping.fromStored.get(name) ?? []))
  return { isReadable, ...(hidden && { hidden: named(hidden) }), ...(locked && { locked: named(locked) }) }
}

/** The records in which the caller may write a field of a version; `undefined`: in all that they may change. */
function writableRecords({ resource: { mapping }, writableFields }: Create | Update, name: string) {
  if (writableFields === undefined) return undefined
  return grantOf(writableFields, mapping === undefined ? name : (mapping.toStored.get(name) ?? ''))
}

/** The record that a POST would make, in terms of its version. */
function draftOfCreate(plan: Create): Draft {
  const { resource, parent } = plan
  const now = timestamp(plan.now)
  const values: Record<string, unknown> = { id: plan.id, created_at: now, updated_at: now, deleted_at: null }
  const { body, issues } = bodyOf(resource, plan.body)
  const sources = { caller: plan.caller, at: now }
  const assigned: string[] = []
  const refused: string[] = []
  for (const name of systemFields) {
    if (Object.hasOwn(body, name)) issues.push(readOnly(name))
  }
  for (const field of resource.fields) {
    let sent = Object.hasOwn(body, field.name) ? body[field.name] : undefined
    if (sent !== undefined && !isAssignable(plan, field)) {
      issues.push(readOnly(field.name))
      sent = undefined
    }
    const writable = writableRecords(plan, field.name)
    if (writable !== undefined && (isSet(field, sent, sources) || field.name === parent?.field)) {
      const names = writable.kind === 'never' ? refused : assigned
      names.push(field.name)
    }
    if (field.name === resource.owner) sent ??= plan.caller.id
    if (field.name === parent?.field) {
      if (sent !== undefined && sent !== parent.id) {
        issues.push(issue('parent', { field: field.name, parent: parent.id }))
      }
      sent = parent.id
    }
    // `prepare` gives the field its value (RES-13).
    const isPrepared = sent === undefined && field.readOnly && storedResource(resource).prepare !== undefined
    const isLeft = isPrepared && field.default === undefined && field.serverDefault === undefined
    const isLater = isLeft || (sent === undefined && isSetOnCreation(field))
    values[field.name] = isLater ? null : settle(field, sent ?? null, { issues, sources })
  }
  const changed = resource.fields.map((field) => field.name).filter((name) => values[name] !== null)
  return { values, issues, changed, ...decisive(assigned, refused) }
}

/** Whether a value that is sent for a new record differs from the one that the record has without it. */
function isSet(field: Field, sent: unknown, sources: ServerSources): boolean {
  if (sent === undefined || sent === null) return false
  const own = serverValue(field, field.serverDefault, sources) ?? field.default
  return !isDeepStrictEqual(canonicalValue(field, sent), own)
}

/** The fields by which an access rule decides, if there are any. */
function decisive(assigned: readonly string[], refused: readonly string[]): Pick<Draft, 'assigned' | 'refused'> {
  return { ...(assigned.length > 0 && { assigned }), ...(refused.length > 0 && { refused }) }
}

/**
 * The record that a PUT or PATCH would make of `current`, in terms of its version.
 *
 * @param sent the body of the plan; for a JSON Patch the record that it makes (`patchedBody`)
 * @param access of the caller to `current`
 */
export function draftOfUpdate(
  plan: Update,
  current: RecordValues,
  sent: unknown,
  { isReadable, hidden, locked }: RecordAccess = whole,
  limits: ChangeLimits = limitDefaults,
): Draft {
  const { resource } = plan
  const { body, issues } = bodyOf(resource, sent)
  for (const name of systemFields) {
    // A field that the result of a JSON Patch lacks was removed by the patch.
    if (!Object.hasOwn(body, name) && plan.kind !== 'patch') continue
    if (!isReadable || !isDeepStrictEqual(body[name] ?? null, current[name] ?? null)) issues.push(readOnly(name, plan))
  }
  const values: Record<string, unknown> = { ...current }
  const changed: string[] = []
  const assigned: string[] = []
  const refused: string[] = []
  const nextOf = plan.kind === 'patch' ? patchedValue : nextValue
  const sources = { caller: plan.caller, at: changeTime(plan, current) }
  for (const field of resource.fields) {
    const { name } = field
    if (!Object.hasOwn(current, name)) continue
    const isMasked = hidden?.has(name) ?? false
    const isHidden = !isReadable || field.writeOnly || isMasked
    const value = current[name] ?? null
    let sent = Object.hasOwn(body, name) ? body[name] : undefined
    // The caller sees `null`: a representation that is sent back changes nothing.
    if (isMasked && sent === null && plan.kind !== 'merge') sent = undefined
    const update = { plan, field, sent, current: value, isHidden, isMasked, issues, sources }
    // The transitions of a field would tell its value.
    if (locked?.has(name) === true || (isMasked && field.transitions !== undefined)) {
      if (isAssigned(update)) refused.push(name)
      continue
    }
    const next = nextOf(update)
    values[name] = next
    const grown = plan.kind === 'replace' || next === value ? undefined : growthIssue(name, value, next, limits)
    if (grown !== undefined) issues.push(grown)
    const isWritten = isHidden && isRewritten(update, isReadable)
    if (!isWritten && isSame(update, next)) continue
    changed.push(name)
    if (writableRecords(plan, name) !== undefined) assigned.push(name)
  }
  if (changed.length > 0) values['updated_at'] = sources.at
  return { values, issues, changed, ...decisive(assigned, refused) }
}

/** What is wrong with a merge patch of any record: fields that it may not have, and values that do not fit. */
export function patchIssues(plan: Update): Issue[] {
  const asked = plan.versionResource === undefined ? plan : { ...plan, resource: plan.versionResource }
  const { body, issues } = bodyOf(asked.resource, asked.body)
  for (const name of systemFields) if (Object.hasOwn(body, name)) issues.push(readOnly(name))
  const sources = { caller: plan.caller, at: timestamp(plan.now) }
  for (const field of asked.resource.fields) {
    const sent = Object.hasOwn(body, field.name) ? body[field.name] : undefined
    if (sent === undefined || isObject(sent)) continue
    if (isAssignable(asked, field)) settle(field, sent, { issues, sources })
    else issues.push(readOnly(field.name))
  }
  return issues
}

/** Whether an update leaves a field as it is. */
function isSame({ plan, sent, current, isHidden }: FieldUpdate, next: unknown): boolean {
  // These gave the current value itself if nothing changed. To compare all members again would take long.
  const isCompared = plan.kind === 'patch' || (plan.kind === 'merge' && isObject(sent))
  if (isCompared && isObject(next) && isObject(current) && !isHidden) return next === current
  return isDeepStrictEqual(next, current)
}

/** The time of a change: never before the last one. */
function changeTime({ now }: Update, current: RecordValues): string {
  const last = Date.parse(String(current['updated_at']))
  return timestamp(Number.isNaN(last) ? now : Math.max(now, last))
}

interface FieldUpdate {
  readonly plan: Update
  readonly field: Field
  /** The value in the body, or after a JSON Patch; `undefined`: there is none. */
  readonly sent: unknown
  readonly current: unknown
  /** Whether the caller may not read the current value. */
  readonly isHidden: boolean
  /** Whether that is because of a rule of the field (AUT-13): the caller sees `null`. */
  readonly isMasked: boolean
  /** Receives what is wrong. */
  readonly issues: Issue[]
  readonly sources: ServerSources
}

/** Whether an update sets or changes a field, compared with what the caller sees of it. */
function isAssigned({ plan, field, sent, current, isHidden, isMasked }: FieldUpdate): boolean {
  if (sent === undefined) return plan.kind === 'patch' && !isHidden && current !== null
  // Only a merge patch removes a value that the caller sees as `null`.
  if (isHidden) return !isMasked || plan.kind === 'merge' || sent !== null
  const wanted = plan.kind === 'merge' && isObject(sent) ? mergePatch(current, sent) : sent
  return !isDeepStrictEqual(canonicalValue(field, wanted), current)
}

function nextValue(update: FieldUpdate): unknown {
  const { plan, field, sent, current, isHidden, isMasked, issues } = update
  if (!isAssignable(plan, field)) {
    const isSame = !isHidden && isDeepStrictEqual(canonicalValue(field, sent), current)
    if (sent !== undefined && !isSame) issues.push(readOnly(field.name, plan))
    return current
  }
  const isFixed = field.immutable && isHidden
  // A field that the server sets or that a PATCH leaves out stays. A field that a PUT leaves out is cleared (MET-3).
  if (sent === undefined && (plan.kind === 'merge' || field.readOnly || isFixed || isMasked)) return current
  // A default of the caller or the clock is for new records: the same PUT twice changes nothing more (MET-3).
  if (field.serverDefault !== undefined && plan.kind === 'replace' && (sent ?? null) === null && current !== null) {
    return current
  }
  if (isFixed) {
    issues.push(issue('immutable', { field: field.name }))
    return current
  }
  // A merge patch changes the representation, which has no hidden values: the patch of a hidden value replaces it.
  const target = isHidden ? null : current
  const merged = plan.kind === 'merge' && isObject(sent) ? mergePatch(target, sent) : (sent ?? null)
  const before = issues.length
  const next = settle(field, merged, update)
  if (field.immutable && issues.length === before && !isDeepStrictEqual(next, current)) {
    issues.push(issue('immutableValue', { field: field.name }))
  }
  return next
}

/** The value of a field after a JSON Patch. A value that the patch leaves as it is is not validated again. */
function patchedValue(update: FieldUpdate): unknown {
  const { plan, field, sent, current, isHidden, issues } = update
  const removed = sent === undefined
  // The representation that was patched does not have the field.
  if (removed && isHidden) return current
  const value = removed ? null : canonicalValue(field, sent)
  if (field.immutable && isHidden) {
    issues.push(issue('immutableInPatch', { field: field.name }))
    return current
  }
  if (!removed && !isHidden && isDeepStrictEqual(value, current)) return current
  if (!isAssignable(plan, field)) {
    if (value !== current) issues.push(readOnly(field.name, plan))
    return current
  }
  if (field.immutable && !isDeepStrictEqual(value ?? field.default ?? null, current)) {
    issues.push(issue('immutableInPatch', { field: field.name }))
    return current
  }
  return settle(field, value, update)
}

/** Whether a request may set a field. Only the server's counters number records, whoever asks (RES-16). */
function isAssignable({ resource, mayAssignOwner, caller }: Create | Update, field: Field): boolean {
  if (!field.readOnly || (field.name === resource.owner && mayAssignOwner)) return true
  return isServer(caller) && field.sequence === undefined && field.sumOf === undefined
}

/** The value that a field takes: the default for `null`. Adds everything that is wrong to `issues`. */
export function settle(
  field: Field,
  value: unknown,
  { issues, sources }: Pick<FieldUpdate, 'issues' | 'sources'>,
): unknown {
  if (value === null) {
    const standIn = field.default ?? serverValue(field, field.serverDefault, sources)
    if (standIn !== undefined) return standIn
    if (field.required) issues.push(issue('required', { field: field.name }))
    return null
  }
  const found = field.validate(value)
  if (found.length === 0) return canonicalValue(field, value)
  issues.push(...found)
  return null
}

function bodyOf(resource: Resource, body: unknown): { body: RecordValues; issues: Issue[] } {
  if (!isObject(body)) {
    return { body: {}, issues: [issue('object', { pointer: '' })] }
  }
  const isKnown = (name: string) => resource.field.has(name) || systemFields.some((each) => each === name)
  const unknown = (name: string) => issue('unknownField', { field: name, resource: resource.name })
  return { body, issues: unknownMembers(body, isKnown, unknown) }
}

function readOnly(name: string, plan?: Update): Issue {
  return issue(plan?.kind === 'patch' ? 'readOnlyInPatch' : 'readOnly', { field: name })
}

/**
 * Whether an update needs permission to read the record, because the current value of a field decides about the new
 * one: by its transitions, or as the target of a merge patch.
 */
function needsReading({ kind, body }: Pick<Update, 'kind' | 'body'>, { fields }: Resource): boolean {
  if (!isObject(body)) return false
  return fields.some(({ name, transitions }) => {
    const isSent = Object.hasOwn(body, name)
    if (transitions !== undefined && (isSent || kind === 'replace')) return true
    return kind === 'merge' && isSent && isObject(body[name])
  })
}

/**
 * Whether an update writes a field whose current value the caller may not read. That counts as a change even if the
 * value stays the same: otherwise an unchanged entity tag would confirm a guess. A PUT that leaves a `writeOnly` field
 * out clears it, which changes nothing if the field has no value.
 * After a JSON Patch a `writeOnly` field has a value only if the patch sets it.
 */
function isRewritten({ plan, field, sent, isMasked }: FieldUpdate, isReadable: boolean): boolean {
  if (field.immutable || field.readOnly) return false
  return sent !== undefined || (plan.kind === 'replace' && !isReadable && !isMasked)
}

/**
 * The value that a merge patch makes of `target`: the target itself if the patch changes nothing. Neither argument is
 * changed.
 *
 * @param patch read by `model/json/read-json.ts`, which refuses keys that could reach a prototype
 */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return isDeepStrictEqual(target, patch) ? target : patch
  const before = isObject(target) ? target : undefined
  let merged: Record<string, unknown> | undefined
  for (const [key, value] of Object.entries(patch)) {
    const isThere = before !== undefined && Object.hasOwn(before, key)
    const present = isThere ? before[key] : undefined
    const next = value === null ? undefined : mergePatch(present, value)
    if (next === present) continue
    merged ??= { ...before }
    if (next === undefined) delete merged[key]
    else merged[key] = next
  }
  return merged ?? before ?? {}
}

/**
 * The issue of a field that a patch lets grow beyond what a body may have (LIM-3); `undefined`: there is none. Patches
 * could let a field grow one by one.
 * A larger value, which was imported or stored under other limits, may change and shrink.
 */
function growthIssue(
  name: string,
  before: unknown,
  after: unknown,
  { bodyMembers, bodyBytes }: Pick<Catalog['limits'], 'bodyMembers' | 'bodyBytes'>,
): Issue | undefined {
  if (typeof after !== 'object' || after === null) return undefined
  const size = sizeOf(after)
  if (size.members <= bodyMembers && size.bytes <= bodyBytes) return undefined
  const former = sizeOf(before)
  if (size.members > bodyMembers && size.members > former.members) {
    return issue('members', { field: name, given: size.members, most: bodyMembers })
  }
  if (size.bytes <= bodyBytes || size.bytes <= former.bytes) return undefined
  return issue('bytes', { field: name, given: size.bytes, most: bodyBytes })
}

function sizeOf(value: unknown): { readonly members: number; readonly bytes: number } {
  const text = jsonText(value)
  return { members: countMembers(text), bytes: Buffer.byteLength(text) }
}
