/** Plans to create and to revoke API keys (AUT-2, AUT-10), and reads the body of `POST /api-keys`. */

import { keyBounds } from 'resourced-contract/model/catalog'
import { suggest } from 'resourced-contract/model/nearest'
import { escapeStep } from 'resourced-contract/model/place'
import { isObject } from 'resourced-contract/model/plain-copy'
import { type Resource, systemFields } from 'resourced-contract/model/resource'
import { instantKey, timestamp } from 'resourced-contract/model/time'
import { fault, type Issue } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import type { Conditions } from '../http/preconditions.ts'
import { grantKey, hashOfKey, hintOfKey, newKey } from '../policy/api-keys.ts'
import type { Caller } from '../policy/caller.ts'
import { isAdministrator, permit } from '../policy/permit.ts'
import { unknownMembers } from './issue.ts'
import type { CreateKey, RevokeKey } from './plan.ts'
import { idempotencyOf, type Planning } from './planning.ts'

/**
 * Plans an API key.
 *
 * @throws Fault FORBIDDEN if the caller may not create such a key
 */
export function planKey(
  planning: Planning,
  resource: Resource,
  input: { readonly body: unknown; readonly idempotencyKey: string | undefined },
): CreateKey {
  const { caller, now } = planning
  const { issues, ...wish } = readKeyRequest(resource, input.body, now)
  const { keys } = planning.catalog.limits
  const decided = grantKey(caller, wish, keys.lastingRoles)
  if ('refusals' in decided) throw fault('FORBIDDEN', { errors: decided.refusals })
  const key = newKey()
  return {
    ...{ kind: 'create-key', resource, id: uuidv7(), issues, ...decided.grant },
    ...{ madeBy: makerOf(caller), perSubject: keys.perSubject },
    ...{ hash: hashOfKey(key), hint: hintOfKey(key), secret: () => key },
    idempotency: idempotencyOf(planning, [resource.name], input),
    caller,
    now,
  }
}

/** The credential of a caller as `made_by` names it. */
function makerOf({ credential, id }: Caller): CreateKey['madeBy'] {
  return credential === 'jwt' || credential === 'own' ? { kind: 'subject', id } : { kind: 'key', id: credential }
}

/** Plans the revocation of an API key. */
export function planRevocation(
  { caller, catalog, now }: Planning,
  { resource, id }: { readonly resource: Resource; readonly id: string },
  { conditions, descendants }: { readonly conditions: Conditions; readonly descendants: boolean },
): RevokeKey {
  return {
    kind: 'revoke-key',
    resource,
    id,
    permitted: permit(catalog, caller, 'delete', resource),
    descendants,
    roles: isAdministrator(caller) ? undefined : caller.roles,
    conditions,
    caller,
    now,
  }
}

/** The members of the body; `undefined` if one is missing or wrong. */
export interface KeyRequest {
  readonly subject: string | undefined
  readonly roles: readonly string[] | undefined
  /** In the interface's form of timestamps. */
  readonly expires_at: string | undefined
  /** Everything that is wrong. */
  readonly issues: readonly Issue[]
}

const members: readonly string[] = ['subject', 'roles', 'expires_at']

/**
 * Reads the body of a request for a key, and everything that is wrong with it.
 *
 * @param now milliseconds since 1970: a key must end later
 *
 * @example
 * readKeyRequest(keys, { roles: ['editor', 'editor'] }, now)
 * // { roles: undefined, …, issues: [{ code: 'INVALID_VALUE', pointer: '/roles/1', … }] }
 */
export function readKeyRequest(resource: Resource, body: unknown, now: number): KeyRequest {
  if (!isObject(body)) {
    const message = 'The body must be a JSON object; subject, roles and expires_at may be left out.'
    return { ...nothing, issues: [{ code: 'INVALID_TYPE', message, pointer: '' }] }
  }
  const isKnown = (name: string) => members.includes(name)
  const issues = unknownMembers(body, isKnown, (name) => foreignMember(resource, name))
  const sent = (name: string) => (Object.hasOwn(body, name) ? (body[name] ?? undefined) : undefined)
  const subject = readSubject(sent('subject'), issues)
  const roles = readRoles(sent('roles'), issues)
  const expires_at = readExpiry(sent('expires_at'), now, issues)
  return { subject, roles, expires_at, issues }
}

