/**
 * Plans as plain data, between the request and the storage. A plan has everything that a storage needs; a storage never
 * sees the request.
 */

import type { CallerView } from 'resourced-contract/model/declared-functions'
import type { FieldGrants } from 'resourced-contract/model/field-grants'
import type { Predicate, SortTerm } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import type { Fault, Issue } from 'resourced-contract/spec/faults'
import type { Conditions } from '../http/preconditions.ts'
import type { Preferred } from '../http/preferences.ts'
import type { ExportFormat } from './export-document.ts'
import type { Parent, Presentation, ReadPage, ReadRecord, ReadSummary } from './read-plans.ts'

export type { Conditions } from '../http/preconditions.ts'
export type * from './read-plans.ts'

/** What every change has: the caller and the moment. */
interface Change extends Presentation {
  readonly resource: Resource
  readonly caller: CallerView
  /** Milliseconds since 1970. */
  readonly now: number
  /** The request, for the history of records (HIS-1); left out: there is none. */
  readonly request?: { readonly id: string; readonly version: string }
}

/** A change that a POST may repeat. */
interface Repeatable extends Change {
  readonly idempotency?: Idempotency
}

/** A change whose body is read before its transaction. */
interface Checked extends Repeatable {
  /** What is wrong with the body. If there is anything, nothing is done, and other properties have no meaning. */
  readonly issues: readonly Issue[]
}

/** A change of one record. */
interface OfRecord extends Change {
  readonly id: string
  /** The records that the caller may change so. */
  readonly permitted: Predicate
  readonly conditions: Conditions
}

/** A change that becomes a job if it is large (DEL-8, DEL-13, BLK-3). */
interface Work extends Change {
  /** The address of that job. */
  readonly statusUrl: string
  /** A change of more records than this becomes a job: 0 is always, infinity never. */
  readonly above: number
}

/** A change of all records that match a filter (DEL-10, BLK-3). */
interface OfMatches {
  readonly filter: Predicate
  readonly conditions: Conditions
  /** If more records match than this, nothing is changed; `undefined`: no such bound. */
  readonly most: number | undefined
}

export interface Create extends Repeatable {
  readonly kind: 'create'
  readonly id: string
  readonly parent: Parent | undefined
  /** The JSON of the body, valid or not: it is validated in the transaction (CON-6). */
  readonly body: unknown
  /** The records that the caller may create. */
  readonly permitted: Predicate
  /** Whether the owner field may be sent (AUT-7). */
  readonly mayAssignOwner: boolean
  /** The fields that the caller may not write in every record (AUT-14); left out: there are none. */
  readonly writableFields?: FieldGrants
  readonly targets?: ReferenceTargets
  /**
   * The ids of records that the same transaction creates later, or that this plan creates: references to them hold. An
   * import of records that refer to each other in a circle has them.
   */
  readonly promised?: ReadonlySet<string>
}

/**
 * The records to which the caller may set reference fields, by field (AUT-5). Fields that the map does not have may
 * refer to all records. Left out, as for an import: there is no such bound.
 */
export type ReferenceTargets = ReadonlyMap<string, Predicate>

/** The identity of a repeated POST (MET-9). */
export interface Idempotency {
  /** A hash of caller, method, path and key. */
  readonly scope: string
  /** A hash of the body: another payload under the same key is refused. */
  readonly fingerprint: string
  /** The preferences of the first request: a repetition gets the first response, with any preferences. */
  readonly preferred: Preferred
}

export interface Update extends Change {
  /** `replace` is PUT: omitted fields are cleared. `merge` is PATCH by RFC 7396, `patch` PATCH by RFC 6902. */
  readonly kind: 'replace' | 'merge' | 'patch'
  readonly id: string
  readonly body: unknown
  /** The records that the caller may change: the record is one of them before and after (AUT-8). */
  readonly permitted: Predicate
  /** The records that the caller may create: a record that moves must be one of them. */
  readonly mayCreate: Predicate
  /** The reference fields through which permission to change or create is decided: a record moves where one changes. */
  readonly movedBy: readonly string[]
  /** The records that the caller may read: whether a response may depend on the record, and show it (AUT-9). */
  readonly mayRead: Predicate
  readonly mayAssignOwner: boolean
  /** The fields that the caller may not write in every record (AUT-14); left out: there are none. */
  readonly writableFields?: FieldGrants
  readonly targets?: ReferenceTargets
  readonly conditions: Conditions
}

