/** Which API keys a caller may make: nobody gives away what they do not have (AUT-4). */
import type { Issue } from '../spec/faults.ts'
import { type Caller, isAdministrator } from './caller.ts'

/** What a key is asked to be; `undefined` is left out. */
export interface KeyWish {
  readonly subject: string | undefined
  readonly roles: readonly string[] | undefined
  readonly expires_at: string | undefined
}

/** What a key will be. */
export interface KeyGrant {
  readonly subject: string
  readonly roles: readonly string[]
  /** `null`: never. */
  readonly expires_at: string | null
}

/**
 * The key that a caller gets, or everything that they may not have. An administrator may make keys for any subject with any
 * role; everyone else for themselves, with roles of their own. A key never outlives the credential that makes it, unless the
 * caller may make lasting keys (AUT-10).
 *
 * What is left out is what the caller has: but for somebody else that is no role at all, lest one become an administrator
 * because nobody said otherwise.
 *
 * @param lastingRoles the roles whose callers may make keys that outlive the credential they come with
 */
export function grantKey(
  caller: Caller,
  wish: KeyWish,
  lastingRoles: readonly string[] = [],
): { readonly grant: KeyGrant } | { readonly refusals: readonly Issue[] } {
  const subject = wish.subject ?? caller.id
  const roles = wish.roles ?? (subject === caller.id ? caller.roles : [])
  const refusals: Issue[] = []
  const refuse = (pointer: string, message: string) => void refusals.push({ code: 'FORBIDDEN', message, pointer })
  if (subject !== caller.id && !isAdministrator(caller)) {
    refuse('/subject', 'You may make keys for yourself alone: leave subject out.')
  }
  for (const [index, role] of roles.entries()) {
    if (caller.roles.includes(role) || isAdministrator(caller)) continue
    refuse(`/roles/${index}`, `You do not have the role ${JSON.stringify(role)}, so your keys cannot have it.`)
  }
  const isLasting = caller.roles.some((role) => lastingRoles.includes(role))
  const latest = isLasting ? Number.POSITIVE_INFINITY : caller.expiresAt
  const ends = latest === Number.POSITIVE_INFINITY ? null : new Date(latest).toISOString()
  const expires_at = wish.expires_at ?? ends
  if (expires_at !== null && Date.parse(expires_at) > latest) {
    refuse(
      '/expires_at',
      `Your credential expires at ${ends}, so its keys cannot expire later. Ask for an earlier end.`,
    )
  }
  return refusals.length > 0 ? { refusals } : { grant: { subject, roles, expires_at } }
}
