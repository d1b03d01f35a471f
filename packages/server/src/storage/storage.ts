/** The storage port: the program's interface to a database of any engine. */
import type { Position } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import type { TenantState } from 'resourced-contract/model/tenants'
import type { ExportFormat } from '../plan/export-document.ts'
import type { Refusal } from '../plan/many.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { Create, Plan } from '../plan/plan.ts'
import type { EventsOutcome, ReadEvents } from '../plan/plan-events.ts'
import type { DeliveryStore } from './delivery-store.ts'

/** An API key as stored: never the secret, only its SHA-256 (AUT-2). */
export interface StoredKey {
  readonly id: string
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string
  /** The first characters of the secret, for people to recognise the key. */
  readonly hint: string
  readonly subject: string
  readonly roles: readonly string[]
  /** What conditions compare of the caller, by name; `null`: nothing. */
  readonly claims: Readonly<Record<string, unknown>> | null
  /** ISO 8601; `null`: never. */
  readonly expires_at: string | null
  readonly created_at: string
  /** ISO 8601; `null`: not revoked. */
  readonly revoked_at: string | null
  /** The id of the API key, or the subject of the token, that made it; `null`: the command line. */
  readonly made_by: string | null
}

/** An API key to be stored. What is left out is `null`. */
export type NewKey = Omit<StoredKey, 'made_by' | 'claims'> & Partial<Pick<StoredKey, 'made_by' | 'claims'>>

/** An API key in a list. */
export interface ListedKey extends StoredKey {
  /** ISO 8601; `null`: never. It is updated once a minute at most. */
  readonly last_used_at: string | null
}

/** The result of a revocation. */
export interface Revoked {
  /** How many keys were revoked. */
  readonly count: number
  /** How many keys that were made with them are still valid. */
  readonly remaining: number
}

/** The API keys of a database. */
export interface KeyStore {
  find(hash: string): Promise<StoredKey | undefined>
  list(): Promise<ListedKey[]>
  add(key: NewKey): Promise<void>
  /** Revokes a key by its id; `undefined` where there is no such key, or it is revoked already. */
  revoke(id: string, at: string, options?: { readonly descendants?: boolean }): Promise<Revoked | undefined>
  /** Stores when keys were last used, by id, in milliseconds since 1970: once a minute at most for each key. */
  keepUses(uses: ReadonlyMap<string, number>): Promise<void>
}

/** What responses say while a service is under maintenance (ERR-6). */
export interface Maintenance {
  /** When it began: ISO 8601, UTC. */
  readonly since: string
  /** One line for people. */
  readonly message: string
  /** After how many seconds clients should retry. */
  readonly retryAfter: number
}

/** What turning maintenance on has found and left. */
export interface MaintenanceBegun {
  readonly now: Maintenance
  /** `undefined`: it was off. */
  readonly before: Maintenance | undefined
}

/** The maintenance switch of all servers on a database. */
export interface MaintenanceStore {
  /** The maintenance that is on; `undefined`: none. */
  read(): Promise<Maintenance | undefined>
  /** Turns maintenance on. If it is on already, its message changes and `since` stays. */
  begin(maintenance: Maintenance): Promise<MaintenanceBegun>
  /** Turns maintenance off. Returns its former state. */
  end(): Promise<Maintenance | undefined>
}

/** Why a purge is refused: the clock differs by more than a day from the time that it was compared with (DEL-7). */
export interface ClockDoubt {
  /** The time of the clock, in milliseconds since 1970. */
  readonly now: number
  /** The time of the last purge or confirmation, or else of the newest change of a record. */
  readonly last: number
  readonly of: 'purge' | 'record'
}

/** The time that the clocks of servers are compared with before a purge. */
export interface PurgeClockStore {
  /** The time of the last purge or confirmation, in milliseconds since 1970; `undefined`: never. */
  read(): Promise<number | undefined>
  /** Confirms a time: servers whose clocks agree with it may purge. */
  confirm(now: number): Promise<void>
}

/** A tenant, as the operators' database has it (TEN-2). */
export interface TenantEntry {
  /** It names the file or schema of the tenant. */
  readonly id: string
  readonly name: string
  /** Its callers are served while it is `active`. */
  readonly state: TenantState
  /** The hash of what its database was brought up to (`Host.hashOf`); `null`: there is none yet. */
  readonly schemaHash: string | null
  /** When it must be opened, or until when a command holds it, in milliseconds since 1970; `null`: never opened. */
  readonly wakesAt: number | null
}