/** Creates or changes several records, or one that a unique value identifies. */
export interface WriteMany extends Checked {
  readonly kind: 'write-many'
  /** The records as the request has them, in order. */
  readonly bodies: readonly unknown[]
  /** The id that each of them gets if it is new. */
  readonly ids: readonly string[]
  /** How a record is created, except for its id and body; left out: the request or the caller creates none. */
  readonly create?: Create
  /** How a record is changed, likewise. */
  readonly update?: Update
  /** The unique field whose value says which record is replaced; left out: the record's `id` does. */
  readonly key?: string
  /** Whether the body is a single record, and not an array. */
  readonly isSingle: boolean
  readonly conditions: Conditions
}

/** What every deletion has. */
export interface Removal extends Work {
  /** The id of the deletion, and of the job that it may become. Every record that it deletes has this id. */
  readonly deletion: string
  /** The records that the caller may delete. */
  readonly permitted: Predicate
  /**
   * The records that the caller may read, in the collection and in each collection that the deletion can cascade to or
   * be blocked by (AUT-9).
   */
  readonly readable: ReadonlyMap<string, Predicate>
  /** The fields of these collections that the caller may not read in every record; left out: there are none. */
  readonly readableReferences?: ReadonlyMap<string, FieldGrants>
}

export interface Delete extends Removal {
  readonly kind: 'delete'
  readonly id: string
  readonly conditions: Conditions
}

export interface BulkDelete extends Removal, Checked {
  readonly kind: 'bulk-delete'
  /** In the order of the request, each once. */
  readonly ids: readonly string[]
}

/** What a deletion would do now (DEL-12). It changes nothing. */
export interface PreviewDeletion extends Removal {
  readonly kind: 'preview-deletion'
  /** The record at the address, or the records of a list in the order of the request, each once. */
  readonly ids: readonly string[]
  /** Whether they are a list, as a bulk deletion has it. */
  readonly isBulk: boolean
}

/** A deletion of all records that match a filter (DEL-10). */
export interface DeleteMatching extends Removal, OfMatches {
  readonly kind: 'delete-matching'
}

/** A change of all records that match a filter (BLK-3). */
export interface UpdateMatching extends Work, OfMatches {
  readonly kind: 'update-matching'
  /** The change of each of them, a merge patch. Its id and its conditions have no meaning. */
  readonly update: Update
  /** The id of the job that the change may become. */
  readonly change: string
  /** The records that the caller may read and change. */
  readonly permitted: Predicate
}

/** A restoration: the record is one of the permitted ones before and after (AUT-8). */
export interface Restore extends OfRecord, Work, Repeatable {
  readonly kind: 'restore'
  /** The id of the restoration, and of the job that it may become. */
  readonly restoration: string
  /** The records that the caller may read: whether the response may show the record. */
  readonly mayRead: Predicate
  /** The records that the caller may read in each collection: the ids of others are not named. */
  readonly readable: ReadonlyMap<string, Predicate>
}

/** The erasure of the former states of a record (HIS-4). The present one stays. */
export interface EraseHistory extends OfRecord, Pick<Parent, 'deleted'> {
  readonly kind: 'erase-history'
}

/** An export of the records of a collection to a file (JOB-6). Its id is the id of its job. */
export interface Export extends Checked {
  readonly kind: 'export'
  readonly id: string
  readonly statusUrl: string
  /** The address of the file. */
  readonly contentUrl: string
  readonly filter: Predicate
  /** The records that the caller may read. */
  readonly permitted: Predicate
  readonly sort: readonly SortTerm[]
  readonly fields: readonly string[] | undefined
  readonly format: ExportFormat
}

/** The creation of an API key. */
export interface CreateKey extends Checked {
  readonly kind: 'create-key'
  readonly id: string
  readonly subject: string
  readonly roles: readonly string[]
  /** `null`: none. */
  readonly claims: Readonly<Record<string, unknown>> | null
  readonly expires_at: string | null
  /** The credential that the request came with: the API key by its id, or the subject of the token. */
  readonly madeBy: { readonly kind: 'key' | 'subject'; readonly id: string }
  /** The most keys of the subject that may be neither revoked nor expired (AUT-10). */
  readonly perSubject: number
  /** The only part of the key that a storage gets. */
  readonly hash: string
  readonly hint: string
  /** The key, for the one response that shows it. A function, so that printing a plan does not print the key. */
  readonly secret: () => string
}

