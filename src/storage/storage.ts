/** The storage port: what the program asks of a database, whichever it is. */
import type { Position } from '../model/predicate.ts'
import type { ExportFormat } from '../plan/export-document.ts'
import type { Create, Outcome, Plan } from '../plan/plan.ts'

/** An API key as stored: never the secret, only its SHA-256 (AUT-2). */
export interface StoredKey {
  readonly id: string
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string
  /** The first characters of the secret, by which people recognise it. */
  readonly hint: string
  readonly subject: string
  readonly roles: readonly string[]
  /** ISO 8601; `null`: never. */
  readonly expires_at: string | null
  readonly created_at: string
  /** ISO 8601; `null`: not revoked. */
  readonly revoked_at: string | null
  /** The id of the API key, or the subject of the token, that made it; `null`: the command line. */
  readonly made_by: string | null
}

/** An API key to be stored: `made_by` may be left out where the command line makes it. */
export type NewKey = Omit<StoredKey, 'made_by'> & Partial<Pick<StoredKey, 'made_by'>>

/** An API key as it is listed. */
export interface ListedKey extends StoredKey {
  /** ISO 8601; `null`: never. A server keeps it once a minute. */
  readonly last_used_at: string | null
}

/** What a revocation came to. */
export interface Revoked {
  /** How many keys were revoked. */
  readonly count: number
  /** How many keys made with them are still valid. */
  readonly remaining: number
}

/** Where API keys are kept. */
export interface KeyStore {
  find(hash: string): Promise<StoredKey | undefined>
  list(): Promise<ListedKey[]>
  add(key: NewKey): Promise<void>
  /** Revokes by id; `undefined` where there is no such key, or nothing is left to revoke. */
  revoke(id: string, at: string, options?: { readonly descendants?: boolean }): Promise<Revoked | undefined>
  /** Keeps when keys were last used, by id, in milliseconds since 1970; of a key, once a minute at most. */
  keepUses(uses: ReadonlyMap<string, number>): Promise<void>
}

/** What clients are told while a service is under maintenance (ERR-6). */
export interface Maintenance {
  /** Since when it is on: ISO 8601, UTC. */
  readonly since: string
  /** One line for people. */
  readonly message: string
  /** After how many seconds they are to ask again. */
  readonly retryAfter: number
}

/** The switch of maintenance: every server on the database takes part. */
export interface MaintenanceStore {
  /** `undefined`: it is off. */
  read(): Promise<Maintenance | undefined>
  /**
   * Turns it on; where it is on already, clients are told something else from now on, and `since` stays.
   *
   * @returns what it is now, and what it was before
   */
  begin(maintenance: Maintenance): Promise<{ readonly now: Maintenance; readonly before: Maintenance | undefined }>
  /** Turns it off. Gives what it was before. */
  end(): Promise<Maintenance | undefined>
}

/** Why nothing is removed for good: the clock differs by more than a day from what it was compared with (DEL-7). */
export interface ClockDoubt {
  /** What the clock says, in milliseconds since 1970. */
  readonly now: number
  /**
   * When something was last removed, or the clock was confirmed; where neither ever was, when the newest record was
   * changed.
   */
  readonly last: number
  readonly of: 'purge' | 'record'
}

/** What the clocks of servers are compared with before anything is removed for good. */
export interface PurgeClockStore {
  /** When something was last removed, or the clock was confirmed, in milliseconds since 1970; `undefined`: never. */
  read(): Promise<number | undefined>
  /** Confirms a clock: those that agree with it may remove things. */
  confirm(now: number): Promise<void>
}

/** What a runner has to do for a job. */
export type JobTask = 'deletion' | 'purge' | 'export'

/** A job that is not finished. */
export interface OpenJob {
  readonly id: string
  readonly task: JobTask
}

/** A problem (RFC 9457) that a job fails with. */
export type JobError = Readonly<Record<string, unknown>>

/** How far an export is (JOB-6). */
export interface ExportProgress {
  /** How many records were written. */
  readonly count: number
  /** How long the file is. */
  readonly bytes: number
  /** After which record it goes on; `null`: at the beginning. */
  readonly after: Position['keys'] | null
}

/** An export that is being made. */
export interface OpenExport extends ExportProgress {
  /** The name of its collection, which the declaration may have lost since. */
  readonly collection: string
  /** The version that asked for it. */
  readonly version: string
  readonly fields: readonly string[] | null
  readonly format: ExportFormat
  /** The address of the file. */
  readonly contentUrl: string
  /** The access rules by which it is settled what the file may hold (`accessDigest`). */
  readonly access: string
}

