/** Plans to create API keys (AUT-2, AUT-10), and reads the body of `POST /api-keys`. */

import { keyBounds } from 'resourced-contract/model/catalog'
import { candidates } from 'resourced-contract/model/nearest'
import { escapeStep } from 'resourced-contract/model/place'
import { isObject } from 'resourced-contract/model/plain-copy'
import { type Resource, systemFields } from 'resourced-contract/model/resource'
import { instantKey, timestamp } from 'resourced-contract/model/time'
import { fault, type Issue, issue, type Place, unknownMembers } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import { grantKey, hashOfKey, hintOfKey, type KeyWish, newKey, readClaims } from '../policy/api-keys.ts'
import type { Caller } from '../policy/caller.ts'
import { readItems } from '../request/parameters.ts'
import type { CreateKey } from './plan.ts'
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
  const { limits, tenants } = planning.catalog
  const { keys } = limits
  const decided = grantKey(caller, wish, keys.lastingRoles, tenants !== undefined)
  if ('refusals' in decided) throw fault('FORBIDDEN', { errors: decided.refusals })
  const key = newKey()
  return {
    ...{ kind: 'create-key', resource, id: uuidv7(), issues, ...decided.grant },
    ...{ madeBy: makerOf(caller, tenants !== undefined), perSubject: keys.perSubject },
    ...{ hash: hashOfKey(key), hint: hintOfKey(key), secret: () => key },
    idempotency: idempotencyOf(planning, [resource.name], input),
    caller,
    now,
  }
}

/** The credential of a caller as `made_by` names it. With tenants, a key without one is in the operators' database. */
function makerOf({ credential, id, tenant }: Caller, hasTenants: boolean): CreateKey['madeBy'] {
  if (credential === 'jwt' || credential === 'own') return { kind: 'subject', id }
  return { kind: hasTenants && tenant === undefined ? 'subject' : 'key', id: credential }
}

/** The members of the body; `undefined` if one is missing or wrong. */
export interface KeyRequest extends KeyWish {
  /** Everything that is wrong. */
  readonly issues: readonly Issue[]
}

const members: readonly string[] = ['subject', 'roles', 'claims', 'expires_at']

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
  if (!isObject(body)) return { ...nothing, issues: [issue('object', { pointer: '' })] }
  const isKnown = (name: string) => members.includes(name)
  const issues = unknownMembers(body, isKnown, (name) => foreignMember(resource, name))
  const sent = (name: string) => (Object.hasOwn(body, name) ? (body[name] ?? undefined) : undefined)
  const subject = readSubject(sent('subject'), issues)
  const roles = readRoles(sent('roles'), issues)
  const claims = readClaims(sent('claims'), issues)
  const expires_at = readExpiry(sent('expires_at'), now, issues)
  return { subject, roles, claims, expires_at, issues }
}

const nothing = { subject: undefined, roles: undefined, claims: undefined, expires_at: undefined }

function foreignMember({ field }: Resource, name: string): Issue {
  const pointer = `/${escapeStep(name)}`
  const isShown = field.has(name) || systemFields.some((each) => each === name)
  return isShown ? issue('readOnly', { pointer }) : issue('unsettable', { pointer, names: candidates(name, members) })
}

function readSubject(value: unknown, issues: Issue[]): string | undefined {
  if (value === undefined) return undefined
  return readName(value, { pointer: '/subject' }, keyBounds.subject, issues)
}

function readRoles(value: unknown, issues: Issue[]): string[] | undefined {
  const pointer = '/roles'
  if (value === undefined) return undefined
  const items = readItems(value, pointer, { least: 0, most: keyBounds.roles }, issues)
  if (items === undefined) return undefined
  const before = issues.length
  const places = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const place = { pointer: `${pointer}/${index}` }
    const role = readName(item, place, keyBounds.role, issues)
    if (role === undefined) continue
    const first = places.get(role)
    if (first !== undefined) issues.push(issue('repeats', { ...place, first: `${pointer}/${first}` }))
    // The command line takes roles as one text with commas.
    if (role.includes(',')) issues.push(issue('comma', place))
    places.set(role, first ?? index)
  }
  return issues.length > before ? undefined : [...places.keys()]
}

function readName(value: unknown, place: Place, most: number, issues: Issue[]): string | undefined {
  if (typeof value !== 'string') issues.push(issue('type', { ...place, types: ['string'] }))
  else if (value === '') issues.push(issue('minLength', { ...place, limit: 1 }))
  // A character is two units at most.
  else if (value.length > 2 * most || [...value].length > most)
    issues.push(issue('maxLength', { ...place, limit: most }))
  else if (/\p{Cc}/u.test(value)) issues.push(issue('control', place))
  else if (value.trim() !== value) issues.push(issue('space', place))
  else return value
  return undefined
}

function readExpiry(value: unknown, now: number, issues: Issue[]): string | undefined {
  const place = { pointer: '/expires_at' }
  if (value === undefined) return undefined
  if (typeof value !== 'string') {
    issues.push(issue('type', { ...place, types: ['string', 'null'] }))
    return undefined
  }
  const time = Date.parse(value.toUpperCase())
  // A leap second would never come.
  if (instantKey(value) === undefined || Number.isNaN(time)) {
    issues.push(issue('format', { ...place, format: 'date-time' }))
    return undefined
  }
  if (time <= now) {
    issues.push(issue('past', place))
    return undefined
  }
  return timestamp(time)
}
