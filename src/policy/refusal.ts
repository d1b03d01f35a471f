/** Why a credential was refused: for whoever runs the server, never for whoever sent it. */
import { Fault } from '../spec/faults.ts'

/** What is wrong with a token. Words of ours only: of what was sent there is nothing in them (SEC-3). */
export type TokenRefusal =
  | 'too-long'
  /** No signed JWT, or one that cannot be read. */
  | 'malformed'
  /** Its `typ` is that of no token to call with. */
  | 'type'
  | 'algorithm'
  /** Its key is not among those of the issuer. */
  | 'unknown-key'
  /** Its key is there, and cannot be used: it is broken, or too short. */
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
  /** `not-accepted`: it is no API key, and nothing else is accepted. */
  | { readonly credential: 'token'; readonly reason: TokenRefusal | 'not-accepted' }
  /** Another scheme than Bearer, or no credential after it. */
  | { readonly credential: 'other'; readonly reason: 'malformed' }

/** Why an error of `Authenticate` refused a credential; `undefined` where there was none, or it failed otherwise. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof Fault) || error.code !== 'UNAUTHENTICATED') return undefined
  return error.cause as Refusal | undefined
}
