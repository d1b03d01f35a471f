/**
 * Authentication by a function of the application, such as by its session cookie. It runs before API keys and JWTs,
 * which are tried if it finds no credential of its own (AUT-2).
 */
import { deepFreeze, isObject, plainCopy } from 'resourced-contract/model/plain-copy'
import { fault } from 'resourced-contract/spec/faults'
import { refusedCredential } from './authenticate.ts'
import { type Caller, endOf, isCallerId } from './caller.ts'

/** The part of a request that authentication may use. The body is not read yet. */
export interface AuthenticationRequest {
  readonly method: string
  /** Path and query, percent-encoded: `/api/v1/tasks?status=open`. */
  readonly target: string
  /** Header fields by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Whether the client used HTTPS. */
  readonly secure: boolean
  /** The client's IP address. */
  readonly address: string
  /**
   * The request of the platform: the `IncomingMessage` that `toNodeHandler` received, with what middleware has added,
   * or the `Request` that `toFetchHandler` received.
   */
  readonly native?: unknown
}

/** A caller, as an application names it. */
export interface CallerInput {
  /** Whose records these are, for rules by owner: 1 to 200 characters. */
  readonly id: string
  readonly roles: readonly string[]
  /** What rules compare with `{ caller: 'claims.team' }`: plain data. Default: none. */
  readonly claims?: Readonly<Record<string, unknown>>
  /**
   * When the credential ends, in milliseconds since 1970; `Infinity`: never. API keys that are made with it end no
   * later (AUT-10). Default: unknown, and no keys can be made with it.
   */
  readonly expiresAt?: number
}

/**
 * Finds the caller of a request; `undefined`: the request has no credential of this kind. Throw `Unauthenticated` for a
 * credential that is not valid. Any other error is a failure of the authentication (502).
 */
export type AuthenticateOption = (
  request: AuthenticationRequest,
) => CallerInput | undefined | Promise<CallerInput | undefined>

/**
 * Refuses the credential of a request: 401, with the response that every refused credential gets.
 *
 * @example
 * throw new Unauthenticated('The session has expired.')
 */
export class Unauthenticated extends Error {
  override readonly name = 'Unauthenticated'
}

/** How long a function of the application may take, in milliseconds. */
const longest = 10_000
/** The most characters of a caller as JSON. */
const mostText = 16_384

/** Authenticates a request; `undefined`: it has no credential of this kind. */
export type AuthenticateOwn = (request: AuthenticationRequest) => Promise<Caller | undefined>

/**
 * Makes the function that authenticates requests by a function of the application. It throws Fault UNAUTHENTICATED if
 * the credential is refused, and AUTHENTICATION_FAILED if the function fails, takes too long or returns no caller.
 * Results are not cached.
 *
 * @param timeout in milliseconds
 */
export function ownAuthenticator(authenticate: AuthenticateOption, timeout = longest): AuthenticateOwn {
  return async ({ method, target, headers, secure, address, native }) => {
    try {
      const found = authenticate({ method, target, headers, secure, address, native })
      return readFound(found !== undefined && 'then' in Object(found) ? await inTime(found, timeout) : found)
    } catch (error) {
      // By its name: a bundler may have copied the class.
      if (error instanceof Error && error.name === 'Unauthenticated') {
        throw refusedCredential({ credential: 'own', reason: 'refused' })
      }
      const detail = 'Your credential could not be checked. The log has the reason under this request_id.'
      throw fault('AUTHENTICATION_FAILED', { detail }, error)
    }
  }
}

async function inTime<T>(work: T, timeout: number): Promise<Awaited<T>> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new Error(`authenticate() took more than ${timeout / 1_000} seconds.`))
  }, timeout)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function readFound(found: unknown): Caller | undefined {
  return found === undefined ? undefined : readCaller(found, 'authenticate() returned')
}

/**
 * Reads a caller that an application names.
 *
 * @param source the beginning of the sentence that says what is wrong
 * @throws TypeError that says what is wrong, without the values
 */
export function readCaller(given: unknown, source: string): Caller {
  const refuse = (what: string) => new TypeError(`${source} ${what}`)
  if (typeof given !== 'object' || given === null) {
    throw refuse(
      `${given === null ? 'null' : `a ${typeof given}`}. Return { id, roles, claims }, or undefined for none.`,
    )
  }
  const { id, roles, claims = {}, expiresAt = 0 } = given as Readonly<Record<string, unknown>>
  if (typeof id !== 'string' || !isCallerId(id)) {
    throw refuse('a caller whose id is not a text of 1 to 200 characters that a database can store.')
  }
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) {
    throw refuse('a caller whose roles are not an array of texts.')
  }
  if (typeof expiresAt !== 'number' || Number.isNaN(expiresAt)) {
    throw refuse('a caller whose expiresAt is not a number of milliseconds since 1970.')
  }
  const mistakes: string[] = []
  const copied = plainCopy(claims, (path, message) => void mistakes.push(`${['claims', ...path].join('.')} ${message}`))
  if (!isObject(copied) || mistakes.length > 0) {
    throw refuse(`a caller whose claims are not plain data: ${mistakes[0] ?? 'claims is not an object'}.`)
  }
  if (JSON.stringify([roles, copied]).length > mostText) {
    throw refuse(`a caller with more than ${mostText} characters of roles and claims.`)
  }
  return deepFreeze({ id, roles: [...roles], claims: copied, credential: 'own', expiresAt: endOf(expiresAt) })
}
