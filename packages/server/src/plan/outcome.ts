/** The outcomes of plans, as plain data: what a storage found or did. `reply/` has the status of each kind. */

import type { Scalar } from 'resourced-contract/model/predicate'
import { hasConversions, type MappedResource } from 'resourced-contract/model/resource'
import type { Issue } from 'resourced-contract/spec/faults'
import type { Preferred } from '../http/preferences.ts'
import { jsonFromStored } from '../versions/translate-record.ts'

/** What identifies the state of a record for caches and conditions. */
export interface Validators {
  readonly revision: number
  /** `updated_at` of the record. */
  readonly updatedAt: string
  /** The fields that the caller may not read in the record, each name after a comma; left out: there are none. */
  readonly hidden?: string
}

/** The representation of one record, as JSON text. */
export interface Represented extends Validators {
  readonly json: string
}

export interface Created extends Represented {
  readonly kind: 'created'
  readonly id: string
}

/** Which state of which record a response shows (HIS-3). */
export interface Memento {
  /** The stored name of the collection, and the id of the record. */
  readonly collection: string
  readonly id: string
  /** Since when the record was in the state. */
  readonly at: string
  /** The revision of the state; `null`: it is not kept as one. */
  readonly revision: string | null
  /** The first and the last state that the caller may read; left out: the response does not name them. */
  readonly bounds?: readonly Revision[]
}

/** A state, and since when the record was in it. */
export interface Revision {
  readonly id: string
  readonly at: string
}

/** The records of a request that were created or changed, in its order. */
export interface WrittenMany {
  readonly kind: 'written-many'
  readonly areNew: boolean
  /** The records' JSON texts joined by commas; `null` for one that the caller may not read. */
  readonly json: string
}

/** The result of a plan. `reply/` has the status of each kind. */
export type Outcome =
  | ({ readonly kind: 'record'; readonly memento?: Memento } & Represented)
  | Created
  | WrittenMany
  /** The first outcome of a repeated request (MET-9). */
  | { readonly kind: 'replayed'; readonly answer: Outcome; readonly preferred: Preferred }
  | { readonly kind: 'key-in-use' }
  | { readonly kind: 'key-reused' }
  /** `json` is `undefined` if the caller may change the record but not read it. */
  | ({ readonly kind: 'updated'; readonly json: string | undefined } & Validators)
  | { readonly kind: 'deleted'; readonly id: string; readonly deletedAt: string }
  | { readonly kind: 'bulk-deleted'; readonly ids: readonly string[]; readonly deletedAt: string }
  | { readonly kind: 'deleted-matching' | 'updated-matching'; readonly count: number }
  | { readonly kind: 'erased' }
  | DeletionPreview
  /** The results of the operations of a transaction, in their order. */
  | { readonly kind: 'transacted'; readonly results: readonly Outcome[] }
  /**
   * An operation of a transaction was refused, by its index; `undefined`: before the transaction (`refusal` of its
   * plan).
   */
  | { readonly kind: 'operation-refused'; readonly index: number; readonly outcome: Outcome | undefined }
  /** A job was created. `count`: how many records were asked for, by their ids or a filter. */
  | { readonly kind: 'accepted'; readonly job: string; readonly statusUrl: string; readonly count?: number }
  /** Each issue points at its id. */
  | { readonly kind: 'bulk-refused'; readonly issues: readonly Issue[] }
  | ({ readonly kind: 'not-modified' } & Validators)
  | PageOutcome
  | WithRelated
  /** The related records are too many or too large; with these values of the parameters they would not be (REL-5). */
  | { readonly kind: 'include-too-large'; readonly limits: readonly { parameter: string; fits: number }[] }
  | { readonly kind: 'page-not-modified'; readonly tag: string }
  /** The page has too many bytes; `fits` of its records would be allowed (LIM-6). */
  | { readonly kind: 'page-too-large'; readonly fits: number }
  /** The records of a summary have dates in more days or months than periods are found for (`summaryLimits`). */
  | { readonly kind: 'too-many-slots'; readonly group: string }
  /** The page begins after an event that is no longer kept (EVT-5). */
  | { readonly kind: 'events-expired' }
  | { readonly kind: 'missing'; readonly issues?: readonly Issue[] }
  | { readonly kind: 'parent-missing' }
  /**
   * `lacks`: the attribute that the caller lacks, for a field that the server sets. `issues`: the fields that the
   * caller may not write.
   */
  | { readonly kind: 'forbidden'; readonly lacks?: string; readonly issues?: readonly Issue[] }
  | { readonly kind: 'precondition-required' }
  | { readonly kind: 'stale'; readonly header: 'If-Match' | 'If-None-Match' | 'If-Unmodified-Since' }
  | { readonly kind: 'invalid'; readonly issues: readonly Issue[] }
  | { readonly kind: 'conflict'; readonly issues: readonly Issue[] }

/** What a deletion would do, as far as the caller may read it (AUT-9). */
export interface DeletionPreview {
  readonly kind: 'deletion-preview'
  /** How many records of each collection are deleted, those that were asked for included. */
  readonly deletes: readonly { readonly collection: string; readonly count: number }[]
  /** How many references become `null`. */
  readonly clears: readonly { readonly collection: string; readonly field: string; readonly count: number }[]
  readonly blockers: readonly Issue[]
  /** Whether everything was counted and every blocker found; otherwise there may be more of each. */
  readonly isComplete: boolean
  readonly isJob: boolean
}

export interface PageOutcome {
  readonly kind: 'page'
  /** The records' JSON texts joined by commas. */
  readonly json: string
  readonly count: number
  readonly total: number
  /** The opaque part of the collection's entity tag. */
  readonly tag: string
  /** Cursor style: the keys of the first and the last record, if there are records before and after them. */
  readonly previous: readonly (Scalar | null)[] | undefined
  readonly next: readonly (Scalar | null)[] | undefined
}

/** A record or a page with its related records (REL-2). */
export interface WithRelated {
  readonly kind: 'with-related'
  readonly answer: PageOutcome | Extract<Outcome, { readonly kind: 'record' }>
  /** The records of each path to many. */
  readonly related: readonly { readonly path: string; readonly records: readonly RelatedRecords[] }[]
  /** The JSON texts of the included records, joined as in a page. A collection may come several times. */
  readonly included: readonly { readonly collection: string; readonly json: string }[]
}

/** The first records of a relation to many. */
export interface RelatedRecords {
  /** The record that they are related to. */
  readonly id: string
  readonly ids: readonly string[]
  readonly total: number
  /** The keys of the last one of `ids`; `undefined`: there is none. */
  readonly last: readonly (Scalar | null)[] | undefined
}

/**
 * The records of an outcome in terms of the version that the client uses.
 *
 * @param resource of the older version; `undefined`: it is the current one
 */
export function outcomeFromStored(resource: MappedResource | undefined, outcome: Outcome): Outcome {
  if (resource === undefined || !hasConversions(resource)) return outcome
  switch (outcome.kind) {
    case 'with-related':
      return { ...outcome, answer: outcomeFromStored(resource, outcome.answer) as typeof outcome.answer }
    case 'replayed':
      return { ...outcome, answer: outcomeFromStored(resource, outcome.answer) }
    case 'record':
    case 'created':
      return { ...outcome, json: jsonFromStored(resource, outcome.json) }
    case 'updated':
      return { ...outcome, json: outcome.json === undefined ? undefined : jsonFromStored(resource, outcome.json) }
    case 'written-many':
    case 'page':
      return { ...outcome, json: jsonFromStored(resource, `[${outcome.json}]`) }
    default:
      return outcome
  }
}
