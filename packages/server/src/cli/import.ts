/** `resourced import COLLECTION FILE`: imports records, shows progress and reports refused records. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { counted, interruption, type Progress, showProgress } from 'resourced-check/terminal'
import { suggest } from 'resourced-contract/model/nearest'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { Columns, type ImportMap } from '../jobs/column-map.ts'
import { type Imported, importRecords } from '../jobs/import.ts'
import { type FileKeys, keysOf, withKeys } from '../jobs/import-keys.ts'
import { formatOf, readRecords } from '../jobs/read-records.ts'
import type { Bytes, SourceRecord, UnreadableRecord } from '../jobs/source.ts'
import { isElsewhere, isInMemory } from '../server/database-address.ts'
import { administer, placeOf } from '../server/open-database.ts'
import type { Storage } from '../storage/storage.ts'
import { callerOf, type ImportCommand, type ImportOptions, ImportReport } from './import-report.ts'
import { loadCatalog } from './load-declaration.ts'
import { loadMap } from './load-map.ts'
import { databaseOfTenant, openToImport } from './open-operators.ts'
import { runStaged } from './run-staged-import.ts'

/**
 * Imports a file into a collection; `-` is standard input. The exit code is 1 if a record was refused, and 130 if the
 * import was interrupted. Every counted record is durable. The first Ctrl-C still imports what has been read.
 */
export async function importCommand(
  collection: string | undefined,
  file: string | undefined,
  options: ImportOptions,
): Promise<void> {
  if (options.allOrNothing === true && options.skipInvalid === true) {
    throw new UsageError('--all-or-nothing and --skip-invalid contradict each other. Use one of them.')
  }
  const catalog = await loadCatalog(options.declaration)
  if (isInMemory(options.database)) {
    throw new ConfigurationError('A database in memory would be gone when the import ends: use sqlite:FILE.')
  }
  const { tenant, ...database } = options
  if ((tenant === undefined) !== (catalog.tenants === undefined)) {
    const owner = 'The declaration has tenants: say whose records these are with --tenant NAME.'
    throw new UsageError(tenant === undefined ? owner : 'The declaration has no tenants: leave --tenant out.')
  }
  const command = {
    ...{ catalog, options },
    database: await databaseOfTenant(database, tenant),
  }
  if (options.from !== undefined) {
    if (file !== undefined) throw new UsageError('Name a file, or a database with --from, not both.')
    await (await import('./import-tables.ts')).importTables(command, collection)
  } else if (collection === undefined || file === undefined) {
    throw new UsageError('Write resourced import COLLECTION FILE, or resourced import --from postgres://….')
  } else await importFile(command, resourceOf(catalog, collection), file)
}

async function importFile(command: ImportCommand, resource: Resource, file: string): Promise<void> {
  const { catalog, database, options } = command
  const kind = options.format ?? formatOf(file)
  if (kind === undefined) throw new ConfigurationError(`Say what ${nameOf(file)} holds: --format json, ndjson or csv.`)
  const map = await loadMap(options, resource)
  const keys = keysOf(catalog, resource, map.key, map.referenceKeys)
  const { bytes, read, size } = await open(file)
  const { hasTables } = await administer(database)
  const isNew = !(await hasTables())
  const progress = showProgress({ title: `Importing ${resource.name}`, unit: 'records' })
  const interrupted = interruption()
  const columns = new Columns(resource, map)
  const records = readRecords(until(interrupted.signal, bytes), kind, columns, readOptions(catalog, map))
  // Before the database is opened: input that cannot be read creates none.
  const first = await records.next()
  const report = new ImportReport(progress, columns)
  const isStaged = keys.spaces.length > 0 || options.allOrNothing === true
  // A staged import reads everything before it stops, to report everything that is wrong.
  const skipInvalid = isStaged || options.skipInvalid === true
  if (!interrupted.signal.aborted && first.done !== true && stops(first.value, { skipInvalid })) {
    report.add(first.value)
    const stopped = { imported: 0, skipped: 1, line: 0, stopped: true }
    const isUnreadable = first.value.final === true
    const ending = { collection: resource.name, seconds: 0, interrupted: false, isUnreadable }
    for (const line of summary(stopped, ending)) progress.say(line)
    process.exitCode = 1
    await records.return(undefined)
    return
  }
  const storage = await openToImport(database, catalog)
  if (isNew) progress.say(`Made a new database at ${placeOf(database)}: there was none.`)
  const source: FileSource = {
    ...{ resource, keys, report, progress, interrupted, options, storage },
    records: whole(interrupted.signal, first, records),
    part: () => (size === undefined ? undefined : read() / size),
  }
  try {
    await (isStaged ? importByKeys(source, isNew) : importInOrder(source))
  } finally {
    progress.end()
    interrupted.stop()
    await storage.close()
  }
  report.end()
  if (columns.unknown.size > 0)
    progress.say(`Left out, because they are no fields: ${[...columns.unknown].join(', ')}.`)
  if (columns.replaced.size > 0)
    progress.say(`Left out, because the map gives their fields to other columns: ${[...columns.replaced].join(', ')}.`)
  if (interrupted.signal.aborted) process.stdin.destroy()
}

/** A file that is being imported. */
interface FileSource {
  readonly storage: Storage
  readonly resource: Resource
  readonly records: AsyncIterable<SourceRecord>
  readonly keys: FileKeys
  readonly options: ImportOptions
  readonly progress: Progress
  readonly report: ImportReport
  readonly interrupted: ReturnType<typeof interruption>
  /** The part that has been read, from 0 to 1; `undefined`: the size of the file is not known. */
  readonly part: () => number | undefined
}