/** A tenant in a list. */
export interface ListedTenant extends TenantEntry {
  /** How many bytes its database took when it was last measured; `null`: it was not yet. */
  readonly bytes: number | null
  /** ISO 8601. */
  readonly created_at: string
  /** ISO 8601; `null`: not deleted. */
  readonly deleted_at: string | null
}

/** A tenant that a first request or a command creates. */
export interface NewTenant extends Pick<TenantEntry, 'id' | 'name'>, Partial<Pick<TenantEntry, 'wakesAt'>> {
  /** `active` by default. */
  readonly state?: TenantState
  /** The number of tenants, deleted ones too, from which on none is created. */
  readonly most: number
  readonly now: number
}

/** The tenants of an operators' database, and which of them a key belongs to. Times are in milliseconds since 1970. */
export interface TenantStore {
  /** The tenant with a name, deleted or not, until its database is removed. */
  find(name: string): Promise<TenantEntry | undefined>
  get(id: string): Promise<TenantEntry | undefined>
  /** All tenants, deleted ones too, by their names. */
  list(): Promise<readonly ListedTenant[]>
  /** Lets the callers of a tenant in, and has its database opened and migrated soon. */
  activate(id: string, now: number): Promise<void>
  /** Begins to move a tenant, which is not served meanwhile, and holds it. Returns whether it was active. */
  beginMove(id: string, now: number, until: number): Promise<boolean>
  /** Holds a tenant for a command that imports or moves it, or ends that. Returns whether nobody has since `held`. */
  hold(id: string, held: number | null, until: number | null): Promise<boolean>
  /** Creates a tenant. Several first requests at once get the same one; `undefined`: there are as many already. */
  create(tenant: NewTenant): Promise<TenantEntry | undefined>
  /** Keeps that the database of a tenant was brought up to a catalog. */
  keepHash(id: string, hash: string): Promise<void>
  /** The ids of tenants, at most some, whose databases were brought up to another catalog, after an id. */
  outdated(hash: string, after: string, most: number): Promise<readonly string[]>
  /** Keeps when a tenant must be opened, if nobody asks for it before. */
  keepWake(id: string, at: number): Promise<void>
  /** The ids of tenants that must be opened now, at most some, the longest due first. */
  due(now: number, most: number): Promise<readonly string[]>
  keepSize(id: string, bytes: number, now: number): Promise<void>
  /** Those of some tenants, by their ids, whose callers are no longer served. */
  inactive(ids: readonly string[]): Promise<readonly string[]>
  /** The ids of tenants that the running purge removes: they can no longer be restored. */
  purged(): Promise<readonly string[]>
  /** The maintenance of tenants, by their ids: of those of which it is on (ERR-6). */
  maintenance(): Promise<ReadonlyMap<string, Maintenance>>
  /** As `MaintenanceStore.begin`, for one tenant. */
  beginMaintenance(id: string, maintenance: Maintenance): Promise<MaintenanceBegun>
  /** As `MaintenanceStore.end`, for one tenant. */
  endMaintenance(id: string): Promise<Maintenance | undefined>
  /** Forgets the keys of a tenant. */
  dropKeys(id: string): Promise<void>
  /** The tenant of the API key with a hash; `undefined`: it is no key of a tenant. */
  tenantOfKey(hash: string): Promise<TenantEntry | undefined>
  /** Keeps which tenant a key belongs to, before the key itself is stored. */
  addKey(hash: string, tenant: string): Promise<void>
  /** Forgets a key that was not stored. */
  dropKey(hash: string): Promise<void>
}

/** The kinds of background jobs. */
export type JobTask = 'deletion' | 'purge' | 'export'

/** A job that is not finished. */
export interface OpenJob {
  readonly id: string
  readonly task: JobTask
}

/** The problem (RFC 9457) that a job failed with. */
export type JobError = Readonly<Record<string, unknown>>

/** The progress of an export (JOB-6). */
export interface ExportProgress {
  /** The number of records that were written. */
  readonly count: number
  /** The length of the file in bytes. */
  readonly bytes: number
  /** The last record that was written; `null`: none. */
  readonly after: Position['keys'] | null
}

/** An unfinished export. */
export interface OpenExport extends ExportProgress {
  /** The name of its collection, which the declaration may no longer have. */
  readonly collection: string
  /** The version of the request. */
  readonly version: string
  readonly fields: readonly string[] | null
  readonly format: ExportFormat
  /** The address of the file. */
  readonly contentUrl: string
  /** The other collections whose records decide what the file contains; left out: none. */
  readonly related?: readonly string[]
  /** The digest of the access rules that decide what the file may contain (`accessDigest`). */
  readonly access: string
}

/** The room for the file of an export, in bytes (LIM-8). */
export interface ExportRoom {
  /** The rest of its caller's quota. */
  readonly own: number
  /** The rest of the quota of all callers. */
  readonly all: number
}

