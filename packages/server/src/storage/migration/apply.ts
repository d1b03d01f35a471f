/**
 * Migrates a database to a catalog: plans the steps, assesses and takes them, and remembers the result. Each engine
 * runs these transactions: SQLite synchronously, PostgreSQL under a migration lock, with retries, and with indexes
 * built afterwards, because a large index would stop writers for minutes.
 */
import { createHash } from 'node:crypto'
import type { Catalog } from 'resourced-contract/model/resource'
import sql from 'sql-template-tag'
import { columnsOf, indexedColumns } from '../sql/columns.ts'
import type { Dialect } from '../sql/dialect.ts'
import { layOut, tablesFor } from '../sql/system-tables.ts'
import type { TableSpec } from '../sql/tables.ts'
import { StorageFault } from '../storage.ts'
import type { Row, Transaction } from '../transaction.ts'
import { type ExistingTable, planMigration, planVersionChange } from './diff.ts'
import type { MigrationDialect } from './migration-dialect.ts'
import {
  type Apply,
  type IndexStep,
  is,
  isAllowed,
  MigrationRefused,
  type MigrationStep,
  needsCount,
} from './migration-step.ts'
import { type FoundSchema, readSchema, remember, rememberShape, storageFormat, storedVersion } from './schema.ts'
import { withStates } from './state-steps.ts'
import type { StoredSchema } from './stored-schema.ts'
import { assessStep, takeStep } from './take-step.ts'
import { planTriggers, triggersOf, withoutTriggers } from './trigger-steps.ts'

export interface MigrateOptions {
  readonly apply: Apply
  /** Milliseconds since 1970: `updated_at` of records whose values change. */
  readonly now: number
  /** Whether to keep tables of ours that the catalog does not have, instead of dropping them. */
  readonly keepsOthers?: boolean
  /** Whether changes of a newer declaration may be undone. The default is whether `apply` is `all`. */
  readonly undoesNewer?: boolean
}

/** The result of a migration. */
export interface Migrated {
  /** The steps taken; none where there was nothing to do. */
  readonly steps: readonly MigrationStep[]
  readonly applied: boolean
}

/** The scope of a migration. */
export interface Migration extends MigrateOptions {
  readonly dialect: MigrationDialect
  readonly catalog: Catalog
  readonly desired: readonly TableSpec[]
  /** The tables that it may change; `undefined`: all of ours. */
  readonly concerned: ReadonlySet<string> | undefined
}

/** The steps that were taken, and the indexes of existing tables that the engine builds afterwards. */
interface TakenSteps {
  readonly steps: readonly MigrationStep[]
  readonly deferred: readonly IndexStep[]
}

/** A migration to a catalog. */
export function migrationTo(catalog: Catalog, dialect: MigrationDialect, options: MigrateOptions): Migration {
  const desired = tablesFor(catalog, dialect.layout)
  const concerned = options.keepsOthers === true ? new Set(desired.map(({ name }) => name)) : undefined
  return { ...options, dialect, catalog, desired, concerned }
}

/**
 * Whether a database needs no migration. Reads only: most starts end here, without the right to write.
 *
 * @throws MigrationRefused where a newer declaration was applied, with which this one cannot run
 */
export function* isMigrated(migration: Migration): Transaction<boolean> {
  const { catalog, concerned, apply } = migration
  const schema = yield* readSchema(migration.dialect)
  if (yieldsToNewer(migration, schema)) return true
  const isKnown = apply === 'never' || isMarked(schema, catalog)
  const isCurrent = concerned !== undefined || (isKnown && storedVersion(schema, catalog) === catalog.version)
  return isCurrent && planTables(migration, schema).length === 0
}

/** Whether the database says what was applied to it last: a declaration, by a program with this storage format. */
function isMarked({ lineage, format }: FoundSchema, catalog: Catalog): boolean {
  return standingOf(lineage, catalog) === 'current' && format === storageFormat
}