/** How long the file of an export may become, in bytes (LIM-8). */
export interface ExportRoom {
  /** Beside the other exports of its caller. */
  readonly own: number
  /** Beside the exports of all callers. */
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

/** The result of a batch; `elsewhere`: another server has finished the job, or runs it. */
export type JobStep = 'more' | 'finished' | 'elsewhere'

/**
 * Background jobs, whose state is in the database (JOB-3). Each method is a transaction of its own, for which no reader
 * waits. Times are in milliseconds since 1970.
 */
export interface JobStore {
  /** The unfinished jobs, the oldest first. */
  open(): Promise<readonly OpenJob[]>
  /** Counts what a job has to do, unless that is known. */
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
   * Deletes idempotency keys after a day (MET-9), finished jobs after 30 days (JOB-4) and the files of exports that the
   * database stores (JOB-6), in batches.
   *
   * @param goesOn asked before each batch; left out: always
   * @returns their number
   */
  deleteExpired(now: number, goesOn?: () => boolean): Promise<number>
}

/** The files of exports, in a database that keeps them itself: in pieces, none of which is large. */
export interface PieceStore {
  /** The piece that begins at a byte; `undefined`: there is none. */
  read(job: string, start: number): Promise<Uint8Array | undefined>
}

/** A commit of changes that came together. */
export interface Commit {
  /** How many changes were decided in it, those that were refused among them. */
  readonly changes: number
  /** Milliseconds from its first statement until it is on the disk. */
  readonly duration: number
}

/**
 * Hears of commits, once those who asked for the changes are answered. Long work has commits of its own. It must not
 * throw.
 */
export type OnCommit = (commit: Commit) => void

/** What becomes of a replica of the database: the primary is read unless it is connected. */
export type ReplicaNews =
  | { readonly state: 'connected' }
  | { readonly state: 'lost' | 'behind'; readonly reason: string }

/** Hears of it. It must not throw. */
export type OnReplica = (news: ReplicaNews) => void

/** Gives a signal that is aborted where nobody waits for an outcome any more. */
export type Abandoned = () => AbortSignal | undefined

/** A database, opened for one catalog. */
export interface Storage {
  /**
   * Carries out a plan in one transaction.
   *
   * @param abandoned asked for by engines that can stop a read which takes long; changes go on
   * @throws StorageFault where the database fails; nothing is changed then
   */
  run(plan: Plan, abandoned?: Abandoned): Promise<Outcome>
  /**
   * Creates records in order, in one transaction, each decided as `run` decides it.
   *
   * @param whenRefused `stop`: the first that is refused ends it, and those before it stay; `skip`: it goes on without
   * it
   * @returns what came of those that were tried, in order: `undefined` where the record was created, else its refusal
   * @throws StorageFault where the database fails; none is created then
   */
  load(plans: readonly Create[], whenRefused: 'stop' | 'skip'): Promise<readonly (Outcome | undefined)[]>
  readonly jobs: JobStore
  /** The folder for the files of exports, made when it is needed; `undefined`: the database has no place of its own. */
  readonly exportsFolder: string | undefined
  /** The files of exports where the database keeps them: every server that is on it finds them there. */
  readonly pieces: PieceStore | undefined
  readonly keys: KeyStore
  readonly maintenance: MaintenanceStore
  readonly purgeClock: PurgeClockStore
  /** The maintenance that was on when the database was opened: a server must know before its first request. */
  readonly maintenanceFound: Maintenance | undefined
  /** The secret that signs cursors and keys the tags of lists: the same for every server on this database. */
  readonly cursorSecret: Uint8Array
  /**
   * Resolves where the database answers and takes changes (OPS-5). It waits for no longer than a few seconds.
   *
   * @throws StorageFault where it does not
   */
  ping(): Promise<void>
  /** Finishes what is running, then closes. */
  close(): Promise<void>
}

/**
 * `failed`: nothing was changed; `unwritable`: nothing was, nor can be until somebody mends what the message says;
 * `uncertain`: nobody knows, because the answer to a commit was lost; `busy`: it may do later;
 * `abandoned`: a read was stopped, because nobody waited for it any more.
 */
export type StorageFaultKind = 'failed' | 'unwritable' | 'uncertain' | 'busy' | 'abandoned'

/** The database failed: 502, or 503 where it is only busy. The cause is for the log, never for the caller. */
export class StorageFault extends Error {
  readonly kind: StorageFaultKind

  constructor(kind: StorageFaultKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StorageFault'
    this.kind = kind
  }
}
