/** The types of functions in a declaration: what access rules, `prepare`, `on` and `authorize` receive and return. */
import type { EventKind } from './event.ts'

/** The caller, as the functions see it. */
export interface CallerView {
  readonly id: string
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, unknown>>
}

/** The argument of `prepare`. Records are frozen copies. */
export interface PrepareContext<StoredRecord = Readonly<Record<string, unknown>>> {
  /** The record before the change; `undefined` on creation. */
  readonly current: StoredRecord | undefined
  /** The record that the request makes. It is valid, except that `readOnly` fields may still be `null` on creation. */
  readonly next: StoredRecord
  readonly caller: CallerView
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The collections of an interface by name, without their types, as far as functions that run after a change need. */
export interface FunctionCollections {
  readonly [collection: string]: FunctionCollection
}

/** The client of functions that run after a change: that of an administrator with the id `server`. */
export type FunctionClient = FunctionCollections & {
  /**
   * The same client with the rights of the server itself. It sets `readOnly` fields, and acts whatever the access rules
   * of records and fields and `preconditions` say. Schemas, references, `unique`, `immutable`, transitions and business
   * rules hold as for everybody.
   */
  asServer(): FunctionCollections
}

type UntypedRecord = Readonly<Record<string, unknown>>

interface FunctionCollection {
  get(id: string): Promise<UntypedRecord>
  list(query?: UntypedRecord): Promise<{ readonly data: readonly UntypedRecord[] }>
  create(body: UntypedRecord): Promise<UntypedRecord>
  update(id: string, body: UntypedRecord): Promise<UntypedRecord>
  delete(id: string): Promise<unknown>
}

/** What a function that runs after a change receives. */
export interface EventContext<EventRecord = UntypedRecord | null> {
  readonly event: {
    /** The same each time that the function runs for an event: it can recognize a repetition. */
    readonly id: string
    readonly kind: EventKind
    readonly collection: string
    /** The id of the record. */
    readonly record: string
    /** The same for all changes of a request; `null`: unknown, or no request. */
    readonly request_id: string | null
    /** When the record was changed: an RFC 3339 date-time. */
    readonly created_at: string
  }
  /** The record after the change; `null` if it was deleted, or has been purged since. */
  readonly record: EventRecord
  /** A client in process, of an administrator with the id `server`. */
  readonly client: FunctionClient
  /** Aborted when the time is over, or the server stops: the event is then delivered again. */
  readonly signal: AbortSignal
}

/** A function that runs after a change. */
export type EventFunction<EventRecord = UntypedRecord | null> = (
  context: EventContext<EventRecord>,
) => Promise<void> | void

/** What `authorize` receives: a request of an authenticated caller, before its body is read. It is frozen. */
export interface AuthorizationRequest {
  readonly method: string
  /** The path without the query, percent-encoded: `/v1/tasks`. */
  readonly path: string
  /** The name of the collection in the current version; `undefined` for other addresses, such as `/v1/exports`. */
  readonly collection: string | undefined
  /** What the caller wants to do; `undefined`: nothing with records, such as reading `/v1/caller`. */
  readonly action: 'read' | 'create' | 'update' | 'delete' | 'restore' | 'export' | undefined
  /** The id of the record in the path, whether there is such a record or not. */
  readonly id: string | undefined
  readonly caller: CallerView
  /** Header fields by lower-case name, without credentials and cookies. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The IP address of the client; empty for calls in process. */
  readonly address: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** Aborted when nothing waits for the function any more: its time is over, or the client has gone. */
  readonly signal: AbortSignal
}

/** Why `authorize` refuses a request: the `detail` of the 403, and a code in its `errors`. */
export interface AuthorizationRefusal {
  readonly message: string
  readonly code?: string
}

/** The result of `authorize`: `false` and a refusal are 403; `true` and `undefined` let the request pass. */
export type Authorization = boolean | undefined | AuthorizationRefusal
