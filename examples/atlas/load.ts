/**
 * Loads the atlas, whole or not at all: into a file of its own, which takes its place by one `rename` once everything is
 * on the disk. A load that was interrupted leaves nothing but that file; the next one starts anew.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { always } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { importRecords } from '../../packages/server/src/jobs/import.ts'
import type { SourceRecord } from '../../packages/server/src/jobs/source.ts'
import { openSqliteKeys } from '../../packages/server/src/storage/sqlite/administration.ts'
import { openSqlite } from '../../packages/server/src/storage/sqlite/storage.ts'
import type { Storage } from '../../packages/server/src/storage/storage.ts'
import { cityBodies, cityCount, countryBodies } from './data.ts'

const caller = { id: 'atlas', roles: [], claims: {} }

const everything = {
  kind: 'read-page',
  parent: undefined,
  filter: always,
  permitted: always,
  search: undefined,
  deleted: undefined,
  sort: [],
  fields: undefined,
  conditions: {},
} as const

/** Whether a file holds the atlas, and not keys alone. */
export function isLoaded(file: string): boolean {
  if (!existsSync(file)) return false
  const database = new DatabaseSync(file)
  try {
    return database.prepare("select 1 from sqlite_schema where name = 'cities'").get() !== undefined
  } finally {
    database.close()
  }
}

/**
 * Makes the file that holds the atlas. Keys that were made before move into it.
 *
 * @param onProgress how many cities are in, and which part of all that is
 */
export async function loadAtlas(
  file: string,
  catalog: Catalog,
  onProgress: (count: number, part: number) => void,
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  removeLeftovers(file)
  const draft = `${file}.loading-${process.pid}`
  const filling = openSqlite(catalog, { path: draft, synchronous: 'off' })
  dropIndexes(draft)
  try {
    await fill(filling, catalog, onProgress)
    await moveKeys(file, filling)
  } finally {
    await filling.close()
  }
  // Opened as usual it gets its indexes.
  await openSqlite(catalog, { path: draft }).close()
  sync(draft)
  if (isLoaded(file)) {
    // Another start was faster, and may be serving its file.
    remove(draft)
    return
  }
  // Whoever may read the file that is replaced may read this one.
  if (existsSync(file)) chmodSync(draft, statSync(file).mode & 0o777)
  remove(file)
  renameSync(draft, file)
  sync(dirname(file))
}

/** Drops the indexes that are not unique: to create them afterwards takes less time than to change them each time. */
function dropIndexes(file: string): void {
  const database = new DatabaseSync(file)
  const found = database.prepare("select name from sqlite_schema where type = 'index' and sql like 'create index %'")
  for (const { name } of found.all()) database.exec(`drop index "${name}"`)
  database.close()
}

/**
 * Puts the atlas into a database: what an earlier call has begun, it goes on with. Countries and cities come in their order, and
 * whatever is counted is kept.
 *
 * @param onProgress how many cities are in, and which part of all that is
 */
export async function fill(
  storage: Storage,
  catalog: Catalog,
  onProgress: (count: number, part: number) => void,
): Promise<void> {
  const countries = catalog.resources.get('countries') as Resource
  const cities = catalog.resources.get('cities') as Resource
  await load(storage, countries, countryBodies())
  const bodies = cityBodies(await idsByCode(storage, countries))
  await load(storage, cities, bodies, (count) => onProgress(count, Math.min(count / cityCount, 1)))
}

async function load(
  storage: Storage,
  resource: Resource,
  bodies: Iterable<unknown>,
  onImported: (count: number) => void = () => {},
): Promise<void> {
  const problems: unknown[] = []
  const before = await countOf(storage, resource)
  const { stopped } = await importRecords({
    storage,
    resource,
    records: numbered(bodies, before),
    caller,
    onProgress: ({ imported }) => onImported(before + imported),
    onProblem: (problem) => problems.push(problem),
  })
  if (stopped) throw new Error(`The data of ${resource.name} does not fit its declaration: ${JSON.stringify(problems)}`)
}

async function* numbered(bodies: Iterable<unknown>, skipped: number): AsyncGenerator<SourceRecord> {
  let line = 0
  for (const value of bodies) if (++line > skipped) yield { line, value, size: 0 }
}

async function countOf(storage: Storage, resource: Resource): Promise<number> {
  const outcome = await storage.run({ ...everything, resource, page: { style: 'offset', offset: 0, limit: 1 } })
  if (outcome.kind !== 'page') throw new Error(`The ${resource.name} cannot be counted: ${outcome.kind}.`)
  return outcome.total
}

async function idsByCode(storage: Storage, countries: Resource): Promise<Map<string, string>> {
  const outcome = await storage.run({
    ...everything,
    resource: countries,
    sort: [{ field: 'code', descending: false }],
    page: { style: 'offset', offset: 0, limit: 1_000 },
    fields: ['code'],
  })
  if (outcome.kind !== 'page') throw new Error(`The countries cannot be read: ${outcome.kind}.`)
  const records = JSON.parse(`[${outcome.json}]`) as { readonly id: string; readonly code: string }[]
  return new Map(records.map(({ code, id }) => [code, id]))
}

async function moveKeys(file: string, storage: Storage): Promise<void> {
  if (!existsSync(file)) return
  const { keys, close } = openSqliteKeys(file)
  try {
    for (const key of await keys.list()) await storage.keys.add(key)
  } finally {
    await close()
  }
}

/** Removes what loads left behind that were killed. */
function removeLeftovers(file: string): void {
  const prefix = `${basename(file)}.loading-`
  for (const name of readdirSync(dirname(file))) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN
    if (!Number.isNaN(pid) && (pid === process.pid || !isRunning(pid))) rmSync(join(dirname(file), name))
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Someone else's process is one too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function remove(file: string): void {
  for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true })
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