/** The revocation of an API key. */
export interface RevokeKey extends OfRecord {
  readonly kind: 'revoke-key'
  /** Revokes the keys made with it too, and those made with them. */
  readonly descendants: boolean
  /** The only roles that a key may have for the caller to revoke it; `undefined`: any (AUT-10). */
  readonly roles: readonly string[] | undefined
}

/** Who made a webhook: it reads events as this caller, until the credential of the request ends. */
export interface WebhookMaker extends CallerView {
  /** The API key of the request, which may be revoked; `null`: it came with another credential. */
  readonly key: string | null
  /** When the webhook ends by itself; `null`: never. */
  readonly expires_at: string | null
}

/** The creation of a webhook (EVT-8). */
export interface CreateWebhook extends Repeatable {
  readonly kind: 'create-webhook'
  readonly id: string
  /** The creation of its record. */
  readonly create: Create
  /** The version in whose terms it gets events. */
  readonly version: string
  readonly maker: WebhookMaker
  /** The secret. A function, so that printing a plan does not print it. */
  readonly secret: () => string
  /** The position after which it gets events; the server sets it. */
  readonly position: number | undefined
  /** The networks that it may reach besides public addresses (EVT-10). */
  readonly networks: readonly string[]
}

/** A change of a webhook, which may give it a new secret. */
export interface UpdateWebhook extends Change {
  readonly kind: 'update-webhook'
  readonly id: string
  /** The change of its record. */
  readonly update: Update
  /** What is wrong besides. */
  readonly issues: readonly Issue[]
  readonly rotates: boolean
  /** The new secret. */
  readonly secret: () => string
  /** The caller as maker; `undefined`: the credential does not say when it ends. */
  readonly maker: WebhookMaker | undefined
  readonly networks: readonly string[]
}

/** The deletion of a webhook. Its deliveries that are pending are discarded. */
export interface DeleteWebhook extends OfRecord {
  readonly kind: 'delete-webhook'
}

/** A delivery by hand (EVT-11). */
export interface CreateDelivery extends Checked {
  readonly kind: 'create-delivery'
  readonly id: string
  /** The id of a webhook, or the name of a consumer that is a function. */
  readonly to: { readonly webhook: string } | { readonly function: string }
  readonly event: string
  readonly mayReadWebhook: Predicate
  readonly mayReadEvent: Predicate
}

/** The deletion of a job that has ended, and of the file that it made (LIM-8). */
export interface DeleteJob extends OfRecord {
  readonly kind: 'delete-job'
  /** Whether only the job of an export is at the address. */
  readonly mustExport: boolean
}

/** A change that an operation of a transaction makes. */
export type OperationPlan = Create | Update | WriteMany | Delete | Restore

/** An operation of a transaction. */
export interface Operation {
  /** Its body may hold references to earlier results. */
  readonly plan: OperationPlan
  /** The name of its result. */
  readonly as?: string
}

/** Changes that are made in order, in one transaction, or none of them (BLK-4). */
export interface TransactionPlan extends Repeatable {
  readonly kind: 'transaction'
  /** The resource of the first operation. */
  readonly resource: Resource
  readonly operations: readonly Operation[]
  /** The most bytes of the values that references repeat, as JSON. */
  readonly mostReferred: number
  /** Why the operation after the last one was refused before the transaction; left out: there is none. */
  readonly refusal?: Fault
}

export type Read = ReadRecord | ReadPage | ReadSummary | PreviewDeletion
export type Write =
  | Create
  | Update
  | WriteMany
  | Delete
  | BulkDelete
  | DeleteMatching
  | UpdateMatching
  | Restore
  | EraseHistory
  | Export
  | CreateKey
  | RevokeKey
  | CreateWebhook
  | UpdateWebhook
  | DeleteWebhook
  | CreateDelivery
  | DeleteJob
  | TransactionPlan
export type Plan = Read | Write
