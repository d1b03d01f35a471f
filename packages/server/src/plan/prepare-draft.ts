/**
 * Calls the function `prepare` of a resource, which completes the record that a request makes (RES-13), and validates
 * what it returns. The function is part of the program: if its result breaks the declaration, the request gets 500, and
 * the log names the function. References, uniqueness, transitions, permissions and business rules are decided
 * afterwards, as if the caller had sent the values.
 */
import { isDeepStrictEqual } from 'node:util'
import { show } from 'resourced-contract/model/check/parts'
import { canonicalValue } from 'resourced-contract/model/decimal'
import { callDeclared, FunctionFault, frozenCopy } from 'resourced-contract/model/declared-function'
import { isObject, plainCopy } from 'resourced-contract/model/plain-copy'
import { type Draft, type Field, type RecordValues, systemFields } from 'resourced-contract/model/resource'
import { isStorableText } from 'resourced-contract/model/text'
import { type Issue, sentenceOf } from 'resourced-contract/spec/faults'
import type { RecordAccess } from './check-record.ts'
import { settle } from './draft.ts'
import { indexKeyIssues } from './index-keys.ts'
import type { Create, Update } from './plan.ts'
import { redactError, writeOnlyTexts } from './redact-error.ts'

/**
 * The draft with what `prepare` makes of it. The function is not called for an invalid draft, and not for a change that
 * changes nothing: repeating a PUT changes nothing more (MET-3).
 *
 * @param current the record before the change; `undefined` on creation
 * @param access of the caller to `current`
 * @throws FunctionFault if the function fails, or returns what the declaration does not allow
 */
export function prepareDraft(
  plan: Create | Update,
  current: RecordValues | undefined,
  draft: Draft,
  access: RecordAccess = { isReadable: true },
): Draft {
  const { resource, caller, now } = plan
  const { prepare } = resource
  const isSame = current !== undefined && draft.changed.length === 0
  if (prepare === undefined || draft.issues.length > 0 || isSame) return draft
  const place = `resources.${resource.name}.prepare`
  const context = Object.freeze({ current: frozenCopy(current), next: frozenCopy(draft.values), caller, now })
  try {
    const answer = callDeclared(place, context, () => prepare(context))
    // The answer may have getters, which are functions of the declaration too.
    return callDeclared(place, context, () => {
      const given = { plan, place, current, next: context.next, draft, access }
      return withPrepared(given, readAnswer(given, answer))
    })
  } catch (error) {
    throw redactError(error, [...writeOnlyTexts(resource, current), ...writeOnlyTexts(resource, draft.values)])
  }
}

/** A call of `prepare`. */
interface Call {
  readonly plan: Create | Update
  /** The place of the function in the declaration. */
  readonly place: string
  readonly current: RecordValues | undefined
  /** The record that the function received. */
  readonly next: RecordValues
  readonly draft: Draft
  readonly access: RecordAccess
}

/** The values that a function returned and that differ from those it received, by field. */
function readAnswer(call: Call, answer: unknown): Map<Field, unknown> {
  const { place, plan, next } = call
  const { resource } = plan
  if (!isObject(answer)) {
    throw new FunctionFault(`${place} returned no record. Return { ...next } with the fields that it changes.`)
  }
  const found = new Map<Field, unknown>()
  for (const name of Object.keys(answer)) {
    const value = answer[name]
    if (value === undefined || value === next[name]) continue
    const field = resource.field.get(name)
    if (field === undefined) {
      if (!(systemFields as readonly string[]).includes(name)) {
        throw new FunctionFault(`${place} returned a field that ${resource.name} does not have: ${show(name)}.`)
      }
      if (value === null && next[name] === undefined) continue
      throw new FunctionFault(`${place} changed ${name}, which the server sets.`)
    }
    const read = canonicalValue(field, jsonCopy(value, `${place} returned for ${name}`))
    if (!isDeepStrictEqual(read, next[name] ?? null)) found.set(field, settled(call, field, read))
  }
  return found
}

