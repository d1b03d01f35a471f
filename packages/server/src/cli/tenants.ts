/** `resourced tenants list | create | export | import | move | migrate`: tenants on the command line (TEN-3, TEN-4). */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { counted, interruption, print, showProgress } from 'resourced-check/terminal'
import type { Catalog } from 'resourced-contract/model/resource'
import { isTenantName, longestTenantName, operatorsOf } from 'resourced-contract/model/tenants'
import { withoutCredentials } from 'resourced-contract/model/text'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { uuidv7 } from 'uuidv7'
import {
  administer,
  backUpDatabase,
  checkBackup,
  type DatabaseOptions,
  openKeys,
  restoreDatabase,
} from '../server/open-database.ts'
import type { LongWork, OpenKeys } from '../storage/administration/administration.ts'
import { formatSteps, MigrationRefused } from '../storage/migration/migration-step.ts'
import type { ListedTenant, TenantEntry, TenantStore } from '../storage/storage.ts'
import { backupCommand, runVisibly, type Work } from './backup.ts'
import { listed } from './doctor/tenants.ts'
import { endOfHold, holding, takeOver } from './held-tenant.ts'
import { tableOf } from './keys.ts'
import { loadCatalog } from './load-declaration.ts'
import type { MoveOptions } from './move.ts'
import { type Operators, tenantNamed, withOperators } from './open-operators.ts'

interface DeclaredOptions extends DatabaseOptions {
  readonly declaration?: string
}

/** Lists the tenants, deleted ones too. */
export async function printTenants(options: DatabaseOptions & { readonly json?: boolean }): Promise<void> {
  const [tenants, maintenance] = await withOperators(options, ({ registry }) =>
    Promise.all([registry.list(), registry.maintenance()]),
  )
  const shown = tenants.map(({ schemaHash: _hash, wakesAt: _time, ...tenant }) => ({
    ...tenant,
    maintenance: maintenance.get(tenant.id) ?? null,
  }))
  if (options.json === true) {
    print(`${JSON.stringify(shown, null, 2)}\n`)
    return
  }
  const rows = tenants.map(({ id, name, state, bytes, created_at }) => [
    ...[JSON.stringify(name), id, maintenance.has(id) ? `${state}, maintenance` : state],
    ...[bytes === null ? '-' : String(bytes), created_at],
  ])
  print(tableOf([['NAME', 'ID', 'STATE', 'BYTES', 'CREATED'], ...rows]))
}

/** Creates a tenant, and prints its id. Its database is made when it is first used. */
export async function createTenant(name: string, options: DeclaredOptions): Promise<void> {
  const { id } = await withOperatorsOf(options, (operators) => add(operators, name, 'active'))
  print(`${id}\n`)
}

/** Writes a consistent copy of a tenant to a file, or one of each tenant to a folder, while servers use them. */
export async function exportTenant(
  name: string | undefined,
  file: string | undefined,
  { all, ...database }: DatabaseOptions & { readonly all?: string },
): Promise<void> {
  if (all !== undefined && name === undefined) return exportAll(all, database)
  if (all !== undefined || name === undefined || file === undefined) {
    throw new UsageError('Name a tenant and a file, or a folder for all of them: --all FOLDER.')
  }
  const tenant = await withOperators(database, (operators) => requireUsed(operators, name))
  await backupCommand(file, { ...database, tenant: tenant.id })
}

/** Each file is complete, or not there: a command that is repeated makes those that are missing. */
async function exportAll(folder: string, database: DatabaseOptions): Promise<void> {
  await runVisibly('Files that are there are complete; repeat the command for the others.', (work) =>
    withOperators(database, async (operators) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const used = await listUsed(operators)
      const missing = used.filter(({ id }) => !existsSync(join(folder, `${id}.backup`)))
      for (const { id } of missing) {
        await backUpDatabase({ ...database, tenant: id }, join(folder, `${id}.backup`), { ...work, now: Date.now() })
      }
      const others = used.length - missing.length
      return [
        `Copied ${counted(missing.length, 'tenant')} to ${folder}.`,
        ...(others > 0 ? [`Files that were there before, and stay as they are: ${others}.`] : []),
      ]
    }),
  )
}

/** The tenants that have a database: servers have opened it, or commands have filled it with keys or records. */
async function listUsed({ host, registry }: Operators): Promise<readonly ListedTenant[]> {
  const databases = new Set((await host.databases()).map(({ tenant }) => tenant))
  const used: ListedTenant[] = []
  for (const tenant of await registry.list()) {
    const { id, state, schemaHash } = tenant
    if (state !== 'active') continue
    if (schemaHash !== null || (databases.has(id) && (await host.administer(id).hasTables()))) used.push(tenant)
  }
  return used
}

