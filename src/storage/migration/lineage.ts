/**
 * Records which declarations were applied to a database, in order. While servers of two declarations run side by
 * side, an older one may start again. That server must detect that its declaration is older, and must not undo the
 * newer one's changes.
 */
import { createHash } from 'node:crypto'
import type { Catalog } from '../../model/resource.ts'
import { columnsOf } from '../sql/columns.ts'
import { searchColumns } from '../sql/tables.ts'
import type { ExistingTable } from './diff.ts'
import type { MigrationStep } from './migration-step.ts'

/** A declaration, as far as a database sees it: the version that its tables are named by, and a hash of its tables. */
export interface AppliedDeclaration {
  readonly version: string
  readonly hash: string
}

/** `current`: applied last. `former`: applied, and another one since. `new`: never applied. */
export type Standing = 'current' | 'former' | 'new'

/** How many declarations are remembered. */
const mostRemembered = 100

const known = new WeakMap<Catalog, AppliedDeclaration>()

/** What is remembered of a catalog. The same on every engine, since it moves with the database. */
export function declarationOf(catalog: Catalog): AppliedDeclaration {
  const kept = known.get(catalog) ?? { version: catalog.version, hash: hashOf(catalog) }
  known.set(catalog, kept)
  return kept
}

function hashOf({ resources, system }: Catalog): string {
  const tables = [...resources.values(), ...system.values()].map((resource) => [
    resource.name,
    columnsOf(resource).map(({ name, field }) => [name, field.type, field.required, field.default ?? null]),
    resource.indexes,
    searchColumns(resource),
  ])
  return createHash('sha256').update(JSON.stringify(tables)).digest('base64url').slice(0, 16)
}

/** Where a catalog stands among the declarations that were applied. */
export function standingOf(lineage: readonly AppliedDeclaration[], catalog: Catalog): Standing {
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
export function withDeclaration(lineage: readonly AppliedDeclaration[], catalog: Catalog): AppliedDeclaration[] {
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
export function requiredByFormer(steps: readonly MigrationStep[], tables: readonly ExistingTable[]): MigrationStep[] {
  const searched = new Set(tables.filter(({ search }) => search !== undefined).map(({ name }) => name))
  return steps.filter((step) => (step.kind === 'build-search' ? !searched.has(step.table) : !undoing.has(step.kind)))
}

const undoing: ReadonlySet<MigrationStep['kind']> = new Set<MigrationStep['kind']>([
  'drop-table',
  'drop-column',
  'drop-index',
  'drop-search',
  'create-index',
  'fill-default',
  'derive-column',
  'require',
  'allow-null',
])
