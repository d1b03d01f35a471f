/** `resourced import COLLECTION FILE`: imports records, shows progress and reports refused records. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Imported, type ImportProblem, importRecords } from '../jobs/import.ts'
import { type Format, formatOf, readRecords } from '../jobs/read-records.ts'
import type { Bytes, SourceRecord, UnreadableRecord } from '../jobs/source.ts'
import { withoutCredentials } from '../model/credentials.ts'
import { suggest } from '../model/nearest.ts'
import { deepFreeze } from '../model/plain-copy.ts'
import type { Catalog, Resource } from '../model/resource.ts'
import { isInMemory } from '../server/database-address.ts'
import { hasTables, openStorage, placeOf } from '../server/open-database.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import { databaseOf, type GivenDatabase } from './command-line.ts'
import { loadCatalog } from './load-declaration.ts'
import { format, interruption, type Progress, showProgress } from './terminal.ts'

interface Options extends GivenDatabase {
  readonly format?: Format
  readonly skipInvalid?: boolean
  readonly subject: string
  readonly declaration?: string
}

/**
 * Imports a file into a collection; `-` is standard input. The exit code is 1 if a record was refused, and 130 if the
 * import was interrupted. Every counted record is durable. The first Ctrl-C still imports what has been read.
 */
export async function importCommand(collection: string, file: string, options: Options): Promise<void> {
  const catalog = await loadCatalog(options.declaration)
  const resource = resourceOf(catalog, collection)
  const kind = options.format ?? formatOf(file)
  if (kind === undefined) throw new ConfigurationError(`Say what ${nameOf(file)} holds: --format json, ndjson or csv.`)
  const database = databaseOf(options)
  if (isInMemory(database.database)) {
    throw new ConfigurationError('A database in memory would be gone when the import ends: use sqlite:FILE.')
  }
  const { bytes, read, size } = await open(file)
  const isNew = !(await hasTables(database))
  const progress = showProgress({ title: `Importing ${collection}`, unit: 'records' })
  const interrupted = interruption()
  const records = readRecords(until(interrupted.signal, bytes), kind, resource, { mostBytes: catalog.limits.bodyBytes })
  // Before the database is opened: input that cannot be read creates none.
  const first = await records.next()
  if (!interrupted.signal.aborted && first.done !== true && stops(first.value, options)) {
    report(progress, first.value)
    const stopped = { imported: 0, skipped: 1, line: 0, stopped: true }
    for (const line of summary(stopped, { collection, seconds: 0, interrupted: false })) progress.say(line)
    process.exitCode = 1
    await records.return(undefined)
    return
  }
  const storage = await openStorage(database, catalog)
  if (isNew) progress.say(`Made a new database at ${placeOf(database)}: there was none.`)
  const started = performance.now()
  let last: Imported = { imported: 0, skipped: 0, line: 0, stopped: false }
  try {
    last = await importRecords({
      storage,
      resource,
      records: whole(interrupted.signal, first, records),
      caller: deepFreeze({ id: options.subject, roles: [], claims: {} }),
      skipInvalid: options.skipInvalid,
      onProgress(now) {
        last = { ...now, stopped: false }
        progress.update(now.imported, size === undefined ? undefined : read() / size)
      },
      onProblem: (problem) => report(progress, problem),
    })
  } catch (error) {
    progress.say(`The import failed. ${whatIsIn(last.imported, last.line)}`)
    throw error
  } finally {
    progress.end()
    interrupted.stop()
    await storage.close()
  }
  const seconds = (performance.now() - started) / 1_000
  for (const line of summary(last, { collection, seconds, interrupted: interrupted.signal.aborted })) progress.say(line)
  if (interrupted.signal.aborted) {
    process.exitCode = 130
    process.stdin.destroy()
  } else if (last.skipped > 0) process.exitCode = 1
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
function stops(record: SourceRecord, { skipInvalid = false }: Options): record is UnreadableRecord {
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

function report(progress: Progress, { line, issues }: ImportProblem): void {
  for (const { code, message, pointer } of issues) {
    const place = pointer === undefined || pointer === '' ? '' : ` ${pointer}`
    progress.say(withoutCredentials(`line ${line}: ${code}${place}: ${message}`))
  }
}

interface Ending {
  readonly collection: string
  readonly seconds: number
  readonly interrupted: boolean
}

function summary(
  { imported, skipped, line, stopped }: Imported,
  { collection, seconds, interrupted }: Ending,
): string[] {
  const count = `${records(imported)} into ${collection} in ${seconds.toFixed(1)} s`
  if (stopped) {
    const remedy =
      imported === 0
        ? 'Correct the line above and start again, or leave out what is invalid with --skip-invalid.'
        : 'Correct the line above, and import the file from there on: what is in would be imported a second time.'
    return [`Stopped. ${whatIsIn(imported, line)}`, remedy]
  }
  if (interrupted) return [`Interrupted. ${whatIsIn(imported, line)}`]
  if (skipped > 0) return [`Imported ${count}; left out ${records(skipped)}, for the reasons above.`]
  return [`Imported ${count}.`]
}

function whatIsIn(imported: number, line: number): string {
  if (imported === 0) return 'Nothing is imported.'
  return (
    `${records(imported)} ${imported === 1 ? 'is' : 'are'} in, the last one from line ${line}; nothing after it ` +
    'is.'
  )
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file
}

function records(count: number): string {
  return count === 1 ? '1 record' : `${format(count)} records`
}