/**
 * Makes a tenant of a backup: of a tenant, or of a database without tenants. Its callers are served once it is whole. A
 * tenant whose import was interrupted is imported from the beginning.
 */
export async function importTenant(name: string, file: string, options: DeclaredOptions): Promise<void> {
  await runVisibly(`The tenant ${JSON.stringify(name)} is not served; repeat the command.`, async (work) => {
    // The wrong file makes no tenant.
    await checkBackup(file, work)
    const { records, id, taken } = await withOperatorsOf(options, (operators) =>
      fill(operators, name, { file, work: { ...work, renewsSecrets: true } }),
    )
    return [
      `Imported ${counted(records, 'record')} into the tenant ${JSON.stringify(name)}: ${id}. It is served now.`,
      ...(taken > 0 ? [`Keys of the backup that lead to another tenant, and were revoked here: ${taken}.`] : []),
    ]
  })
}

/** For so long servers may have a tenant open that is no longer served, in milliseconds. */
const untilClosed = 3_000

/**
 * Moves a tenant, or all of them, to another database, of the same engine or another. Each is away meanwhile. What was
 * interrupted goes on when the command is repeated.
 */
export async function moveTenants(name: string | undefined, options: MoveOptions): Promise<void> {
  const { from, to, declaration, databaseUnsafe } = options
  const catalog = operatorsIn(await loadCatalog(declaration))
  const source: DatabaseOptions = { database: from, option: '--from' }
  await runVisibly('What was not moved is served as before.', (work) =>
    withOperators(source, (origin) =>
      withOperators(
        { database: to, option: '--to', databaseUnsafe },
        async (target) => {
          const states = ['active', 'moving'] as const
          const all = name === undefined ? await origin.registry.list() : [await tenantNamed(origin, name, states)]
          const moved: TenantEntry[] = []
          for (const tenant of all.filter(({ state }) => states.some((each) => each === state))) {
            if (name === undefined && (await isMoved(target, tenant))) continue
            if (await moveTenant(origin, target, tenant, work)) moved.push(tenant)
          }
          return [
            `Moved ${counted(moved.length, 'tenant')} to ${withoutCredentials(to)}. Its servers serve what was moved.`,
            'In the source they have the state moving: delete them there with DELETE /tenants/{id}.',
          ]
        },
        catalog,
      ),
    ),
  )
}

/**
 * Moves a tenant.
 *
 * @returns whether it was still to be moved
 */