/** The steps that a database needs, not assessed; `refused`: why none can be taken. */
export interface Pending {
  readonly steps: readonly MigrationStep[]
  readonly refused: string | undefined
}

/**
 * Plans a migration without assessing its steps: it reads no records and takes no locks. Where a newer version renames
 * or converts fields, these steps alone are returned, because all others depend on them.
 */
export function* pendingSteps(migration: Migration): Transaction<Pending> {
  const schema = yield* readSchema(migration.dialect)
  try {
    if (yieldsToNewer(migration, schema)) return { steps: [], refused: undefined }
  } catch (error) {
    if (!(error instanceof MigrationRefused)) throw error
    return { steps: error.steps, refused: error.message }
  }
  const renaming = planVersion(migration, schema)
  return { steps: renaming.length > 0 ? renaming : planTables(migration, schema), refused: undefined }
}

/**
 * Adds what a database lacks for a catalog, and changes what differs. Records are read only where something differs.
 * Losses of a step are counted after the steps before it were taken, so the counts are exact.
 *
 * @throws MigrationRefused where `apply` does not allow the steps, or one is impossible: roll back
 */
export function* changeSchema(migration: Migration): Transaction<TakenSteps> {
  const { catalog, desired, concerned, apply, dialect } = migration
  if (dialect.silence !== 'without-triggers') yield dialect.silence
  // Another process may have migrated the database since `isMigrated`.
  const found = yield* readSchema(dialect)
  if (yieldsToNewer(migration, found)) return { steps: [], deferred: [] }
  const renamed = yield* takeSteps(migration, planVersion(migration, found), found)
  const schema = renamed.steps.length === 0 ? found : yield* readSchema(dialect)
  const planned = planTables(migration, schema)
  if (apply === 'never' && renamed.steps.length === 0 && planned.length > 0) {
    // Steps that need no counting are reported without locking any table.
    if (planned.every((step) => !needsCount(step) || isCreated(step.table, planned))) {
      throw new MigrationRefused(planned)
    }
  }
  const taken = yield* takeSteps(migration, planned, schema)
  const steps = [...renamed.steps, ...taken.steps]
  if (!isAllowed(steps, apply)) throw new MigrationRefused(steps)
  yield* dialect.setDefaults(taken.steps)
  if (steps.length > 0) yield* rememberShape(desired, concerned)
  if (concerned === undefined) {
    yield* remember('format', String(storageFormat))
    if (storedVersion(found, catalog) !== catalog.version) yield* remember('version', catalog.version)
    yield* remember('declarations', JSON.stringify(withDeclaration(found.lineage, catalog)))
  }
  return { steps, deferred: taken.deferred }
}

/**
 * Whether to leave the changes of a newer declaration alone, because this one can run with them.
 *
 * @throws MigrationRefused where it cannot
 */
function yieldsToNewer(migration: Migration, schema: FoundSchema): boolean {
  const { catalog, concerned, apply, undoesNewer = apply === 'all' } = migration
  if (concerned !== undefined || undoesNewer || standingOf(schema.lineage, catalog) !== 'former') return false
  const steps = [...planVersion(migration, schema), ...planTables(migration, schema)]
  const required = requiredByFormer(steps, schema.tables)
  if (required.length > 0) throw new MigrationRefused(required, true)
  return true
}

/** The steps from the names and values of an older version, where the database has those. */
function planVersion({ dialect, catalog, concerned, desired }: Migration, schema: FoundSchema): MigrationStep[] {
  const version = concerned === undefined ? storedVersion(schema, catalog) : undefined
  if (version === undefined) return []
  const steps = withStates(schema, desired, planVersionChange(schema, desired, catalog, version))
  return withoutTriggers(dialect, schema, steps)
}

function planTables({ dialect, desired, concerned }: Migration, schema: FoundSchema): MigrationStep[] {
  const isConcerned = (table: string) => concerned === undefined || concerned.has(table)
  const tables = schema.tables.filter(({ name }) => isConcerned(name))
  const triggers = schema.triggers.filter(({ owner }) => isConcerned(owner))
  const steps = withStates({ tables }, desired, planMigration({ tables, foreign: schema.foreign }, desired))
  return planTriggers(dialect, { ...schema, triggers }, desired, steps)
}

