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
 * The key that a caller gets, or everything that they may not have. An administrator may ask for any; everyone else for
 * themselves, with roles of their own, for no longer than the credential that they come with.
 *
 * What is left out is what the caller has: but for somebody else that is no role at all, lest one become an administrator
 * because nobody said otherwise.
 */
export function grantKey(
  caller: Caller,
  wish: KeyWish,
): { readonly grant: KeyGrant } | { readonly refusals: readonly Issue[] } {
  const subject = wish.subject ?? caller.id
  const roles = wish.roles ?? (subject === caller.id ? caller.roles : [])
  if (isAdministrator(caller)) return { grant: { subject, roles, expires_at: wish.expires_at ?? null } }
  const refusals: Issue[] = []
  const refuse = (pointer: string, message: string) => void refusals.push({ code: 'FORBIDDEN', message, pointer })
  if (subject !== caller.id) refuse('/subject', 'You may make keys for yourself alone: leave subject out.')
  for (const [index, role] of roles.entries()) {
    if (caller.roles.includes(role)) continue
    refuse(`/roles/${index}`, `You do not have the role ${JSON.stringify(role)}, so your keys cannot have it.`)
  }
  const ends = caller.expiresAt === Number.POSITIVE_INFINITY ? null : new Date(caller.expiresAt).toISOString()
  const expires_at = wish.expires_at ?? ends
  if (expires_at !== null && Date.parse(expires_at) > caller.expiresAt) {
    refuse('/expires_at', `Your own credential ends at ${ends}: what it makes cannot last longer.`)
  }
  return refusals.length > 0 ? { refusals } : { grant: { subject, roles, expires_at } }
}
