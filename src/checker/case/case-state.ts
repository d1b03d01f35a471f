/** The state of a case while it runs: what its references stand for. */
import type { Exchange } from '../client/exchange.ts'
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import type { Caller } from './case.ts'

/** A record that the checker created, or one to which it refers. */
export interface CreatedRecord {
  /** From the root: `/v1/cities/1`. */
  readonly path: string
  readonly id: string
  /** An existing record that the checker only references and never changes. */
  readonly isExisting?: boolean | undefined
  /** Text in the record by which the checker recognizes it. */
  readonly mark?: string | undefined
  /** Who created it; the caller of `--key` if undefined. */
  readonly by?: Caller | undefined
}

/** The state of a case while it runs. */
export interface CaseState {
  readonly profile: Profile
  readonly collection: CollectionProfile
  /** Text by which the checker recognizes the records of the case. */
  readonly mark: string
  /** The caller's credential, without its scheme. */
  readonly key?: string | undefined
  /** Records by name; those to which others refer are `parent NAME`. */
  readonly made: ReadonlyMap<string, CreatedRecord>
  /** Exchanges by the name of their step. */
  readonly exchanges: ReadonlyMap<string, readonly Exchange[]>
}
