/**
 * Commands on a whole database. `resourced migrate` shows or applies the schema changes that the declaration needs;
 * `resourced move --from DATABASE --to DATABASE` moves all data while the source is under maintenance.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { format, interruption, type Progress, print, showProgress } from 'resourced-check/terminal'
import type { Catalog } from 'resourced-contract/model/resource'
import { withoutCredentials } from 'resourced-contract/model/text'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { isInMemory } from '../server/database-address.ts'
import {
  administer,
  catalogAt,
  checkMoveSource,
  type DatabaseOptions,
  openMaintenance,
} from '../server/open-database.ts'
import { refusalOfTenants } from '../server/open-served-database.ts'
import { formatSteps, MigrationRefused, type MigrationStep } from '../storage/migration/migration-step.ts'
import { type StoredSchema, schemaOf } from '../storage/migration/stored-schema.ts'
import {
  expectedRows,
  fingerprint,
  type Moved,
  type MoveSource,
  type MoveTarget,
  moveAll,
} from '../storage/move/move.ts'
import type { MaintenanceStore } from '../storage/storage.ts'
import { migrationCommand } from './command-line.ts'
import { loadCatalog } from './load-declaration.ts'

/** Shows the schema changes that a database needs, or applies them. */
export async function migrateCommand(
  file: string | undefined,
  options: DatabaseOptions & { readonly apply?: boolean },
): Promise<void> {
  const catalog = await loadCatalog(file)
  const { migrate } = await administer(options)
  const own = catalogAt(options, catalog)
  const isOfTenants = own !== catalog
  // Records of a declaration without tenants are no loss to accept here: they become a tenant.
  const apply = isOfTenants ? 'additive' : 'all'
  const planned = await migrate(own, 'never')
  if (!isOfTenants) refuseLossOfTenants(planned.steps)
  const { steps, applied } = options.apply === true ? await migrate(own, apply) : planned
  const refused = new MigrationRefused(steps)
  const error = refusalOfTenants(refused)
  if (isOfTenants && error !== refused) throw error
  if (steps.length === 0) print('The database fits the declaration: nothing to do.\n')
  else print(`${formatSteps(steps)}\n${applied ? 'Done.' : `Nothing was changed. ${adviceOn(steps, file, options)}`}\n`)
  if (!applied && steps.some((each) => each.impossible)) process.exitCode = 1
  if (isOfTenants) print('Tenants have databases of their own: see npx resourced tenants migrate.\n')
}

/** @throws ConfigurationError where a declaration without tenants would forget those of a database */
function refuseLossOfTenants(steps: readonly MigrationStep[]): void {
  if (!steps.some(({ kind, table }) => kind === 'drop-table' && table === 'resourced_tenant_keys')) return
  const found = 'The database has tenants, and the declaration has none: they would be forgotten.'
  const remedy = 'Add tenants: { caller: … } to the declaration, or name another database.'
  throw new ConfigurationError(`${found} ${remedy}`)
}

function adviceOn(steps: readonly MigrationStep[], file: string | undefined, { database }: DatabaseOptions): string {
  if (steps.some((each) => each.impossible)) return 'Change the records or the declaration as the lines marked x say.'
  return `To make these changes, run: ${migrationCommand(file, database)}`
}

/** The databases of a move, and the declaration of both. */
export interface MoveOptions {
  readonly from: string
  readonly to: string
  readonly declaration?: string
  readonly databaseUnsafe?: boolean
}

/** The message that clients get during the move. */
const message = 'The service is being moved to another database. Try again after the seconds in Retry-After.'

/** Milliseconds without a change before the move begins: servers read the maintenance switch twice a second. */
const quiet = 1_500
/** Milliseconds after which changes must come from a program that ignores maintenance. */
const patience = 60_000

/**
 * Moves everything that a database holds into an empty one, while the source is under maintenance. The exit code is 1
 * if nothing was moved, and 130 if the move was interrupted. In both cases, maintenance is restored to its former
 * state.
 */
export async function moveCommand({ from, to, declaration, databaseUnsafe }: MoveOptions): Promise<void> {
  for (const database of [from, to]) {
    if (isInMemory(database)) throw new UsageError('A database in memory cannot be moved: use sqlite:FILE.')
  }
  const source: DatabaseOptions = { database: from, option: '--from' }
  const catalog = await loadCatalog(declaration)
  if (catalog.tenants !== undefined) {
    throw new UsageError('The declaration has tenants. Move all of them, or one: resourced tenants move --help')
  }
  const schema = schemaOf(catalog)
  // A trigger that somebody added to the source would run when maintenance begins.
  await checkMoveSource(source)
  const { maintenance, close } = await openMaintenance(source)
  const interrupted = interruption()
  const progress = showProgress({ title: 'Moving', unit: 'rows written and read back' })
  let begun = false
  try {
    await mustFit(source, catalog)
    const started = performance.now()
    const { fill } = await administer({ database: to, databaseUnsafe, option: '--to' })
    const moved = await fill(schema, async (target) => {
      begun = await beginMaintenance(maintenance)
      progress.say(begun ? 'The source is under maintenance now.' : 'The source was under maintenance already.')
      return await move(source, target, { schema, progress, signal: interrupted.signal })
    })
    progress.end()
    for (const line of summary(moved, (performance.now() - started) / 1_000, { from, to, catalog })) progress.say(line)
  } catch (error) {
    progress.end()
    if (begun) await maintenance.end()
    const state = begun ? ' Maintenance of the source is off again.' : ''
    if (!interrupted.signal.aborted) {
      if (begun) progress.say(`Nothing was moved.${state}`)
      throw error
    }
    progress.say(`Interrupted. Nothing was moved.${state}`)
    process.exitCode = 130
  } finally {
    interrupted.stop()
    await close()
  }
}

