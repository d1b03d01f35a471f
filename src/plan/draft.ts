/**
 * The record that a body would make, and everything that is wrong with it (ERR-3). POST, PUT and PATCH differ only in
 * the value of a field that was not sent. A JSON Patch is applied to the record as clients see it (MET-4). A JSON Merge
 * Patch (RFC 7396) is merged field by field, where the draft judges each field. No response depends on values that the
 * caller may not read: those of a record without permission to read it, and those of `writeOnly` fields (AUT-9).
 *
 * A change of an older version is drafted in that version's terms, and then translated to stored terms (VER-2).
 */
import { isDeepStrictEqual } from 'node:util'
import { canonicalValue } from '../model/decimal.ts'
import { isObject } from '../model/plain-copy.ts'
import { comparisonKey } from '../model/predicate.ts'
import { type Draft, type Field, type RecordValues, type Resource, systemFields } from '../model/resource.ts'
import { fold } from '../model/text.ts'
import { timestamp } from '../model/time.ts'
import type { Issue } from '../spec/faults.ts'
import { createToStored, recordFromStored, updateToStored } from '../versions/translate-record.ts'
import { jsonPatch, type Patched } from './json-patch.ts'
import type { Create, Update } from './plan.ts'

/** The stored record that a POST of any version would make. */
export function draftCreate(plan: Create): Draft {
  const { resource, versionResource } = plan
  if (versionResource === undefined) return withIndexKeys(resource, draftOfCreate(plan))
  const { fromStored } = versionResource.mapping
  const parent = plan.parent && { ...plan.parent, field: fromStored.get(plan.parent.field) ?? '' }
  const draft = draftOfCreate({ ...plan, resource: versionResource, parent })
  return withIndexKeys(resource, createToStored(versionResource, draft, draftOfCreate({ ...plan, body: {} })))
}

/** A draft of a stored record, with an issue for each text that is too long for an index. */
function withIndexKeys(resource: Resource, draft: Draft): Draft {
  const found = indexKeyIssues(resource, draft)
  return found.length === 0 ? draft : { ...draft, issues: [...draft.issues, ...found] }
}

/** The result of an update: a draft, or why there is none. */
type Drafted =
  | { readonly kind: 'draft'; readonly draft: Draft }
  | { readonly kind: 'forbidden' }
  | Exclude<ReturnType<typeof bodyOfUpdate>, { kind: 'patched' }>

/**
 * The stored record that a PUT or PATCH of any version would make of `current`, or why it makes none.
 *
 * @param isReadable whether the caller may read `current`
 */
export function draftUpdate(plan: Update, current: RecordValues, isReadable = true): Drafted {
  const { resource, versionResource } = plan
  if (!isReadable && needsReading(plan, versionResource ?? resource)) return { kind: 'forbidden' }
  const asked = versionResource === undefined ? plan : { ...plan, resource: versionResource }
  const record = versionResource === undefined ? current : recordFromStored(versionResource, current)
  const body = bodyOfUpdate(asked, record)
  if (body.kind !== 'patched') return body
  const draft = draftOfUpdate(asked, record, body.value, isReadable)
  const stored = versionResource === undefined ? draft : updateToStored(versionResource, current, draft)
  return { kind: 'draft', draft: withIndexKeys(resource, stored) }
}

/** The record that a POST would make, in terms of its version. */
function draftOfCreate(plan: Create): Draft {
  const { resource, parent } = plan
  const now = timestamp(plan.now)
  const values: Record<string, unknown> = { id: plan.id, created_at: now, updated_at: now, deleted_at: null }
  const { body, issues } = bodyOf(resource, plan.body)
  for (const name of systemFields) {
    if (Object.hasOwn(body, name)) issues.push(readOnly(name))
  }
  for (const field of resource.fields) {
    let sent = Object.hasOwn(body, field.name) ? body[field.name] : undefined
    if (field.readOnly && sent !== undefined && !(field.name === resource.owner && plan.mayAssignOwner)) {
      issues.push(readOnly(field.name))
      sent = undefined
    }
    if (field.name === resource.owner) sent ??= plan.caller.id
    if (field.name === parent?.field) {
      if (sent !== undefined && sent !== parent.id) {
        issues.push(issue('INVALID_VALUE', field.name, `must be ${parent.id}, as in the address, or left out`))
      }
      sent = parent.id
    }
    values[field.name] = settle(field, sent ?? null, issues)
  }
  const changed = resource.fields.map((field) => field.name).filter((name) => values[name] !== null)
  return { values, issues, changed }
}