/** A changed value as it is stored. */
function settled({ plan, place, current, next }: Call, field: Field, value: unknown): unknown {
  const { name } = field
  if (name === plan.resource.owner && !plan.mayAssignOwner) {
    throw new FunctionFault(`${place} changed ${name}: only administrators change the owner (AUT-7).`)
  }
  if (field.immutable && current !== undefined && !isDeepStrictEqual(value, current[name] ?? null)) {
    throw new FunctionFault(`${place} changed ${name}, which is immutable once the record exists.`)
  }
  if (field.sumOf !== undefined) throw new FunctionFault(`${place} changed ${name}, which the server adds up.`)
  if (field.sequence !== undefined) throw new FunctionFault(`${place} changed ${name}, which the server numbers.`)
  const issues: Issue[] = []
  const sources = { caller: plan.caller, at: String(next['updated_at']) }
  const made = settle(field, value, { issues, sources })
  if (issues.length > 0) throw invalid(place, issues)
  return made
}

function withPrepared({ plan, place, current, draft, access }: Call, prepared: ReadonlyMap<Field, unknown>): Draft {
  const { resource } = plan
  const values: Record<string, unknown> = { ...draft.values }
  for (const [field, value] of prepared) values[field.name] = value
  if (current === undefined) requireValues(place, resource.fields, values)
  const changed = resource.fields.filter((field) => {
    const { name } = field
    const isChanged = draft.changed.includes(name)
    if (!prepared.has(field)) return isChanged
    // What was written to a value that the caller may not read counts as a change: an unchanged entity tag would
    // confirm a guess (AUT-9).
    const isHidden = field.writeOnly || !access.isReadable || access.hidden?.has(name) === true
    if (isChanged && isHidden) return true
    return !isDeepStrictEqual(values[name], current?.[name] ?? null)
  })
  const names = changed.map(({ name }) => name)
  if (current !== undefined && names.length === 0) values['updated_at'] = current['updated_at']
  const found = indexKeyIssues(resource, { values, changed: names }, current)
  const isPrepared = ({ pointer }: Issue) => [...prepared.keys()].some(({ name }) => pointer === `/${name}`)
  if (found.some(isPrepared)) throw invalid(place, found)
  return { values, changed: names, issues: found, prepared: [...prepared.keys()].map(({ name }) => name) }
}

/** Refuses a new record in which a required field, which callers cannot send, has no value. */
function requireValues(place: string, fields: readonly Field[], values: RecordValues): void {
  for (const { name, required, sequence } of fields) {
    if (!required || sequence !== undefined || values[name] !== null) continue
    throw new FunctionFault(`${place} left ${name} without a value, and every record needs one.`)
  }
}

/** @param issues their sentences name the schema, and no value */
function invalid(place: string, issues: readonly Issue[]): FunctionFault {
  const [first] = issues as [Issue]
  return new FunctionFault(`${place} returned an invalid value. ${sentenceOf(first)} (${first.code})`)
}

/**
 * A copy of a JSON value.
 *
 * @param what the beginning of the sentence that says what is wrong
 * @throws FunctionFault if it is no JSON, or holds a text that databases cannot store
 */
function jsonCopy(value: unknown, what: string): unknown {
  const mistakes: string[] = []
  const copied = plainCopy(value, (steps, message) => void mistakes.push(`/${steps.join('/')} ${message}`))
  if (mistakes.length > 0) throw new FunctionFault(`${what} a value that is no JSON: ${mistakes[0]}.`)
  requireJson(copied, what)
  return copied
}

function requireJson(value: unknown, what: string): void {
  if (typeof value === 'string') {
    if (!isStorableText(value)) throw new FunctionFault(`${what} a text with U+0000 or half a surrogate pair.`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      requireJson(key, what)
      requireJson(each, what)
    }
  } else if (typeof value !== 'boolean' && value !== null && !Number.isFinite(value)) {
    throw new FunctionFault(`${what} a value that is no JSON: ${typeof value === 'number' ? value : typeof value}.`)
  }
}