/** Assesses and takes steps in their order. Index builds that the engine defers are only assessed. */
function* takeSteps(
  { dialect, now }: Migration,
  planned: readonly MigrationStep[],
  schema: FoundSchema,
): Transaction<TakenSteps> {
  const deferred = dialect.defersIndexes ? planned.filter(isIndexStep).filter(isOfExisting(planned)) : []
  const left = new Set<MigrationStep>(deferred.filter((step) => needsNoRows(step, planned, schema)))
  const taken = planned.filter((step) => !left.has(step))
  yield* dialect.lockTables(taken, new Set(schema.tables.map(({ name }) => name)))
  // Derived columns and words of a table are filled in one pass, once the values that they come from are final.
  const derivations = Map.groupBy(taken.filter(isDerivation), ({ table }) => table)
  const steps: MigrationStep[] = []
  for (const step of planned) {
    const assessed = yield* assessStep(dialect, step)
    steps.push(assessed)
    if (assessed.impossible || left.has(step)) continue
    yield* takeStep(dialect, assessed, now)
    const derived = derivations.get(step.table) ?? []
    if (step !== derived.at(-1)) continue
    yield* dialect.fillDerived({
      table: step.table,
      columns: derived.flatMap((each) => (each.kind === 'derive-column' ? [each.column] : [])),
      search: derived.find((each) => each.kind === 'build-search')?.search,
      isNew: isCreated(step.table, planned),
    })
  }
  return { steps, deferred }
}

function isIndexStep(step: MigrationStep): step is IndexStep {
  return step.kind === 'create-index' || step.kind === 'build-search'
}

function isDerivation(step: MigrationStep) {
  return step.kind === 'derive-column' || step.kind === 'build-search'
}

function isOfExisting(planned: readonly MigrationStep[]): (step: MigrationStep) => boolean {
  return ({ table }) => !isCreated(table, planned)
}

/** Whether steps create a table, so that no other connection uses it yet. */
function isCreated(table: string, planned: readonly MigrationStep[]): boolean {
  return planned.some((step) => step.kind === 'create-table' && step.table === table)
}

/** Whether a step builds an index and nothing else: the words of a full-text index may be stored already. */
function needsNoRows(step: IndexStep, planned: readonly MigrationStep[], { tables }: FoundSchema): boolean {
  if (step.kind === 'create-index') return true
  const stored = tables.find(({ name }) => name === step.table)?.search
  if (stored?.columns.join() !== step.search.columns.join()) return false
  return !planned.filter(is('rewriting')).some(({ table }) => table === step.table)
}

/**
 * Creates tables in an empty database.
 *
 * @returns the indexes to build after the rows were written (`buildIndex`)
 * @throws StorageFault where the database is not empty
 * @throws MigrationRefused where a foreign table has a name that is needed
 */
export function* createTables(dialect: MigrationDialect, schema: StoredSchema): Transaction<IndexStep[]> {
  const { tables, foreign } = yield* readSchema(dialect)
  if (tables.length > 0) throw notEmpty(yield recordCounts)
  const desired = layOut(schema.tables, dialect.layout)
  const steps = planMigration({ tables: [], foreign }, desired)
  const blocked = steps.filter(({ kind }) => kind === 'blocked')
  if (blocked.length > 0) throw new MigrationRefused(blocked)
  for (const step of steps) if (step.kind === 'create-table') yield* takeStep(dialect, step, 0)
  yield* remember('format', String(storageFormat))
  yield* rememberShape(desired)
  if (schema.version !== undefined) yield* remember('version', schema.version)
  return steps.filter(isIndexStep)
}