/**
 * The record that a PUT or PATCH would make of `current`, in terms of its version.
 *
 * @param sent the body of the plan; for a JSON Patch the record that it makes (`bodyOfUpdate`)
 * @param isReadable whether the caller may read `current`
 */
export function draftOfUpdate(plan: Update, current: RecordValues, sent: unknown, isReadable = true): Draft {
  const { resource } = plan
  const { body, issues } = bodyOf(resource, sent)
  for (const name of systemFields) {
    // A field that the result of a JSON Patch lacks was removed by the patch.
    if (!Object.hasOwn(body, name) && plan.kind !== 'patch') continue
    if (!isReadable || !isDeepStrictEqual(body[name] ?? null, current[name] ?? null)) issues.push(readOnly(name, plan))
  }
  const values: Record<string, unknown> = { ...current }
  const changed: string[] = []
  const nextOf = plan.kind === 'patch' ? patchedValue : nextValue
  for (const field of resource.fields) {
    const { name } = field
    const isHidden = !isReadable || field.writeOnly
    const value = current[name] ?? null
    const sent = Object.hasOwn(body, name) ? body[name] : undefined
    const update = { plan, field, sent, current: value, isHidden, issues }
    const next = nextOf(update)
    values[name] = next
    const isWritten = isHidden && isRewritten(update, isReadable)
    if (isWritten || !isDeepStrictEqual(next, value)) changed.push(name)
  }
  if (changed.length > 0)
    values['updated_at'] = timestamp(Math.max(plan.now, Date.parse(String(current['updated_at']))))
  return { values, issues, changed }
}

/** A field in an update. */
interface FieldUpdate {
  readonly plan: Update
  readonly field: Field
  /** The value in the body, or after a JSON Patch; `undefined`: there is none. */
  readonly sent: unknown
  readonly current: unknown
  /** Whether the caller may not read the current value. */
  readonly isHidden: boolean
  /** Receives what is wrong. */
  readonly issues: Issue[]
}

function nextValue({ plan, field, sent, current, isHidden, issues }: FieldUpdate): unknown {
  if (!isAssignable(plan, field)) {
    const isSame = !isHidden && isDeepStrictEqual(canonicalValue(field, sent), current)
    if (sent !== undefined && !isSame) issues.push(readOnly(field.name, plan))
    return current
  }
  const isFixed = field.immutable && isHidden
  // A field that the server sets or that a PATCH leaves out stays. A field that a PUT leaves out is cleared (MET-3).
  if (sent === undefined && (plan.kind === 'merge' || field.readOnly || isFixed)) return current
  if (isFixed) {
    issues.push(immutable(field.name, 'leave it out'))
    return current
  }
  // A merge patch changes the representation, which has no hidden values: the patch of a hidden value replaces it.
  const target = isHidden ? null : current
  const merged = plan.kind === 'merge' && isObject(sent) ? mergePatch(target, sent) : (sent ?? null)
  const before = issues.length
  const next = settle(field, merged, issues)
  if (field.immutable && issues.length === before && !isDeepStrictEqual(next, current)) {
    issues.push(immutable(field.name, 'send its present value or leave it out'))
  }
  return next
}