/** @throws ConfigurationError where the declaration is not the one that a database was made for */
async function mustFit(source: DatabaseOptions, catalog: Catalog): Promise<void> {
  const { migrate } = await administer(source)
  const { steps } = await migrate(catalog, 'never')
  if (steps.length === 0) return
  const place = withoutCredentials(source.database)
  const remedy = 'Name the declaration that its servers have with --declaration, or bring it up to date first.'
  throw new ConfigurationError(`${place} does not fit the declaration:\n${formatSteps(steps)}\n${remedy}`)
}

async function beginMaintenance(maintenance: MaintenanceStore): Promise<boolean> {
  // A message that clients already get stays.
  if ((await maintenance.read()) !== undefined) return false
  const { before } = await maintenance.begin({ since: new Date().toISOString(), message, retryAfter: 60 })
  return before === undefined
}

interface Moving {
  readonly schema: StoredSchema
  readonly progress: Progress
  readonly signal: AbortSignal
}

async function move(from: DatabaseOptions, target: MoveTarget, { schema, progress, signal }: Moving): Promise<Moved> {
  const { openSource } = await administer(from)
  const source = await openSource()
  try {
    const seen = await untilQuiet(source, signal)
    await source.begin()
    const expected = 2 * (await expectedRows(source))
    let done = 0
    const moved = await moveAll(source, target, {
      ...{ schema, signal, now: Date.now() },
      onRows(count) {
        done += count
        progress.update(done, Math.min(done / Math.max(expected, done), 1))
      },
      onIndexes: () => progress.say('All rows are written. Building the indexes.'),
    })
    if ((await fingerprint(source.now)) === seen) return moved
    throw new ConfigurationError(`The source has changed meanwhile. ${whoWrites}`)
  } finally {
    await source.close()
  }
}

const whoWrites = 'End other programs that write to it, such as an import, then move again.'

/** Waits until the source stops changing, and returns its last fingerprint. */
async function untilQuiet(source: MoveSource, signal: AbortSignal): Promise<string> {
  const started = performance.now()
  let seen = await fingerprint(source.now)
  for (let since = started; performance.now() - since < quiet; ) {
    await sleep(100, undefined, { signal })
    const now = await fingerprint(source.now)
    if (now === seen) continue
    if (performance.now() - started > patience) {
      throw new ConfigurationError(`The source keeps changing, although it is under maintenance. ${whoWrites}`)
    }
    since = performance.now()
    seen = now
  }
  return seen
}

function summary(
  { rows, files, lost, restarted }: Moved,
  seconds: number,
  { from, to, catalog }: Pick<MoveOptions, 'from' | 'to'> & { readonly catalog: Catalog },
) {
  const count = (table: string) => rows.get(table) ?? 0
  const own = [...rows].filter(([name]) => catalog.resources.has(name))
  const records = own.reduce((sum, [, each]) => sum + each, 0)
  const rate = format(Math.round(records / Math.max(seconds, 0.001)))
  const also = [
    `${format(count('api-keys'))} API keys`,
    `${format(count('jobs'))} jobs, ${format(count('resourced_work'))} of them unfinished`,
    `${format(count('resourced_idempotency'))} idempotency keys`,
    `${format(files)} files of exports`,
    ...(catalog.system.has('events')
      ? [
          `${format(count('events'))} events`,
          `${format(count('webhooks'))} webhooks`,
          `${format(count('deliveries'))} deliveries, ${format(count('resourced_deliveries'))} of them pending`,
        ]
      : []),
  ]
  return [
    `Moved ${format(records)} records in ${own.length} collections in ${seconds.toFixed(1)} s (${rate} a second).`,
    `Also moved: ${also.join('; ')}.`,
    'Every row was read back, and is the same.',
    ...lost.map((job) => `Not moved: the file of the export ${job} is missing or incomplete.`),
    ...(restarted > 0 ? [`${format(restarted)} unfinished exports begin again.`] : []),
    `Start the servers with --database ${withoutCredentials(to)}, which is not under maintenance.`,
    'The source stays under maintenance. To go on with it instead: resourced maintenance off --database ' +
      `${withoutCredentials(from)}`,
  ]
}
