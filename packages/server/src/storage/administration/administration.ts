/** The administration port: what an engine does with a database as a whole, beside the servers that use it. */
import type { Catalog } from 'resourced-contract/model/resource'
import type { Migrated } from '../migration/apply.ts'
import type { Examination } from '../migration/examine.ts'
import type { Apply } from '../migration/migration-step.ts'
import type { StoredSchema } from '../migration/stored-schema.ts'
import type { Moved, MoveSource, MoveTarget } from '../move/move.ts'
import type { ListedKey, OnCommit, OnReplica, Storage } from '../storage.ts'
import type { DatabaseDescription, TableSource } from '../table-description.ts'
import type { RemoteWriter } from '../threads/remote-writer.ts'

/** What opening a database may change, and callbacks for commits and for the replica. */
export interface OpenOptions {
  /** `additive` by default. */
  readonly migrate?: Apply | undefined
  readonly onCommit?: OnCommit | undefined
  readonly onReplica?: OnReplica | undefined
  /** The thread that makes all changes; left out: this one makes its own. */
  readonly writer?: RemoteWriter | undefined
  /** Counts the commits that run or are not answered yet: one 32-bit integer. */
  readonly committing?: SharedArrayBuffer | undefined
  /** The database was brought up to this catalog before, so its tables are not looked at; `false` by default. */
  readonly isCurrent?: boolean | undefined
}

/** A database that is opened for its API keys only. */
export type OpenKeys = Pick<Storage, 'keys' | 'close'>
/** A database that is opened for its maintenance switch and its purge clock only. */
export type OpenMaintenance = Pick<Storage, 'maintenance' | 'purgeClock' | 'close'>

/** The administration of one database. Errors of the engine become those of the port (`StorageFault`). */
export interface Administration {
  /**
   * Opens the database for a catalog and brings it up to date; synchronously where nothing is waited for.
   *
   * @throws MigrationRefused where the catalog needs a change that `migrate` does not allow
   */
  open(catalog: Catalog, options: OpenOptions): Storage | Promise<Storage>
  /** Opens the database for its API keys, and creates their tables. No declaration is needed. */
  openKeys(): Promise<OpenKeys>
  /** The API keys, read without a change if the tables allow it; `undefined`: no server has ever used the database. */
  listKeys(): Promise<readonly ListedKey[] | undefined>
  /** Changes nothing else, whichever version created the database; `undefined`: no server has ever used it. */
  openMaintenance(): Promise<OpenMaintenance | undefined>
  /** Whether a server has ever used the database. Changes nothing. */
  hasTables(): Promise<boolean>
  /**
   * The steps that the database needs for a catalog. They are taken where `apply` allows all of them.
   *
   * @throws MigrationRefused where `apply` is `all` and a step is impossible
   */
  migrate(catalog: Catalog, apply: Apply): Promise<Migrated>
  /** Only reads, and waits for no server; `undefined`: there is no database yet. */
  examine(catalog: Catalog | undefined): Promise<Examination | undefined>
  /** Waits until the changes have ended that run, or that servers have let in before; not for ever. */
  changesEnded(): Promise<void>
  /** Opens the database to read all of it. */
  openSource(): Promise<MoveSource>
  /**
   * Fills the empty database with everything that `fill` writes, or, where that throws, with nothing.
   *
   * @throws StorageFault where the database is not empty
   */
  fill<T>(schema: StoredSchema, fill: (target: MoveTarget) => Promise<T>): Promise<T>
  /** Copies the database page by page; left out: it is copied row by row. */
  backUp?(file: string, options: BackupOptions): Promise<CopyResult>
  /** Restores a backup page by page; `undefined`, or left out: it is restored row by row. */
  restore?(backup: Backup, file: string, options: BackupOptions): Promise<CopyResult> | undefined
  /** Reads tables that Resourced did not create, by schemas; left out: the engine has no way to. */
  readonly foreign?: {
    describe(schemas: readonly string[]): Promise<DatabaseDescription>
    open(schemas: readonly string[]): Promise<TableSource>
  }
}

/** A database that was found beside that of the operators. */
export interface TenantDatabase {
  /** The id of the tenant that it is for. */
  readonly tenant: string
  /** Its file or schema. */
  readonly place: string
  /** The command of a shell, or of SQL, that removes it. */
  readonly removal: string
}

/** A database and those of its tenants (TEN-2), opened together: an engine may let them share connections. */
export interface Host {
  /**
   * The administration of the operators' database, or of a tenant's. Opening that of a tenant creates it.
   *
   * @param tenant the tenant's id, which names its file or schema; left out: the operators' database
   */
  administer(tenant?: string): Administration
  /** A hash of everything that a database needs for a catalog: one that was brought up to it needs no migration. */
  hashOf(catalog: Catalog): string
  /**
   * Removes the database of a tenant with its files of exports. No thread of this process has it open. What was removed
   * already counts as removed, so that an interrupted removal is repeated.
   */
  remove(tenant: string): Promise<void>
  /** The databases of tenants that there are, whether a tenant has them or not. Changes nothing. */
  databases(): Promise<readonly TenantDatabase[]>
  /** How many bytes the database of a tenant takes; 0: there is none yet. */
  size(tenant: string): Promise<number>
  /** Ends what the databases share, after all of them were closed. */
  close(): Promise<void>
}

/** What a backup says of itself. */
export interface BackupDescription {
  /** The format of the file. */
  readonly format: number
  /** When the backup began: ISO 8601, UTC. It contains every change that was acknowledged before. */
  readonly created_at: string
  /** The version of Resourced that made it. */
  readonly resourced: string
  /** The declaration that was applied last to the database: its version, and a hash of its tables. */
  readonly declaration: { readonly version: string; readonly hash: string } | null
  /** How many records each collection has, deleted ones too. Events, webhooks and deliveries are not counted. */
  readonly records: Readonly<Record<string, number>>
  /** How many files of exports it contains. */
  readonly files: number
  /** The length of the database in bytes: what follows is this description. */
  readonly bytes: number
  /** SHA-256 of the database, hexadecimal. */
  readonly sha256: string
}

/** A backup to be restored. */
export interface Backup {
  readonly description: BackupDescription
  /** @throws StorageFault where the file is damaged */
  verify(): Promise<void>
  /** Opens its rows, to be moved into a database of any engine. */
  open(): MoveSource
}

/** Work that may take long. */
export interface LongWork {
  readonly signal: AbortSignal
  /** Receives how far the work is: `Copying`, `MB`, 20 of 100. */
  readonly onProgress: (stage: string, unit: 'MB' | 'rows', done: number, total: number) => void
}

/** How a backup is made or restored. */
export interface BackupOptions extends LongWork {
  /** The version of this program. */
  readonly version: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** Whether what is restored gets secrets of its own, because the origin goes on; `false` by default. */
  readonly renewsSecrets?: boolean
}

/** A backup that was made or restored. */
export interface CopyResult extends Pick<Moved, 'lost' | 'restarted'> {
  readonly description: BackupDescription
  /** What the database has that is not of this program, and therefore not copied. */
  readonly omitted: readonly { readonly kind: 'table' | 'index' | 'view' | 'trigger'; readonly name: string }[]
}