/** The value of a field after a JSON Patch. A value that the patch leaves as it is is not validated again. */
function patchedValue({ plan, field, sent, current, isHidden, issues }: FieldUpdate): unknown {
  const removed = sent === undefined
  // The representation that was patched does not have the field.
  if (removed && isHidden) return current
  const value = removed ? null : canonicalValue(field, sent)
  if (field.immutable && isHidden) {
    issues.push(immutable(field.name, 'leave it as it is'))
    return current
  }
  if (!removed && !isHidden && isDeepStrictEqual(value, current)) return current
  if (!isAssignable(plan, field)) {
    if (value !== current) issues.push(readOnly(field.name, plan))
    return current
  }
  if (field.immutable && !isDeepStrictEqual(value ?? field.default ?? null, current)) {
    issues.push(immutable(field.name, 'leave it as it is'))
    return current
  }
  return settle(field, value, issues)
}

function isAssignable({ resource, mayAssignOwner }: Update, field: Field): boolean {
  return !field.readOnly || (field.name === resource.owner && mayAssignOwner)
}

/** The value that a field takes: the default for `null`. Adds everything that is wrong to `issues`. */
function settle(field: Field, value: unknown, issues: Issue[]): unknown {
  if (value === null) {
    if (field.default !== undefined) return field.default
    if (field.required) issues.push(issue('REQUIRED', field.name, 'is required'))
    return null
  }
  const found = field.validate(value)
  if (found.length === 0) return canonicalValue(field, value)
  // `detail` shows the message without its pointer.
  for (const each of found) issues.push({ ...each, message: `${each.pointer?.slice(1)} ${each.message}.` })
  return null
}

// RES-9 wants one error for each unknown key, but a megabyte of keys would make ten megabytes of response.
const mostUnknown = 1_000

function bodyOf(resource: Resource, body: unknown): { body: RecordValues; issues: Issue[] } {
  if (!isObject(body)) {
    return { body: {}, issues: [{ code: 'INVALID_TYPE', message: 'The body must be a JSON object.', pointer: '' }] }
  }
  const unknown = Object.keys(body).filter(
    (name) => !resource.field.has(name) && !(systemFields as readonly string[]).includes(name),
  )
  const issues = unknown
    .slice(0, mostUnknown)
    .map((name) => issue('UNKNOWN_FIELD', name, `is not a field of ${resource.name}`))
  if (unknown.length > mostUnknown) {
    const message = `${unknown.length - mostUnknown} more keys are not fields of ${resource.name}.`
    issues.push({ code: 'UNKNOWN_FIELD', message, pointer: '' })
  }
  return { body, issues }
}

function readOnly(name: string, plan?: Update): Issue {
  return issue('READ_ONLY', name, `is set by the server; leave it ${plan?.kind === 'patch' ? 'as it is' : 'out'}`)
}

function immutable(name: string, remedy: string): Issue {
  return issue('IMMUTABLE', name, `cannot change once the record exists; ${remedy}`)
}