/** An export that a server has claimed. */
export interface ClaimedExport extends OpenExport {
  readonly room: ExportRoom
}

/** The next records of an export, as text of the file. */
export interface ExportPiece {
  readonly text: Uint8Array
  readonly count: number
  /** The last record of the text; `undefined`: the export is complete. */
  readonly after: Position['keys'] | undefined
}

/** The result of a batch; `failed`: a failed job is undone; `elsewhere`: another server has the job, or ended it. */
export type JobStep = 'more' | 'finished' | 'failed' | 'elsewhere'

/**
 * Background jobs, whose state is in the database (JOB-3). Each method is a transaction of its own, for which no reader
 * waits. Times are in milliseconds since 1970.
 */
export interface JobStore {
  /** The unfinished jobs, the oldest first. */
  open(): Promise<readonly OpenJob[]>
  /** Counts the records of a job, unless the total is known. */
  countTotal(job: OpenJob, now: number): Promise<void>
  /** Runs the next batch of a job. */
  step(job: OpenJob, now: number): Promise<JobStep>
  /**
   * Claims an export for a server for a few seconds and returns its state; `undefined`: the export is finished, or
   * another server has claimed it (JOB-5).
   */
  claimExport(job: string, server: string, now: number): Promise<ClaimedExport | undefined>
  /** Reads the next records of an export, on a snapshot. */
  readExport(job: string): Promise<ExportPiece>
  /**
   * Keeps the progress of an export.
   *
   * @param content the next part of its file, if the database stores it
   * @returns `false` if another server has claimed it, or the caller's other exports have used up the quota: nothing is
   *   kept then
   */
  keepExport(job: string, server: string, progress: ExportProgress, now: number, content?: Uint8Array): Promise<boolean>
  /**
   * Ends an export whose file is complete.
   *
   * @param content the end of its file, if the database stores it
   * @returns `false` if another server has claimed it, or the caller's other exports have used up the quota
   */
  finishExport(
    job: string,
    server: string,
    result: Readonly<Record<string, unknown>>,
    now: number,
    content?: Uint8Array,
  ): Promise<boolean>
  /** Fails a job that cannot go on and undoes it. Returns `false` if it can no longer be undone, or has ended. */
  fail(job: OpenJob, error: JobError, now: number): Promise<boolean>
  /** Checks the clock before deleted data is removed, and keeps the time. Returns why nothing may be removed. */
  checkClock(now: number): Promise<ClockDoubt | undefined>
  /** Begins a purge (DEL-7) if records are past their grace period and no purge runs. Returns whether it began. */
  beginPurge(job: { readonly id: string; readonly statusUrl: string }, now: number): Promise<boolean>
  /**
   * Deletes idempotency keys after a day (MET-9), finished jobs after 30 days (JOB-4), events after the declared time
   * (EVT-5) and the files of exports that the database stores (JOB-6): in batches.
   *
   * @param goesOn asked before each batch; left out: always
   * @returns their number
   */
  deleteExpired(now: number, goesOn?: () => boolean): Promise<number>
  /** The same, a batch of each. */
  deleteSomeExpired(now: number): Promise<number>
}

/** The files of exports in a database that stores them itself, in small pieces. */
export interface PieceStore {
  /** The bytes from one on, up to the end of their piece; `undefined`: there are none. */
  read(job: string, start: number): Promise<Uint8Array | undefined>
}

/** The events of a database in their order (EVT-2). Clients never see positions (AUT-9). */
export interface EventStore {
  /**
   * Reads events after a position. A read may take `limits.readTime` (LIM-7).
   *
   * @throws StorageFault where the database fails, or the read is stopped or refused
   */
  read(plan: ReadEvents, requester?: Requester): Promise<EventsOutcome>
  /**
   * The newest position: no event can appear at or before it any more. 0: there was none yet. A later call gives a
   * smaller one only if the database has lost its last changes.
   */
  horizon(): Promise<number>
  /** The mark of a position up to the horizon (`EventPosition`). */
  mark(position: number): Promise<number>
  /** The greatest position whose event is no longer kept (EVT-5); 0: all are kept. */
  floor(): Promise<number>
  /** The position of an event; `undefined`: it is not kept, or never was. */
  find(id: string): Promise<number | undefined>
}

/** A group commit. */
export interface Commit {
  /** How many changes were decided in it, including refused ones. */
  readonly changes: number
  /** Milliseconds from its first statement until it is on the disk. */
  readonly duration: number
}

/**
 * Is called after the responses of a commit are sent; commits of background jobs are not reported. It must not throw.
 */
