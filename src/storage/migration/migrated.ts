/** How to migrate, and what came of it. */
import type { Apply } from './migration-refused.ts'
import type { MigrationStep } from './migration-step.ts'

/** How to migrate. */
export interface MigrateOptions {
  readonly apply: Apply
  /** Milliseconds since 1970: `updated_at` of records whose values change. */
  readonly now: number
  /** What becomes of tables of ours that the catalog does not have: dropped unless said. */
  readonly others?: 'dropped' | 'kept'
  /**
   * Whether somebody asks for this very declaration, and not just for a server: then what a newer one has made may be undone.
   * Left out: where `apply` is `all`.
   */
  readonly isAsked?: boolean
}

/** What a migration did. */
export interface Migrated {
  /** The steps taken; none where there was nothing to do. */
  readonly steps: readonly MigrationStep[]
  readonly applied: boolean
}
