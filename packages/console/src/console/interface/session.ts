/**
 * Who is signed in. The credential is held in memory, or in `sessionStorage` if the user asks for that, and is written
 * nowhere else. When the server refuses it, requests wait until somebody has signed in again, so that a form keeps
 * what was typed.
 */
import { makeStore, until } from './store.ts'

/** What somebody signs in with. */
export interface Credential {
  /** What `Authorization: Bearer` carries. */
  readonly token: string
  /** Where the token comes from; `undefined`: the user has typed it. */
  readonly provider?: ProviderSession | undefined
  /** When it expires, in milliseconds since 1970 by this computer's clock; `undefined`: that is not known. */
  readonly expiresAt?: number | undefined
}

/** The session at a provider that a credential came from. */
export interface ProviderSession {
  /** What is kept of it over a reload of the page. */
  readonly kept: string
  /** Gets the next credential, or `undefined` if the provider gives none. Absent: the user signs in again. */
  readonly renew?: (() => Promise<Credential | undefined>) | undefined
  /** Ends the session, as far as the provider allows, and leaves the page. */
  end(): void
}

export interface Session {
  /** `undefined`: nobody is signed in. */
  readonly credential: string | undefined
  readonly provider?: ProviderSession | undefined
  /** Why the page asks the user to sign in again. `soon`: the user wants to before the credential expires. */
  readonly asked?: 'expired' | 'soon' | undefined
  /** The id of the caller, once the server has said it. */
  readonly caller?: string | undefined
  /** When the credential expires, in milliseconds since 1970 by this computer's clock. */
  readonly expiresAt: number
  /** Changes when another caller signs in: nothing of the one before may be sent any more. */
  readonly person: number
}

const storageKey = 'resourced.credential'
const providerKey = 'resourced.provider'
export const never = Number.POSITIVE_INFINITY
/** How long before its end a credential is renewed, in milliseconds: a request takes a while to arrive. */
const ahead = 10_000

/** For `useSyncExternalStore`. */
export const session = makeStore<Session>({
  credential: sessionStorage.getItem(storageKey) ?? undefined,
  expiresAt: never,
  person: 0,
})

/**
 * @param keep whether the credential survives a reload of this tab
 * @param caller whose credential it is, where the server has said so
 */
export function signIn({ token, provider, expiresAt = never }: Credential, keep: boolean, caller?: string): void {
  store(storageKey, keep ? token : undefined)
  store(providerKey, keep ? provider?.kept : undefined)
  const before = session.current()
  session.set({
    credential: token,
    provider,
    caller,
    expiresAt,
    person: before.person + Number(before.caller !== undefined && caller !== before.caller),
  })
}

/** What is kept of the session at the provider. */
export function keptProvider(): string | undefined {
  return sessionStorage.getItem(providerKey) ?? undefined
}

/** Changes what is known of the session: who the caller is, when the credential expires, why the user is asked. */
export function updateSession(known: Partial<Pick<Session, 'caller' | 'expiresAt' | 'asked' | 'provider'>>): void {
  session.set({ ...session.current(), ...known })
}

export function signOut(): void {
  const { provider } = session.current()
  store(storageKey, undefined)
  store(providerKey, undefined)
  // Everything that the caller has seen leaves the memory of the page.
  if (provider === undefined) location.reload()
  else {
    // Nor does it come back with the browser's Back.
    addEventListener('pageshow', () => location.reload())
    provider.end()
  }
}

/** The credential for the next request: a provider's token is renewed before it expires. */
export async function freshCredential(): Promise<string | undefined> {
  if (Date.now() > session.current().expiresAt - ahead) await renew()
  return session.current().credential
}

/**
 * Waits for another credential than the one that the server has refused: renews it, or asks the user to sign in again.
 *
 * @param mayRenew whether a provider's token can be renewed: not if the refused one is fresh
 */
export async function signedInAgain(
  refused: string | undefined,
  mayRenew: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Somebody may have signed in while the refused request was on its way.
  if (session.current().credential === refused && mayRenew) await renew()
  const { credential, asked } = session.current()
  if (credential !== refused && asked !== 'expired') return
  updateSession({ asked: 'expired' })
  await until(session, ({ asked }) => asked !== 'expired', signal)
}

let renewing: Promise<void> | undefined

/** One renewal for all requests: a refresh token may be valid only once. */
function renew(): Promise<void> {
  renewing ??= renewOnce().finally(() => {
    renewing = undefined
  })
  return renewing
}

async function renewOnce(): Promise<void> {
  const { provider } = session.current()
  if (provider?.renew === undefined) return
  try {
    const credential = await provider.renew()
    // Somebody may have signed in meanwhile.
    if (session.current().provider !== provider) return
    if (credential === undefined) updateSession({ provider: { ...provider, renew: undefined } })
    else signIn(credential, keptProvider() !== undefined, session.current().caller)
  } catch {
    // The provider does not answer. The credential may still be valid: the server decides.
    updateSession({ expiresAt: never })
  }
}

function store(key: string, value: string | undefined): void {
  if (value === undefined) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, value)
}
