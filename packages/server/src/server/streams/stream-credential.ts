/**
 * The credential of an open stream, which is checked again before each delivery and at each heartbeat (EVT-7). A check
 * that is as young as those that requests may use counts.
 */

import { fault } from 'resourced-contract/spec/faults'
import type { Authenticate } from '../../policy/authenticate.ts'
import type { Caller } from '../../policy/caller.ts'
import type { AuthenticateOwn, AuthenticationRequest } from '../../policy/own-credentials.ts'

/** What checks need of an application. */
export interface CredentialServices {
  readonly authenticate: Authenticate
  readonly authenticateOwn: AuthenticateOwn | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
}

// How long a check by the application's own function counts, in milliseconds. Checks of API keys count as long.
const trust = 1_000
const never = Number.POSITIVE_INFINITY

/** Makes the credentials of streams. Streams with the same credential share a check. */
export class StreamCredentials {
  readonly #services: CredentialServices
  readonly #running = new Map<string, Promise<Caller>>()

  constructor(services: CredentialServices) {
    this.#services = services
  }

  /**
   * The credential of a request that was authenticated.
   *
   * @param isGiven whether the program itself vouches for the caller
   */
  of(caller: Caller, request: AuthenticationRequest, isGiven: boolean): StreamCredential {
    const { now, authenticate, authenticateOwn } = this.#services
    const young = this.#renewed(caller)
    if (isGiven) return { known: young, check: async () => young(), endsAt: never, isRevocable: false }
    if (caller.credential === 'own') {
      const { method, target, headers, secure, address, native } = request
      return this.#ownCredential(caller, { method, target, headers, secure, address, native }, authenticateOwn)
    }
    const authorization = request.headers['authorization'] ?? ''
    const check = () => this.#check(authorization)
    const endsAt = caller.expiresAt
    if (caller.credential !== 'jwt') {
      return { known: () => authenticate.remembered(authorization), check, endsAt, isRevocable: true }
    }
    // A signed token is valid until it expires. Heartbeats notice that its signing key was withdrawn.
    return { known: () => (now() < endsAt ? young() : undefined), check, endsAt, isRevocable: false }
  }

  /**
   * Gives a caller who stays the same. Grants are remembered with the object, and those that are functions of the
   * declaration may change: so it is another object from time to time, as it is for requests.
   */
  #renewed(caller: Caller): () => Caller {
    const { now } = this.#services
    let [current, madeAt] = [caller, now()]
    return () => {
      if (Math.abs(now() - madeAt) < trust) return current
      current = Object.freeze({ ...caller })
      madeAt = now()
      return current
    }
  }

  #ownCredential(
    first: Caller,
    request: AuthenticationRequest,
    authenticateOwn: AuthenticateOwn | undefined,
  ): StreamCredential {
    const { now } = this.#services
    let caller = first
    let checkedAt = now()
    return {
      // An application need not say when its credential ends.
      endsAt: first.expiresAt === 0 ? never : first.expiresAt,
      isRevocable: false,
      known: () => (Math.abs(now() - checkedAt) < trust ? caller : undefined),
      async check() {
        const at = now()
        const found = await authenticateOwn?.(request)
        if (found === undefined || found.id !== first.id) throw fault('UNAUTHENTICATED')
        caller = found
        checkedAt = at
        return found
      },
    }
  }

  #check(authorization: string): Promise<Caller> {
    const running = this.#running.get(authorization)
    if (running !== undefined) return running
    const checking = this.#services.authenticate(authorization).finally(() => this.#running.delete(authorization))
    this.#running.set(authorization, checking)
    return checking
  }
}

export interface StreamCredential {
  /** The caller, if the credential was checked just now; `undefined`: it must be checked. */
  known(): Caller | undefined
  /**
   * Checks the credential.
   *
   * @throws Fault if it is not valid any more, or cannot be checked
   */
  check(): Promise<Caller>
  /** When it ends by itself, in milliseconds since 1970. */
  readonly endsAt: number
  /** Whether it is an API key. */
  readonly isRevocable: boolean
}