export async function moveTenant(
  origin: Operators,
  target: Operators,
  tenant: TenantEntry,
  work: Work,
): Promise<boolean> {
  const { id, name } = tenant
  const until = await beginMove(origin, target, tenant, work.signal)
  if (until === undefined) return false
  const folder = await mkdtemp(join(tmpdir(), 'resourced-move-'))
  try {
    return await holding(origin.registry, { id, name, until }, work.signal, async ({ signal, renew, release }) => {
      let filled: string | undefined
      try {
        await sleep(untilClosed, undefined, { signal })
        const { changesEnded, hasTables } = origin.host.administer(id)
        // A change that was let in before may run for longer.
        await changesEnded()
        if (await hasTables()) {
          const own = { ...work, signal }
          const file = join(folder, 'tenant.db')
          await backUpDatabase({ ...origin.database, tenant: id }, file, own)
          await fill(target, name, { file, work: own, begun: (place) => (filled = place), beforeUse: release })
        } else {
          await release()
          filled = uuidv7()
          await add(target, name, 'active', { id: filled })
        }
      } catch (error) {
        // What is served in the target, although its answer was lost, must not be served here too.
        if (filled !== undefined && (await target.registry.get(filled))?.state === 'active') return true
        const isHeld = await renew().then(
          () => true,
          () => false,
        )
        if (isHeld) await origin.registry.activate(id, Date.now())
        throw error
      }
      return true
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Whether the move of a tenant has come to its end: to another target, which may have changed it since, or to this one.
 * Only where this one did not let its callers in yet, the move was interrupted just before that.
 */
async function isMoved({ registry }: Operators, { state, name, wakesAt }: TenantEntry): Promise<boolean> {
  return state === 'moving' && wakesAt === null && (await registry.find(name))?.state !== 'importing'
}

/**
 * Takes a tenant from its servers, or goes on where another command was interrupted. One that is at work has the
 * tenant until it has ended.
 *
 * @returns until when this command holds the tenant; `undefined`: it was moved before
 */
async function beginMove(
  origin: Operators,
  target: Operators,
  { id, name }: TenantEntry,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (;;) {
    const found = await origin.registry.get(id)
    const there = await target.registry.find(name)
    if (there?.id === id) throw new ConfigurationError('--from and --to name the same database.')
    if (found?.state === 'active') {
      if (there !== undefined && there.state !== 'importing') throw takenName(name, there)
      const until = endOfHold()
      if (await origin.registry.beginMove(id, Date.now(), until)) return until
    } else if (found?.state === 'moving') {
      if (there?.state === 'active') return undefined
      if (await isMoved(target, found)) {
        const remedy = 'Move it from there, or repeat the command with the --to of that move if it was interrupted.'
        throw new ConfigurationError(`${name} was moved to another database. ${remedy}`)
      }
      // The command that has ended this hold may be about to let callers in there, which it holds until then.
      if (found.wakesAt === null && (there?.wakesAt ?? 0) > Date.now()) {
        await sleep(500, undefined, { signal })
        continue
      }
      const until = await takeOver(origin.registry, found, signal)
      if (until !== undefined) return until
    } else throw new ConfigurationError(`${name} is not served any more.`)
  }
}

/**
 * Shows the schema changes that tenants need, or applies them, tenant by tenant. What is interrupted goes on when the
 * command is repeated: a tenant that is migrated needs nothing.
 */
export async function migrateTenants(
  file: string | undefined,
  options: DatabaseOptions & { readonly apply?: boolean },
) {
  const catalog = await loadCatalog(file)
  operatorsIn(catalog)
  const { apply = false } = options
  const interrupted = interruption()
  try {
    await withOperators(options, (operators) => migrateAll(operators, catalog, { apply, signal: interrupted.signal }))
  } finally {
    interrupted.stop()
  }
}

async function migrateAll(
  { host, registry }: Operators,
  catalog: Catalog,
  { apply, signal }: Pick<LongWork, 'signal'> & { readonly apply: boolean },
): Promise<void> {
  const hash = host.hashOf(catalog)
  const isOutdated = ({ schemaHash, deleted_at }: ListedTenant) =>
    schemaHash !== null && schemaHash !== hash && deleted_at === null
  const outdated = (await registry.list()).filter(isOutdated)
  const progress = showProgress({ title: 'Migrating', unit: 'tenants' })
  /** The tenants by what has to be done, or is wrong; what was imported can need nothing. */
  const found = new Map<string, ListedTenant[]>()
  let refused = 0
  try {
    for (const [index, tenant] of outdated.entries()) {
      const { id } = tenant
      if (signal.aborted) break
      const { said, isDone, isRefused } = await migrateOne(host.administer(id), catalog, apply)
      if (said !== '') found.set(said, [...(found.get(said) ?? []), tenant])
      if (isDone) await registry.keepHash(id, hash)
      if (isRefused) refused++
      progress.update(index + 1, (index + 1) / outdated.length)
    }
  } finally {
    progress.end()
  }
  for (const [said, tenants] of found) print(`${listed(tenants)}:\n${said}\n`)
  if (signal.aborted) process.exitCode = 130
  else if (refused > 0) process.exitCode = 1
  const advice = apply ? 'Done.' : 'To make these changes, repeat the command with --apply.'
  if (found.size === 0 && !signal.aborted) print('All tenants fit the declaration: nothing to do.\n')
  else if (refused > 0) print(`${counted(refused, 'tenant')} cannot be migrated as the lines marked x say.\n`)
  else print(signal.aborted ? 'Interrupted. Repeat the command to go on.\n' : `${advice}\n`)
}

async function migrateOne(tenant: Awaited<ReturnType<typeof administer>>, catalog: Catalog, apply: boolean) {
  try {
    const { steps, applied } = await tenant.migrate(catalog, apply ? 'all' : 'never')
    return {
      said: formatSteps(steps),
      isDone: applied || steps.length === 0,
      isRefused: steps.some(({ impossible }) => impossible),
    }
  } catch (error) {
    if (!(error instanceof MigrationRefused)) throw error
    return { said: formatSteps(error.steps), isDone: false, isRefused: true }
  }
}

interface Filling {
  /** The backup. */
  readonly file: string
  readonly work: Parameters<typeof restoreDatabase>[2]
  /** Called with the id of the tenant. */
  begun?(id: string): void
  /** Called before its callers are let in. */
  beforeUse?(): Promise<void>
}

/** Fills a tenant with a backup, and lets its callers in. */
async function fill(operators: Operators, name: string, { file, work, begun, beforeUse }: Filling) {
  const { database, host, registry } = operators
  const { id, until } = await beginImport(operators, name, work.signal)
  begun?.(id)
  return await holding(registry, { id, name, until }, work.signal, async ({ signal, renew }) => {
    // What an interrupted import has left.
    await registry.dropKeys(id)
    await host.remove(id)
    const tenant = { ...database, tenant: id }
    const { description } = await restoreDatabase(file, tenant, { ...work, signal })
    const taken = await enterKeys(registry, id, await openKeys(tenant))
    await beforeUse?.()
    await renew()
    await registry.activate(id, Date.now())
    const records = Object.entries(description.records).filter(([kind]) => kind !== 'jobs' && kind !== 'api-keys')
    return { id, taken, records: records.reduce((sum, [, count]) => sum + count, 0) }
  })
}

/** Creates a tenant to fill, or takes one whose import was interrupted. An import that runs keeps it until its end. */
async function beginImport(operators: Operators, name: string, signal: AbortSignal) {
  for (;;) {
    const found = await operators.registry.find(name)
    if (found?.state !== 'importing') {
      const until = endOfHold()
      return { ...(await add(operators, name, 'importing', { until })), until }
    }
    const until = await takeOver(operators.registry, found, signal)
    if (until !== undefined) return { ...found, until }
  }
}

/**
 * Lets the keys of a backup lead to their tenant. A key leads to one tenant only: those of another are revoked here.
 *
 * @returns how many were
 */
async function enterKeys(registry: TenantStore, tenant: string, { keys, close }: OpenKeys): Promise<number> {
  let taken = 0
  try {
    for (const { id, hash } of await keys.list()) {
      const owner = await registry.tenantOfKey(hash)
      if (owner === undefined) await registry.addKey(hash, tenant)
      else if (owner.id !== tenant) {
        await keys.revoke(id, new Date().toISOString())
        taken++
      }
    }
    return taken
  } finally {
    await close()
  }
}

/** @param given `until`: when the hold of this command ends; left out: it needs none */
async function add(
  { registry }: Operators,
  name: string,
  state: 'active' | 'importing',
  { id = uuidv7(), until = null }: { readonly id?: string; readonly until?: number | null } = {},
): Promise<TenantEntry> {
  if (!isTenantName(name)) {
    throw new UsageError(
      `A tenant has a name of 1 to ${longestTenantName} characters, none of them a control character.`,
    )
  }
  const most = Number.MAX_SAFE_INTEGER
  const made = await registry.create({ id, name, state, wakesAt: until, most, now: Date.now() })
  if (made?.id === id) return made
  throw takenName(name, made)
}

function takenName(name: string, by: TenantEntry | undefined): ConfigurationError {
  const remedy = by?.state === 'deleted' ? 'Restore it, or choose another name until it is removed.' : 'Choose another.'
  return new ConfigurationError(`The name ${JSON.stringify(name)} is taken by a tenant. ${remedy}`)
}

/** @throws ConfigurationError where a tenant has no database yet */
async function requireUsed(operators: Operators, name: string): Promise<TenantEntry> {
  const tenant = await tenantNamed(operators, name)
  const { hasTables } = operators.host.administer(tenant.id)
  if (await hasTables()) return tenant
  throw new ConfigurationError(`The tenant ${JSON.stringify(name)} has no database yet: nobody has used it.`)
}

/** Works on the tenants of a database, which is made for the declaration if it is new. */
async function withOperatorsOf<T>(options: DeclaredOptions, use: (operators: Operators) => Promise<T>): Promise<T> {
  const { declaration, ...database } = options
  const { hasTables } = await administer(database)
  const isNew = declaration !== undefined || !(await hasTables())
  return withOperators(database, use, isNew ? operatorsIn(await loadCatalog(declaration)) : undefined)
}

/** @throws ConfigurationError where a declaration has no tenants */
function operatorsIn(catalog: Catalog): Catalog {
  const operators = operatorsOf(catalog)
  if (operators !== undefined) return operators
  const example = "tenants: { caller: 'claims.team' }"
  throw new ConfigurationError(`The declaration has no tenants. Declare which claim names them, such as ${example}.`)
}
