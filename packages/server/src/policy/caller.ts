/** The caller of a request, or why a credential was refused: the reason is for the log, never for the client. */
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { isStorableText } from 'resourced-contract/model/text'
import { Fault } from 'resourced-contract/spec/faults'

/** What a function of the declaration calls with: as an administrator, or as the server itself (EVT-12). */
export type FunctionCredential = 'function' | 'server'

/**
 * An authenticated caller, frozen, because rules of the declaration receive it. Grants are cached with the object,
 * which lives as long as its credential is cached.
 */
export interface Caller extends CallerView {
  /**
   * The credential of the request: the id of an API key, `jwt`, `own` for one that the application checks, or a
   * `FunctionCredential`, which no request has.
   */
  readonly credential: string
  /**
   * When the credential ends, in milliseconds since 1970; infinity: never; 0: unknown. Keys created with it must not
   * outlive it.
   */
  readonly expiresAt: number
  /** The tenant that the API key belongs to (TEN-2); left out: a claim names it, or there is none. */
  readonly tenant?: string
}

/** The last time that a date-time can express (RFC 3339: years of four digits), in milliseconds since 1970. */
const lastTime = Date.UTC(9999, 11, 31, 23, 59, 59)

/** When a credential ends, as a caller has it: a time that no date-time can express is never. */
export function endOf(milliseconds: number): number {
  return milliseconds > lastTime ? Number.POSITIVE_INFINITY : milliseconds
}

/** Why a token was refused. The words are fixed and contain nothing of the token (SEC-3). */
export type TokenRefusal =
  | 'too-long'
  /** No signed JWT, or one that cannot be read. */
  | 'malformed'
  /** Its `typ` is not that of an access token. */
  | 'type'
  | 'algorithm'
  /** The issuer has no such key. */
  | 'unknown-key'
  /** The issuer has the key, but the key is broken or too short. */
  | 'unusable-key'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'not-yet-valid'
  | 'expired'
  /** `exp` or `sub` is missing, or a claim has a form that it cannot have. */
  | 'claims'

/** A credential that was refused. */
export type Refusal =
  | { readonly credential: 'key'; readonly reason: 'unknown' | 'expired' | 'revoked' }
  /** `not-accepted`: it is not an API key, and tokens are not accepted. */
  | { readonly credential: 'token'; readonly reason: TokenRefusal | 'not-accepted' }
  /** The application's own function refused it. */
  | { readonly credential: 'own'; readonly reason: 'refused' }
  /** Another scheme than Bearer, or no credential after it. */
  | { readonly credential: 'other'; readonly reason: 'malformed' }

/** The longest id of a caller, in characters: records store it as their owner. */
const longestId = 200

/** Whether a text can be the id of a caller. */
export function isCallerId(id: string): boolean {
  return id !== '' && [...id.slice(0, 2 * longestId + 1)].length <= longestId && isStorableText(id)
}

/** Why an error of `Authenticate` refused a credential; `undefined`: there was no credential, or another error. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof Fault) || error.code !== 'UNAUTHENTICATED') return undefined
  return error.cause as Refusal | undefined
}
