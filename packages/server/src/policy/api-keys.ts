/**
 * API keys: 256 random bits with a checksum, stored as SHA-256 only (AUT-2, SEC-3); and which keys a caller may create
 * (AUT-4).
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { keyBounds } from 'resourced-contract/model/catalog'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { jsonText } from 'resourced-contract/model/json/json-text'
import { escapeStep } from 'resourced-contract/model/place'
import { canonicalJson, isObject } from 'resourced-contract/model/plain-copy'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import type { Caller } from './caller.ts'
import { isAdministrator } from './permit.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = /^rsk_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/**
 * Makes a key: `rsk_`, 43 characters of 256 random bits, 6 of checksum.
 * Secret scanners recognise a leaked key by its prefix and checksum.
 */
export function newKey(): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)
  return `rsk_${random}${checksum(random)}`
}

/** Whether a text has the form of a key, checksum included: most forged keys cost no look-up. */
export function isKey(text: string): boolean {
  const parts = form.exec(text)
  return parts !== null && checksum(parts[1] as string) === parts[2]
}

/** The stored hash of a key, hexadecimal. A key of 256 random bits needs no salt and no slow hash. */
export function hashOfKey(key: string): string {
  return hash('sha256', key)
}

/** The beginning of a key, by which people tell keys apart. */
export function hintOfKey(key: string): string {
  return key.slice(0, 8)
}

function checksum(random: string): string {
  return base62(BigInt(crc32(random)), 6)
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = alphabet[Number(rest % 62n)] + text
  return text
}

/**
 * When a credential that a caller makes must end, in milliseconds since 1970 (AUT-10): infinity is never, and 0 that
 * the caller's own credential does not say when it ends.
 */
export function latestEnd({ roles, expiresAt }: Caller, lastingRoles: readonly string[]): number {
  return roles.some((role) => lastingRoles.includes(role)) ? Number.POSITIVE_INFINITY : expiresAt
}

/** The key that a request asks for; `undefined`: the request leaves it out. */
export interface KeyWish {
  readonly subject: string | undefined
  readonly roles: readonly string[] | undefined
  readonly claims: Claims | undefined
  /** In the interface's form of timestamps. */
  readonly expires_at: string | undefined
}

/** What conditions compare of a caller, by name. */
export type Claims = Readonly<Record<string, unknown>>

/** The attributes of the key that the caller gets. */
interface KeyGrant {
  readonly subject: string
  readonly roles: readonly string[]
  /** `null`: none. */
  readonly claims: Claims | null
  /** `null`: never. */
  readonly expires_at: string | null
}

/**
 * The key that a caller gets, or an issue for each thing that the caller may not have. An administrator may create keys
 * for any subject with any roles and claims. Other callers create keys for themselves, with roles and claims of their
 * own (AUT-16). A key never outlives the credential that creates it, unless the caller may create lasting keys
 * (AUT-10).
 *
 * The defaults are the caller's own subject, roles and expiry. A key for another subject has no roles by default, so
 * that nobody becomes an administrator by accident. A key has only the claims that are asked for: those of a token end
 * with the session, and many of them are about the token itself.
 *
 * @param lastingRoles the roles that allow callers to create keys that outlive their own credential
 * @param hasTenants whether a claim may name a tenant: administrators too pass on only claims of their own (TEN-2)
 */
export function grantKey(
  caller: Caller,
  wish: KeyWish,
  lastingRoles: readonly string[] = [],
  hasTenants = false,
): { readonly grant: KeyGrant } | { readonly refusals: readonly Issue[] } {
  const subject = wish.subject ?? caller.id
  const roles = wish.roles ?? (subject === caller.id ? caller.roles : [])
  const refusals: Issue[] = []
  if (subject !== caller.id && !isAdministrator(caller)) refusals.push(issue('ownKeys', { pointer: '/subject' }))
  for (const [index, role] of roles.entries()) {
    if (caller.roles.includes(role) || isAdministrator(caller)) continue
    refusals.push(issue('lackedRole', { pointer: `/roles/${index}`, name: role }))
  }
  const claims = wish.claims ?? null
  for (const [name, value] of Object.entries(claims ?? {})) {
    if ((isAdministrator(caller) && !hasTenants) || hasClaim(caller, name, value)) continue
    refusals.push(issue('lackedClaim', { pointer: `/claims/${escapeStep(name)}`, name }))
  }
  const latest = latestEnd(caller, lastingRoles)
  if (latest === 0) {
    refusals.push(issue('endlessKeys', { pointer: '/expires_at' }))
    return { refusals }
  }
  const ends = latest === Number.POSITIVE_INFINITY ? null : new Date(latest).toISOString()
  const expires_at = wish.expires_at ?? ends
  if (expires_at !== null && Date.parse(expires_at) > latest) {
    refusals.push(issue('laterEnd', { pointer: '/expires_at', ends }))
  }
  return refusals.length > 0 ? { refusals } : { grant: { subject, roles, claims, expires_at } }
}

/** The claims of a key; `undefined`: they are left out, or wrong. */
export function readClaims(value: unknown, issues: Issue[]): Claims | undefined {
  const place = { pointer: '/claims' }
  if (value === undefined) return undefined
  if (!isObject(value)) issues.push(issue('type', { ...place, types: ['object', 'null'] }))
  else if (jsonText(value).length > keyBounds.claims) {
    issues.push(issue('jsonLength', { ...place, limit: keyBounds.claims }))
  } else return value
  return undefined
}

/** Whether a caller has a claim with an equal value. */
export function hasClaim({ claims }: Pick<CallerView, 'claims'>, name: string, value: unknown): boolean {
  return Object.hasOwn(claims, name) && canonicalJson(claims[name]) === canonicalJson(value)
}
