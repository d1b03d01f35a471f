/** Who asks in the matrix: four by key, one by token, one by session, and those whose credential is none. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { uuidv7 } from 'uuidv7'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { assembled, audience, claimsAt, issuer, pairOf, sign } from '../../packages/server/src/policy/jwt.fixture.ts'
import { asymmetricAlgorithms, type JwtSettings } from '../../packages/server/src/policy/jwt-settings.ts'
import { type AuthenticateOption, Unauthenticated } from '../../packages/server/src/policy/own-credentials.ts'
import type { Trial } from '../harness.ts'

/** A caller as the model knows it. */
export interface Caller {
  readonly name: string
  /** The subject of its credential. */
  readonly id: string
  readonly isAdministrator: boolean
  readonly isEditor: boolean
  /** Its claim `team`. */
  readonly team: string | undefined
  readonly isAuthenticated: boolean
}

const plain = { isAdministrator: false, isEditor: false, team: undefined, isAuthenticated: true }
const unknown = { ...plain, id: 'root', isAuthenticated: false }

export const callers: readonly Caller[] = [
  { ...plain, name: 'administrator', id: 'root', isAdministrator: true },
  { ...plain, name: 'owner', id: 'ann' },
  { ...plain, name: 'other', id: 'bob' },
  { ...plain, name: 'editor', id: 'eve', isEditor: true },
  { ...plain, name: 'team', id: 'tim', team: 'blue' },
  { ...plain, name: 'session', id: 'sam', team: 'blue' },
]

/** Those who get 401, although they would be administrators. */
export const strangers: readonly Caller[] = [
  { ...unknown, name: 'nobody' },
  { ...unknown, name: 'expired key' },
  { ...unknown, name: 'revoked key' },
  { ...unknown, name: 'forged token' },
  { ...unknown, name: 'ended session' },
]

/** What each caller sends as `as`, by its name. */
export type Credentials = ReadonlyMap<string, string | null>

const pair = await pairOf('key')
const claims = { ...claimsAt(Date.now()), sub: 'tim', team: 'blue' }

/** Sessions of an application of its own. */
export const authenticate: AuthenticateOption = async ({ headers: { authorization } }) => {
  if (authorization === 'Bearer session-of-sam') return { id: 'sam', roles: [], claims: { team: 'blue' } }
  if (authorization === 'Bearer ended-session') throw new Unauthenticated()
  return undefined
}

/** The settings under which the token is accepted; its key lies in a file until `remove`. */
export function tokenSettings(): { readonly jwt: JwtSettings; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-'))
  const file = join(folder, 'keys.json')
  writeFileSync(file, JSON.stringify({ keys: [pair.jwk] }))
  const jwt = { issuer, audience, keys: { file }, algorithms: asymmetricAlgorithms, rolesClaim: 'roles' }
  return { jwt, remove: () => rmSync(folder, { recursive: true }) }
}

/** Adds the credentials that a trial does not have by itself. */
export async function credentialsOf({ app }: Trial): Promise<Credentials> {
  const day = 86_400_000
  const at = (time: number) => new Date(Date.now() + time).toISOString()
  const add = async (times: { readonly expires_at: string | null; readonly revoked_at: string | null }) => {
    const key = newKey()
    const [hash, hint] = [hashOfKey(key), hintOfKey(key)]
    const created_at = at(-2 * day)
    await app.storage.keys.add({ id: uuidv7(), hash, hint, subject: 'root', roles: ['admin'], created_at, ...times })
    return key
  }
  return new Map([
    ...callers.map(({ name, id }) => [name, id] as const),
    ['team', await sign(pair, claims)],
    ['session', 'session-of-sam'],
    ['ended session', 'ended-session'],
    ['nobody', null],
    ['expired key', await add({ expires_at: at(-day), revoked_at: null })],
    ['revoked key', await add({ expires_at: at(day), revoked_at: at(-day) })],
    ['forged token', assembled({ alg: 'none' }, { ...claims, sub: 'root', roles: ['admin'] }, 'AA')],
  ])
}
