/** The claims of a verified JWT -> its caller (AUT-2). */
import { deepFreeze } from '../model/plain-copy.ts'
import { isStorableText } from '../model/text.ts'
import type { Caller } from './caller.ts'

type Claims = Readonly<Record<string, unknown>>

/** The longest id of a caller, in characters: it is kept in records, as their owner. */
const longestId = 200

/**
 * Who the claims say is calling; `undefined` where `sub` is no usable id. The caller is shared by all requests that come with
 * the token, so nothing in it can be changed.
 *
 * @param rolesClaim where the roles are
 */
export function callerOfClaims(claims: Claims, rolesClaim: string): Caller | undefined {
  const id = own(claims, 'sub')
  if (typeof id !== 'string' || id === '' || [...id].length > longestId || !isStorableText(id)) return undefined
  // Where it says nothing of its end, nothing may outlive this moment.
  const expiresAt = Math.floor(Number(own(claims, 'exp') ?? 0) * 1_000)
  return deepFreeze({ id, roles: rolesOf(claims, rolesClaim), claims, credential: 'jwt', expiresAt })
}

/**
 * The roles in a claim: the texts of an array, or the words of a text, as in `scope` (RFC 8693 section 4.2); anything else
 * is none. A claim of exactly that name goes before a path, since names may be addresses: `https://example.com/roles`.
 */
export function rolesOf(claims: Claims, claim: string): string[] {
  const path = Object.hasOwn(claims, claim) ? [claim] : claim.split('.')
  const found = path.reduce(own, claims)
  if (typeof found === 'string') return found.split(' ').filter((role) => role !== '')
  return Array.isArray(found) ? found.filter((role) => typeof role === 'string') : []
}

function own(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
