/** The storage port: what the program asks of a database, whichever it is. */
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
}

/** Where API keys are kept. */
export interface KeyStore {
  find(hash: string): Promise<StoredKey | undefined>
  list(): Promise<StoredKey[]>
  add(key: StoredKey): Promise<void>
  /** Revokes by id; `false` where there is no such key, or it is revoked already. */
  revoke(id: string, at: string): Promise<boolean>
}

/** A database, opened for one catalog. */
export interface Storage {
  /**
   * Carries out a plan in one transaction.
   *
   * @throws StorageFault where the database fails; nothing is changed then
   */
  run(plan: Plan): Promise<Outcome>
  /**
   * Creates records in order, in one transaction, each decided as `run` decides it.
   *
   * @param whenRefused `stop`: the first that is refused ends it, and those before it stay; `skip`: it goes on without it
   * @returns what came of those that were tried, in order: `undefined` where the record was created, else its refusal
   * @throws StorageFault where the database fails; none is created then
   */
  load(plans: readonly Create[], whenRefused: 'stop' | 'skip'): Promise<readonly (Outcome | undefined)[]>
  /**
   * Removes what has expired, some at a time, so that others who write need not wait: records that were deleted longer ago
   * than their grace period (DEL-7), idempotency keys older than a day (MET-9).
   *
   * @param now milliseconds since 1970
   * @returns how many are gone; closing the storage ends it early
   * @throws StorageFault where the database fails; what was removed until then stays so
   */
  purge(now: number): Promise<number>
  readonly keys: KeyStore
  /** The secret that signs cursors: the same for every server on this database. */
  readonly cursorSecret: Uint8Array
  /** Resolves where the database answers, rejects where it does not. */
  ping(): Promise<void>
  /** Finishes what is running, then closes. */
  close(): Promise<void>
}

/** The database failed: 502 (`failed`), or 503 where it is only busy. The cause is for the log, never for the caller. */
export class StorageFault extends Error {
  readonly kind: 'failed' | 'busy'

  constructor(kind: 'failed' | 'busy', message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StorageFault'
    this.kind = kind
  }
}