const nothing = { subject: undefined, roles: undefined, expires_at: undefined }

function foreignMember({ field }: Resource, name: string): Issue {
  const pointer = `/${escapeStep(name)}`
  const isShown = field.has(name) || systemFields.some((each) => each === name)
  if (isShown) return { code: 'READ_ONLY', message: `${name} is set by the server; leave it out.`, pointer }
  const message = `A key has nothing to set by that name. ${suggest(name, members)}`
  return { code: 'UNKNOWN_FIELD', message, pointer }
}

function readSubject(value: unknown, issues: Issue[]): string | undefined {
  if (value === undefined) return undefined
  return readName('subject', value, { pointer: '/subject', most: keyBounds.subject }, issues)
}

function readRoles(value: unknown, issues: Issue[]): string[] | undefined {
  const pointer = '/roles'
  if (value === undefined) return undefined
  if (!Array.isArray(value)) {
    issues.push({ code: 'INVALID_TYPE', message: 'roles is an array of texts.', pointer })
    return undefined
  }
  if (value.length > keyBounds.roles) {
    const message = `roles may have ${keyBounds.roles} items, not ${value.length}.`
    issues.push({ code: 'TOO_MANY_ITEMS', message, pointer })
    return undefined
  }
  const before = issues.length
  const places = new Map<string, number>()
  for (const [index, item] of value.entries()) {
    const place = `${pointer}/${index}`
    const role = readName('A role', item, { pointer: place, most: keyBounds.role }, issues)
    if (role === undefined) continue
    const first = places.get(role)
    if (first !== undefined) {
      const message = `It repeats ${pointer}/${first}; name each role once.`
      issues.push({ code: 'INVALID_VALUE', message, pointer: place })
    }
    // The command line takes roles as one text with commas.
    if (role.includes(',')) {
      issues.push({ code: 'INVALID_VALUE', message: 'A role has no comma in it.', pointer: place })
    }
    places.set(role, first ?? index)
  }
  return issues.length > before ? undefined : [...places.keys()]
}

function readName(
  what: string,
  value: unknown,
  { pointer, most }: { readonly pointer: string; readonly most: number },
  issues: Issue[],
): string | undefined {
  const wrong = (code: Issue['code'], message: string) =>
    void issues.push({ code, message: `${what} ${message}`, pointer })
  if (typeof value !== 'string') wrong('INVALID_TYPE', 'is a text.')
  else if (value === '') wrong('TOO_SHORT', 'has at least one character.')
  // A character is two units at most.
  else if (value.length > 2 * most || [...value].length > most) wrong('TOO_LONG', `has at most ${most} characters.`)
  else if (/\p{Cc}/u.test(value)) wrong('INVALID_VALUE', 'has no control characters.')
  else if (value.trim() !== value) wrong('INVALID_VALUE', 'does not begin or end with white space.')
  else return value
  return undefined
}

function readExpiry(value: unknown, now: number, issues: Issue[]): string | undefined {
  const pointer = '/expires_at'
  if (value === undefined) return undefined
  if (typeof value !== 'string') {
    issues.push({ code: 'INVALID_TYPE', message: 'expires_at is a text, or null.', pointer })
    return undefined
  }
  const time = Date.parse(value.toUpperCase())
  // A leap second would never come.
  if (instantKey(value) === undefined || Number.isNaN(time)) {
    const message = 'expires_at is a date-time with its zone, such as 2027-01-01T00:00:00Z.'
    issues.push({ code: 'INVALID_FORMAT', message, pointer })
    return undefined
  }
  if (time <= now) {
    issues.push({ code: 'INVALID_VALUE', message: 'expires_at must be in the future.', pointer })
    return undefined
  }
  return timestamp(time)
}