/** An issue at a field: the message begins with the field's name. */
export function issue(code: Issue['code'], name: string, message: string): Issue {
  return { code, message: `${name} ${message}.`, pointer: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` }
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
function isRewritten({ plan, field, sent }: FieldUpdate, isReadable: boolean): boolean {
  if (field.immutable || field.readOnly) return false
  return sent !== undefined || (plan.kind === 'replace' && !isReadable)
}

/**
 * The most bytes, in UTF-8, of the values of one record in an index. An index entry of PostgreSQL has at most 2,704
 * bytes, with its header, the id and up to seven bytes for each value. PostgreSQL compresses entries first, but the
 * limit of a text must not depend on how well it compresses. The limit is the same on every engine.
 */
export const maxIndexKeyBytes = 2_500

/** The most bytes in UTF-8 of one UTF-16 unit, also with its case folded. */
const maxUnitBytes = 3

/**
 * The texts of a draft that are too long for an index. Only changed fields are checked: a longer text that is stored
 * already stays.
 *
 * @param draft of the record as it is stored
 * @param refusal the code of the issues, and what to do
 */
export function indexKeyIssues(
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  { code, remedy } = { code: 'TOO_LONG', remedy: 'shorten it' },
): Issue[] {
  if (changed.length === 0) return []
  const issues = new Map<string, Issue>()
  for (const { fields, kind } of resource.indexes) {
    if (isSurelyShort(fields, values) || fields.some((name) => issues.has(name))) continue
    const isFolded = kind === 'folded'
    const sizes = fields.map((name) => ({ name, bytes: sizeOf(resource, name, values[name], isFolded) }))
    const sent = sizes.filter(({ name }) => changed.includes(name)).sort((left, right) => right.bytes - left.bytes)
    const [longest] = sent
    if (longest === undefined) continue
    const bytes = sum(sizes)
    // Fields that stay are too long by themselves: they were stored before there was a limit, and this change cannot
    // help.
    if (bytes <= maxIndexKeyBytes || (bytes - sum(sent) > maxIndexKeyBytes && sum(sent) <= maxIndexKeyBytes)) continue
    const others = fields.filter((name) => name !== longest.name)
    const together = others.length === 0 ? '' : `together with ${others.join(' and ')} `
    const size = `${together}has ${bytes} bytes in UTF-8${isFolded ? ', its case folded' : ''}`
    const limit = `what records are found by has at most ${maxIndexKeyBytes}`
    issues.set(longest.name, issue(code, longest.name, `${size}, and ${limit}; ${remedy}`))
  }
  return resource.fields.flatMap(({ name }) => issues.get(name) ?? [])
}

/** Whether values are short enough without a look at their characters. */
function isSurelyShort(fields: readonly string[], values: RecordValues): boolean {
  let most = 0
  for (const name of fields) {
    const value = values[name]
    most += typeof value === 'string' ? value.length * maxUnitBytes : 8
  }
  return most <= maxIndexKeyBytes
}

function sizeOf(resource: Resource, name: string, value: unknown, isFolded: boolean): number {
  if (value === null || value === undefined) return 0
  const key = comparisonKey(resource, name, value)
  return typeof key === 'string' ? Buffer.byteLength(isFolded ? fold(key) : key) : 8
}

function sum(sizes: readonly { readonly bytes: number }[]): number {
  return sizes.reduce((total, { bytes }) => total + bytes, 0)
}

/** The body as it was sent; for a JSON Patch, the whole record that it makes of the current one. */
export function bodyOfUpdate(plan: Update, current: RecordValues): Patched {
  if (plan.kind !== 'patch') return { kind: 'patched', value: plan.body }
  const patched = jsonPatch(representationOf(plan.resource, current), withCanonicalTests(plan.resource, plan.body))
  if (patched.kind !== 'patched' || isObject(patched.value)) return patched
  const message = 'The patch would make something else of the record than a JSON object.'
  return { kind: 'invalid', issues: [{ code: 'INVALID_TYPE', message, pointer: '' }] }
}

/** A patch whose tests of decimal fields accept each spelling of a number: `19.9` is the value of `"19.90"`. */
function withCanonicalTests({ fields }: Resource, patch: unknown): unknown {
  const decimals = new Map(fields.flatMap((field) => (field.decimal === undefined ? [] : [[`/${field.name}`, field]])))
  if (decimals.size === 0 || !Array.isArray(patch)) return patch
  return patch.map((operation: unknown) => {
    if (!isObject(operation) || operation['op'] !== 'test') return operation
    const field = decimals.get(String(operation['path']))
    return field === undefined ? operation : { ...operation, value: canonicalValue(field, operation['value']) }
  })
}

/** A record as clients see it: every field that is not writeOnly, unset ones `null` (RES-8). */
function representationOf(resource: Resource, record: RecordValues): RecordValues {
  const shown = resource.fields.filter((field) => !field.writeOnly).map((field) => field.name)
  const names = ['id', ...shown, 'created_at', 'updated_at']
  return Object.fromEntries(names.map((name) => [name, record[name] ?? null]))
}

/**
 * The value that a merge patch makes of `target`. Neither argument is changed.
 *
 * @param patch read by `model/json/read-json.ts`, which refuses keys that could reach a prototype
 */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else merged[key] = mergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value)
  }
  return merged
}
