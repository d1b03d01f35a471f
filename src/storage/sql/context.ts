/** What SQL is compiled with: the catalog of an open database, and the engine that runs the SQL. */
import type { Catalog } from '../../model/resource.ts'
import type { Engine } from './engine.ts'
import type { Epochs } from './epoch.ts'

/** The context of every statement on one open database. */
export interface SqlContext {
  readonly catalog: Catalog
  readonly engine: Engine
  /** The epochs that collections had when the storage was opened, of collections that have more than the first. */
  readonly epochs?: Epochs
  /** The key of the entity tags of lists: the same on all servers. Pages cannot be read without it. */
  readonly tagSecret?: Uint8Array
  /** Whether deletions and restorations that are too large for the thread of requests run on another thread. */
  readonly offloadsLargeWork?: boolean
}