async function importInOrder(source: FileSource): Promise<void> {
  const { storage, resource, records, options, progress, report, interrupted, part } = source
  const started = performance.now()
  let last: Imported = { imported: 0, skipped: 0, line: 0, stopped: false }
  try {
    last = await importRecords({
      storage,
      resource,
      records,
      caller: callerOf(options),
      skipInvalid: options.skipInvalid,
      onProgress(now) {
        last = { ...now, stopped: false }
        progress.update(now.imported, part())
      },
      onProblem: (problem) => report.add(problem),
    })
  } catch (error) {
    progress.say(`The import failed. ${whatIsIn(last.imported, last.line)}`)
    throw error
  }
  progress.end()
  const seconds = (performance.now() - started) / 1_000
  const ending = { collection: resource.name, seconds, interrupted: interrupted.signal.aborted }
  report.end()
  for (const line of summary(last, ending)) progress.say(line)
  if (interrupted.signal.aborted) process.exitCode = 130
  else if (last.skipped > 0) process.exitCode = 1
}

async function importByKeys(source: FileSource, isNew: boolean): Promise<void> {
  const { storage, resource, records, keys, options, progress, report, interrupted, part } = source
  await runStaged({
    ...{ storage, progress, report, interrupted, isNew, part },
    rows: withKeys(records, keys),
    resources: [resource],
    spaces: keys.spaces,
    caller: callerOf(options),
    skipInvalid: options.skipInvalid === true,
    isWhole: options.allOrNothing === true,
    isResumable: keys.own !== undefined,
    isElsewhere: isElsewhere(options.database),
  })
}

function readOptions({ limits }: Catalog, { delimiter, encoding }: ImportMap) {
  return { mostBytes: limits.bodyBytes, delimiter, encoding }
}
function resourceOf(catalog: Catalog, collection: string): Resource {
  const resource = catalog.resources.get(collection)
  if (resource !== undefined) return resource
  const remedy = suggest(collection, catalog.resources.keys())
  throw new ConfigurationError(`There is no collection ${JSON.stringify(collection)}. ${remedy}`)
}

/** A file's bytes, how many of them have been read, and their number if it is known. */
async function open(file: string): Promise<{ bytes: Bytes; read: () => number; size: number | undefined }> {
  let read = 0
  // A file is opened when its first record is read: a stream that nobody reads yet could only throw its error.
  async function* counted(source: () => Bytes): AsyncGenerator<Uint8Array> {
    for await (const chunk of source()) {
      read += chunk.length
      yield chunk
    }
  }
  if (file === '-') return { bytes: counted(() => process.stdin), read: () => read, size: undefined }
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) throw new ConfigurationError(`There is no file ${file}.`)
  if (found.isDirectory()) throw new ConfigurationError(`${file} is a folder, not a file.`)
  // A pipe has no size.
  const size = found.isFile() && found.size > 0 ? found.size : undefined
  return { bytes: counted(() => createReadStream(file, { highWaterMark: 262_144 })), read: () => read, size }
}

/** The chunks of a source until the signal, even while it waits for a chunk: standard input may never have data. */
async function* until(signal: AbortSignal, source: Bytes): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  while (!signal.aborted) {
    const next = await new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
      const abort = () => resolve(undefined)
      signal.addEventListener('abort', abort)
      chunks
        .next()
        .finally(() => signal.removeEventListener('abort', abort))
        .then(resolve, reject)
    })
    if (next === undefined || next.done === true) return
    yield next.value
  }
}

/** Whether an import ends at this record, because it cannot be read. */
function stops(record: SourceRecord, { skipInvalid }: { readonly skipInvalid: boolean }): record is UnreadableRecord {
  return 'issues' in record && (!skipInvalid || record.final === true)
}

/** The first record and those after it until the signal, without the one that was cut off. */
async function* whole(
  signal: AbortSignal,
  first: IteratorResult<SourceRecord>,
  others: AsyncIterable<SourceRecord>,
): AsyncGenerator<SourceRecord> {
  if (first.done === true || signal.aborted) return
  yield first.value
  for await (const record of others) {
    if (signal.aborted) return
    yield record
  }
}

interface Ending {
  readonly collection: string
  readonly seconds: number
  readonly interrupted: boolean
  /** Whether nothing of the file can be read. */
  readonly isUnreadable?: boolean
}

function summary(
  { imported, skipped, line, stopped }: Imported,
  { collection, seconds, interrupted, isUnreadable = false }: Ending,
): string[] {
  const count = `${counted(imported, 'record')} into ${collection} in ${seconds.toFixed(1)} s`
  if (stopped && isUnreadable) return ['Stopped. Nothing is imported.']
  if (stopped) {
    const remedy =
      imported === 0
        ? 'Correct the line above and start again, or leave out what is invalid with --skip-invalid.'
        : 'Correct the line above, and import the file from there on: what is in would be imported a second time.'
    return [`Stopped. ${whatIsIn(imported, line)}`, remedy]
  }
  if (interrupted) return [`Interrupted. ${whatIsIn(imported, line)}`]
  if (skipped > 0) return [`Imported ${count}; left out ${counted(skipped, 'record')}, for the reasons above.`]
  return [`Imported ${count}.`]
}

function whatIsIn(imported: number, line: number): string {
  if (imported === 0) return 'Nothing is imported.'
  const are = `${counted(imported, 'record')} ${imported === 1 ? 'is' : 'are'}`
  return `${are} in, the last one from line ${line}; nothing after it is.`
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file
}