/** Builds an index of a table that `createTables` created. */
export function* buildIndex(dialect: MigrationDialect, step: IndexStep): Transaction<void> {
  if (step.kind === 'create-index') yield* takeStep(dialect, step, 0)
  else yield* dialect.fillDerived({ table: step.table, columns: [], search: step.search, isNew: true })
}

const recordCounts = sql`select collection, sum(live) + sum(deleted) as count from resourced_clocks
  group by collection order by collection`

function notEmpty(counts: readonly Row[]): StorageFault {
  const filled = counts
    .filter(({ count }) => Number(count) > 0)
    .map(({ collection, count }) => `${count} in ${collection}`)
  const what = filled.length === 0 ? 'tables without records' : `records (${filled.join(', ')})`
  return new StorageFault('failed', `The database to be filled holds ${what} already. Name an empty one.`)
}

/**
 * The declarations that were applied to a database, in order. While servers of two declarations run side by side, an
 * older one may start again. That server must detect that its declaration is older, and must not undo the newer one's
 * changes.
 */
type Lineage = FoundSchema['lineage']

/** `current`: applied last. `former`: applied, and another one since. `new`: never applied. */
type Standing = 'current' | 'former' | 'new'

/** How many declarations are remembered. */
const mostRemembered = 100

/** The stored description of a catalog. It is the same on every engine, because it moves with the database. */
export function declarationOf({ version, resources, system }: Catalog): Lineage[number] {
  const tables = [...resources.values(), ...system.values()].map((resource) => [
    resource.name,
    columnsOf(resource).map(({ name, field: { type, required, sequence, default: standIn = null } }) => [
      ...[name, type, required, standIn],
      ...(sequence === undefined ? [] : [sequence]),
    ]),
    resource.indexes,
    indexedColumns(resource).columns,
    ...(resource.events ? ['events'] : []),
    ...(resource.summaries ?? []),
    ...(resource.totals ?? []),
    ...(resource.history === undefined ? [] : ['history']),
  ])
  return { version, hash: createHash('sha256').update(JSON.stringify(tables)).digest('base64url').slice(0, 16) }
}

/** A hash of everything that a database of an engine needs for a catalog, with its version and the storage format. */
export function schemaHash(catalog: Catalog, dialect: Dialect): string {
  const tables = tablesFor(catalog, dialect.layout)
  const triggers = tables.flatMap((table) => triggersOf(dialect, table).map(({ definition }) => definition('')))
  const needed = JSON.stringify([storageFormat, declarationOf(catalog), tables, triggers])
  return createHash('sha256').update(needed).digest('base64url')
}

/** The relation of a catalog to the declarations that were applied. */
export function standingOf(lineage: Lineage, catalog: Catalog): Standing {
  const last = lineage.at(-1)
  const own = declarationOf(catalog)
  if (last === undefined) return 'new'
  if (last.hash === own.hash && last.version === own.version) return 'current'
  if (lineage.some(({ hash, version }) => hash === own.hash && version === own.version)) return 'former'
  // A correction of an old version that was made after the next version was applied also gets here.
  if (last.version === catalog.version || catalog.versions.has(last.version)) return 'new'
  return lineage.some(({ version }) => version === catalog.version) ? 'former' : 'new'
}

/** The lineage after a catalog was applied, for the first time or again. */
export function withDeclaration(lineage: Lineage, catalog: Catalog): Lineage {
  const own = declarationOf(catalog)
  const others = lineage.filter(({ hash, version }) => hash !== own.hash || version !== own.version)
  return [...others, own].slice(-mostRemembered)
}

/**
 * The steps to a former declaration that its servers cannot run without: they add a table or a column, or change the
 * values of a column. All other steps only undo changes of a newer declaration.
 *
 * @param tables the existing ones
 */
function requiredByFormer(steps: readonly MigrationStep[], tables: readonly ExistingTable[]): MigrationStep[] {
  const searched = new Set(tables.filter(({ search }) => search !== undefined).map(({ name }) => name))
  return steps.filter((step) => (step.kind === 'build-search' ? !searched.has(step.table) : !is('undoing')(step)))
}
