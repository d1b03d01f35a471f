/**
 * Which declarations a database has been given, in their order. While servers of two declarations run side by side an older one
 * may start once more: it must know that it is the older one, and leave to the newer what the newer has made.
 */
import { createHash } from 'node:crypto'
import type { Catalog } from '../../model/resource.ts'
import { columnsOf } from '../sql/columns.ts'
import { searchColumns } from '../sql/tables.ts'
import type { ExistingTable } from './migration.ts'
import type { MigrationStep } from './migration-step.ts'

/** A declaration, as far as a database sees it: the version that its tables are named by, and a hash of what they are. */
export interface Given {
  readonly version: string
  readonly hash: string
}

/** `current`: the last that the database was given. `former`: another has been since. `new`: it never was. */
export type Standing = 'current' | 'former' | 'new'

/** So many are remembered: nobody starts an older one by mistake. */
const mostGiven = 100

const known = new WeakMap<Catalog, Given>()

/** What is remembered of a catalog. The same on every engine, since it moves with the database. */
export function givenBy(catalog: Catalog): Given {
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

/** How a catalog stands among those that a database was given, the last one last. */
export function standingOf(lineage: readonly Given[], catalog: Catalog): Standing {
  const last = lineage.at(-1)
  const given = givenBy(catalog)
  if (last === undefined) return 'new'
  if (last.hash === given.hash && last.version === given.version) return 'current'
  if (lineage.some(({ hash, version }) => hash === given.hash && version === given.version)) return 'former'
  // One of its version's that was mended, say, when the next version was there already.
  if (last.version === catalog.version || catalog.versions.has(last.version)) return 'new'
  return lineage.some(({ version }) => version === catalog.version) ? 'former' : 'new'
}

/** The declarations when a database has been given another, or one of them again. */
export function givenAlso(lineage: readonly Given[], catalog: Catalog): Given[] {
  const given = givenBy(catalog)
  const others = lineage.filter(({ hash, version }) => hash !== given.hash || version !== given.version)
  return [...others, given].slice(-mostGiven)
}

/**
 * Those of the steps to a former declaration without which it cannot be served: what it reads or writes is not there, or is
 * something else. All others only undo what a newer one has made.
 *
 * @param tables those that are there
 */
export function lackedByFormer(steps: readonly MigrationStep[], tables: readonly ExistingTable[]): MigrationStep[] {
  const searched = new Set(tables.filter(({ search }) => search !== undefined).map(({ name }) => name))
  return steps.filter((step) => {
    if (step.kind === 'build-search') return !searched.has(step.table)
    return !undoing.has(step.kind)
  })
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
