/** What is known while a case runs. */

import type { Exchange } from '../client/exchange.ts'
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import type { Caller } from './case.ts'

/** A record that the checker has made. */
export interface Made {
  /** From the root: `/v1/cities/1`. */
  readonly path: string
  readonly id: string
  /** Somebody else's, that had to do: it is only referred to. */
  readonly isFound?: boolean | undefined
  /** What it says by which it can be told from others. */
  readonly mark?: string | undefined
  /** Who made it, where not the one who was given with `--key`. */
  readonly by?: Caller | undefined
}

/** What is known while a case runs. */
export interface Known {
  readonly profile: Profile
  readonly collection: CollectionProfile
  /** By which a case's records are found. */
  readonly mark: string
  /** The caller's credential, without its scheme. */
  readonly key?: string | undefined
  readonly made: ReadonlyMap<string, Made>
  readonly exchanges: ReadonlyMap<string, readonly Exchange[]>
}