export type OnCommit = (commit: Commit) => void

/** A change of the state of a replica. The primary is read unless the replica is connected. */
export type ReplicaNews =
  | { readonly state: 'connected' }
  | { readonly state: 'lost' | 'behind'; readonly reason: string }

/** Is called with each change of the state. It must not throw. */
export type OnReplica = (news: ReplicaNews) => void

/** Returns a signal that is aborted when the client has gone. */
export type Abandoned = () => AbortSignal | undefined

/** The sender of a plan: a slow read has a place among the reads of its caller, and stops when its client has gone. */
export interface Requester {
  /** The caller's id; `undefined`: the program itself. */
  readonly callerId?: string | undefined
  readonly abandoned?: Abandoned | undefined
}

/** Many records that are created together. */
export interface Whole {
  /** Their collections. */
  readonly resources: readonly Resource[]
  /** The records in order. They are asked for again if the transaction starts again. */
  readonly plans: Iterable<Create>
  /** After how many refusals no more records are tried. */
  readonly mostRefusals: number
}

/** A database, opened for one catalog. */
export interface Storage {
  /**
   * Carries out a plan in one transaction. A read may take `limits.readTime` (LIM-7); changes are never stopped.
   *
   * @throws StorageFault where the database fails, or the read is stopped or refused; nothing is changed then
   */
  run(plan: Plan, requester?: Requester): Promise<Outcome>
  /**
   * Creates records in order, in one transaction, each decided as `run` decides it.
   *
   * @param whenRefused `stop`: the first refusal ends the load, and records before it stay; `skip`: continue without it
   * @param most for how many milliseconds records are begun, where other writers wait for the transaction; at least one
   *   is
   * @returns for each plan that was tried, in order: `undefined` where the record was created, else its refusal
   * @throws StorageFault where the database fails; none is created then
   */
  load(plans: readonly Create[], whenRefused: 'stop' | 'skip', most?: number): Promise<readonly (Outcome | undefined)[]>
  /**
   * Creates records in order, in one transaction, or none of them. A killed process leaves none. Other writers wait for
   * the end: on SQLite all, on PostgreSQL those that need the same unique values, counters or parents.
   *
   * @returns the refusals; empty: all records were created
   * @throws StorageFault where the database fails; none is created then
   */
  loadAll(whole: Whole): Promise<readonly Refusal[]>
  readonly jobs: JobStore
  /** The folder for the files of exports, created when it is needed; `undefined`: the storage has no folder. */
  readonly exportsFolder: string | undefined
  /** The files of exports, where the database stores them for all servers. */
  readonly pieces: PieceStore | undefined
  /** The events of the database; `undefined`: no resource is declared with events. */
  readonly events: EventStore | undefined
  /** Their deliveries to webhooks and functions; `undefined`: no resource is declared with events. */
  readonly deliveries: DeliveryStore | undefined
  readonly keys: KeyStore
  /** The tenants of an operators' database; `undefined`, or left out: it is a database of another kind. */
  readonly tenants?: TenantStore | undefined
  readonly maintenance: MaintenanceStore
  readonly purgeClock: PurgeClockStore
  /** The maintenance that was on when the database was opened: a server needs it before its first request. */
  readonly maintenanceFound: Maintenance | undefined
  /** The secret that signs cursors and keys the tags of lists: the same for every server on this database. */
  readonly cursorSecret: Uint8Array
  /**
   * Resolves if the database answers and takes changes (OPS-5), within a few seconds.
   *
   * @throws StorageFault otherwise
   */
  ping(): Promise<void>
  /** Finishes running transactions, then closes the database. */
  close(): Promise<void>
}

/**
 * `failed`: nothing was changed. `unwritable`: nothing was changed, and no change can succeed until the cause that the
 * message names is repaired. `uncertain`: the answer to a commit was lost, so the change may have happened. `busy`: a
 * retry may succeed. `abandoned`: a read was stopped because its client had gone. `too-long`: a read was stopped at
 * `limits.readTime` (LIM-7). `crowded`: a slow read was refused because too many wait.
 * `missing`: the tables of a tenant are not there, or not any more.
 */
export type StorageFaultKind =
  | 'failed'
  | 'unwritable'
  | 'uncertain'
  | 'busy'
  | 'abandoned'
  | 'too-long'
  | 'crowded'
  | 'missing'

/**
 * The database failed: 502, or 503 if it is busy or the read took too long. The cause goes to the log, never to the
 * caller.
 */
export class StorageFault extends Error {
  readonly kind: StorageFaultKind

  constructor(kind: StorageFaultKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StorageFault'
    this.kind = kind
  }
}
