/** Tokens that were verified, by their SHA-256: one that comes again costs a look-up (AUT-2, SEC-3). */
import { hash } from 'node:crypto'
import type { Verified, VerifyToken } from './authenticate.ts'

/** How long a token is taken as verified, in milliseconds: then its key must still be there. */
const trust = 60_000
/** The most tokens remembered, with their claims; the oldest goes first. */
const most = 5_000

/**
 * Remembers what a verification found. What was refused is not remembered.
 *
 * @param now milliseconds since 1970
 */
export function rememberTokens(verify: VerifyToken, now: () => number): VerifyToken {
  const known = new Map<string, Verified>()
  return async (token) => {
    const key = hash('sha256', token, 'base64')
    const remembered = known.get(key)
    if (remembered !== undefined && now() < remembered.until) return remembered
    known.delete(key)
    const found = await verify(token)
    if (typeof found === 'string') return found
    const verified = { caller: found.caller, until: Math.min(found.until, now() + trust) }
    if (known.size >= most) known.delete(known.keys().next().value as string)
    known.set(key, verified)
    return verified
  }
}
