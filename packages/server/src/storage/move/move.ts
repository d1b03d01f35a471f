/** Moves everything that a database holds into another database, and reads it back. Clients see no difference. */
import { createHash } from 'node:crypto'
import { isObject } from 'resourced-contract/model/plain-copy'
import { isRecordId } from 'resourced-contract/model/text'
import { timestamp } from 'resourced-contract/model/time'
import sql, { join, raw } from 'sql-template-tag'
import { exportsKept } from '../../plan/export-document.ts'
import { areTenantSwitches } from '../maintenance-switch.ts'
import type { StoredSchema } from '../migration/stored-schema.ts'
import { type IndexedColumns, quoted } from '../sql/columns.ts'
import { figureKey, summariesTable } from '../sql/kept-summaries.ts'
import { selectBatch } from '../sql/select-batch.ts'
import { layOut } from '../sql/system-tables.ts'
import type { ColumnSpec } from '../sql/tables.ts'
import { StorageFault } from '../storage.ts'
import { parsedJson, type Row, type Statement } from '../transaction.ts'
import { probeKey } from '../write-probe.ts'

/** A table whose rows move. */
export interface MovedTable {
  readonly name: string
  /** The columns that identify a row, by which rows come in order. */
  readonly key: readonly string[]
  readonly columns: readonly ColumnSpec[]
  /** The columns of its full-text index; `undefined`: it has none. */
  readonly search: IndexedColumns | undefined
}

/** The values of a row, in the order of its table's columns, as every engine gives them (`Row`). */
export type MovedRow = readonly Row[string][]

/** The database that is read. */
export interface MoveSource {
  /** Takes the snapshot that everything is read from. */
  begin(): Promise<void>
  /**
   * The tables of the snapshot.
   *
   * @throws StorageFault where another release of this program made them
   */
  schema(): Promise<StoredSchema>
  /** Runs a statement that reads from the snapshot. */
  all(statement: Statement): Promise<Row[]>
  /** The rows of a table, in the order of its key, in batches: a table may exceed the memory. */
  rows(table: MovedTable): AsyncIterable<readonly MovedRow[]>
  /**
   * The file of a finished export, in pieces of bounded size.
   *
   * @throws Error where it cannot be read
   */
  file(job: string): AsyncIterable<Uint8Array>
  /** Runs a statement that reads the present state, outside the snapshot. */
  now(statement: Statement): Promise<Row[]>
  close(): Promise<void>
}

/**
 * The database that is filled. Its tables exist and are empty. No other connection sees the rows before the move ends.
 */
export interface MoveTarget {
  /** Runs a statement. */
  all(statement: Statement): Promise<Row[]>
  write(table: MovedTable, rows: readonly MovedRow[]): Promise<void>
  writeClock(collection: string, numbers: Record<'revision' | 'live' | 'deleted', number>): Promise<void>
  /**
   * Keeps the file of a finished export.
   *
   * @param finished when the export finished, in milliseconds since 1970
   */
  writeFile(job: string, content: AsyncIterable<Uint8Array>, finished: number): Promise<void>
  /** Builds the indexes, and makes new rows get higher numbers than the moved ones. */
  index(): Promise<void>
  /** As of a source. */
  rows(table: MovedTable): AsyncIterable<readonly MovedRow[]>
}

/** The result of a move. */
export interface Moved {
  /** How many rows each table has. */
  readonly rows: ReadonlyMap<string, number>
  /** How many files of exports were moved. */
  readonly files: number
  /** The jobs of exports whose files are missing or incomplete. */
  readonly lost: readonly string[]
  /** How many exports start again. */
  readonly restarted: number
}

export interface MoveOptions {
  readonly schema: StoredSchema
  /** Milliseconds since 1970. */
  readonly now: number
  readonly signal: AbortSignal
  /** Receives how many rows were written or read back. */
  readonly onRows: (count: number) => void
  /** Called when all rows are written and the indexes are built next. */
  readonly onIndexes: () => void
}

/** The clocks of a database, with the slots of each summed up. */
const clocks = sql`select collection, sum(revision) as revision, sum(live) as live, sum(deleted) as deleted
  from resourced_clocks group by collection order by collection`

/** How many rows a move will read, by the clocks, without counting the rows. */
export async function expectedRows(source: MoveSource): Promise<number> {
  const rows = await source.all(clocks)
  return rows.reduce((sum, { live, deleted }) => sum + Number(live) + Number(deleted), 0)
}

const changing = [
  clocks,
  sql`select job, state from resourced_work order by job`,
  sql`select count(*) as count, max(_row) as last from resourced_queue`,
  sql`select count(*) as count, max(created_at) as last from resourced_idempotency`,
]

/** A text that differs after every change that servers make. */
export async function fingerprint(all: (statement: Statement) => Promise<Row[]>): Promise<string> {
  const found: Row[][] = []
  for (const statement of changing) found.push(await all(statement))
  return JSON.stringify(found)
}

// Clocks and `resourced_meta` are written one by one; pieces are files.
const writtenApart = new Set(['resourced_meta', 'resourced_clocks', 'resourced_pieces'])

/** The tables that move row by row. Their columns are the same on every engine. */
export function movedTables(schema: StoredSchema): MovedTable[] {
  return layOut(schema.tables, { clockSlots: 1, indexesRowNumber: false, storesExports: false })
    .filter(({ name }) => !writtenApart.has(name))
    .map(({ name, columns, search }) => {
      const [first] = columns as [ColumnSpec]
      return { name, key: name === summariesTable ? figureKey : [first.name], columns, search }
    })
}

/**
 * Moves everything.
 *
 * @throws StorageFault where a database fails, or the rows that are read back differ
 * @throws the reason of the signal
 */
export async function moveAll(source: MoveSource, target: MoveTarget, options: MoveOptions): Promise<Moved> {
  const { schema, onIndexes, onRows, signal } = options
  const tables = movedTables(schema)
  await checkJobs(source, tables)
  const digests = new Map<string, Digest>()
  for (const table of tables) {
    const digest = new Digest()
    for await (const rows of source.rows(table)) {
      signal.throwIfAborted()
      const moved = restartExports(table, rows)
      digest.add(moved)
      await target.write(table, moved)
      onRows(moved.length)
    }
    await requireAllRead(source, table, digest.count)
    digests.set(table.name, digest)
  }
  for (const { collection, revision, live, deleted } of await source.all(clocks)) {
    const numbers = { revision: Number(revision), live: Number(live), deleted: Number(deleted) }
    await target.writeClock(String(collection), numbers)
  }
  for (const { key, value } of await source.all(meta)) {
    await target.all(sql`insert into resourced_meta (key, value) values (${key}, ${value})`)
  }
  const files = await moveFiles(source, target, tables, options)
  signal.throwIfAborted()
  onIndexes()
  await target.index()
  signal.throwIfAborted()
  for (const table of tables) await checkRows(target, table, digests.get(table.name) as Digest, options)
  for (const [name, statement] of Object.entries({ resourced_clocks: clocks, resourced_meta: meta })) {
    const [before, after] = await Promise.all([source.all(statement), target.all(statement)])
    if (JSON.stringify(before) !== JSON.stringify(after)) throw different(name, 'other values')
  }
  const rows = new Map([...digests].map(([name, { count }]) => [name, count]))
  const restarted = (await source.all(unfinishedExports)).length
  return { rows, ...files, restarted }
}

/** The most rows, and about the most bytes, that are in memory at a time. */
const most = { rows: 1_000, bytes: 4_000_000 }

/** Reads a table in the order of its key, in batches. */
export async function* rowsOf(
  all: MoveSource['all'],
  { name, key: names, columns }: MovedTable,
): AsyncGenerator<readonly MovedRow[]> {
  const select = join(columns.map((column) => quoted(column.name)))
  const key = join(names.map(quoted))
  const places = names.map((each) => columns.findIndex((column) => column.name === each))
  const texts = columns.filter(({ type }) => type === 'text' || type === 'json')
  const long = texts.map((column) => sql`cast(${quoted(column.name)} as text)`)
  for (let where = sql`1 = 1`; ; ) {
    const rows = await all(selectBatch({ table: name, key, select, long, where, most }))
    if (rows.length === 0) return
    const moved = rows.map((row) => columns.map((column) => row[column.name]!))
    yield moved
    where = sql`(${key}) > (${join(places.map((place) => moved.at(-1)?.[place]))})`
  }
}

/** Whether there are jobs: a database may have API keys only. */
function hasJobs(tables: readonly { readonly name: string }[]): boolean {
  return tables.some(({ name }) => name === 'jobs')
}

const tasks = ['deletion', 'purge', 'export']

/**
 * Checks the jobs of a database that somebody else may have written, before anything is written: files are named by
 * their ids, and every change reads the states of those that are not finished.
 *
 * @throws StorageFault where this program cannot have written a job
 */
export async function checkJobs(
  { all }: Pick<MoveSource, 'all'>,
  tables: readonly { readonly name: string }[],
): Promise<void> {
  const refuse = (job: unknown) => {
    const remedy = 'Nothing was written. The database is damaged, or somebody has forged it.'
    throw new StorageFault(
      'failed',
      `The database has a job that this program cannot have made: ${JSON.stringify(job)}. ${remedy}`,
    )
  }
  for (const { job, task, state } of await all(sql`select job, task, state from resourced_work`)) {
    if (!isRecordId(String(job)) || !tasks.includes(String(task)) || !isObject(parsedJson(String(state)))) refuse(job)
  }
  if (!hasJobs(tables)) return
  for (const { id } of await all(sql`select id from jobs where kind = 'export'`)) {
    if (!isRecordId(String(id))) refuse(id)
  }
}

/** The rows of `resourced_meta` that are about the present of one database only. */
export const areTemporary = sql`(key in ('maintenance', ${probeKey}) or ${areTenantSwitches})`

/** The properties of the database as a whole. The target has a shape of its own; maintenance and probes do not move. */
const meta = sql`select key, value from resourced_meta
  where key not in ('format', 'shape', 'version') and not ${areTemporary} order by key`

/** Exports whose files are not complete. */
export const unfinishedExports: Statement = sql`select job, state from resourced_work where task = 'export'`

async function requireAllRead(source: MoveSource, { name }: MovedTable, count: number): Promise<void> {
  const [row] = await source.all(sql`select count(*) as count from ${raw(`"${name}"`)}`)
  if (row?.['count'] === count) return
  throw new StorageFault('failed', `Only ${count} of the ${row?.['count']} rows of ${name} were read.`)
}

/** The rows of a table as they move. The file of an unfinished export does not move, so that export starts again. */
function restartExports({ name, columns }: MovedTable, rows: readonly MovedRow[]): readonly MovedRow[] {
  if (name !== 'resourced_work') return rows
  const [task, state] = ['task', 'state'].map((each) => columns.findIndex((column) => column.name === each))
  return rows.map((row) => (row[task!] === 'export' ? row.with(state!, restartedState(String(row[state!]))) : row))
}

/** The state of an export that begins again. */
export function restartedState(state: string): string {
  return JSON.stringify({ ...JSON.parse(state), count: 0, bytes: 0, after: null })
}

/** Rows, counted and hashed in their order. */
class Digest {
  count = 0
  readonly #hash = createHash('sha256')

  add(rows: readonly MovedRow[]): void {
    this.count += rows.length
    for (const row of rows) this.#hash.update(JSON.stringify(row))
  }

  end(): string {
    return this.#hash.copy().digest('hex')
  }
}

async function checkRows(target: MoveTarget, table: MovedTable, expected: Digest, options: MoveOptions): Promise<void> {
  const found = new Digest()
  for await (const rows of target.rows(table)) {
    options.signal.throwIfAborted()
    found.add(rows)
    options.onRows(rows.length)
  }
  if (found.count !== expected.count) throw different(table.name, `${found.count} rows, not ${expected.count}`)
  if (found.end() !== expected.end()) throw different(table.name, 'other values')
}

function different(table: string, what: string): StorageFault {
  return new StorageFault('failed', `What was written is not what was read: ${table} has ${what}.`)
}

/** Moves the files of exports that clients may still download. */
export async function moveFiles(
  source: Pick<MoveSource, 'all' | 'file'>,
  target: Pick<MoveTarget, 'writeFile'>,
  tables: readonly { readonly name: string }[],
  { now, signal }: Pick<MoveOptions, 'now' | 'signal'>,
): Promise<Pick<Moved, 'files' | 'lost'>> {
  if (!hasJobs(tables)) return { files: 0, lost: [] }
  const since = timestamp(now - exportsKept)
  const wanted: Statement = sql`select id, finished_at, result from jobs
    where kind = 'export' and status = 'succeeded' and finished_at > ${since} order by id`
  const lost: string[] = []
  let files = 0
  for (const { id, finished_at, result } of await source.all(wanted)) {
    signal.throwIfAborted()
    const { bytes } = { bytes: undefined, ...(parsedJson(String(result)) as object | null | undefined) }
    const finished = Date.parse(String(finished_at))
    // Nothing is written before the file is known to be complete.
    if (Number.isNaN(finished) || (await lengthOf(source, String(id))) !== bytes) {
      lost.push(String(id))
      continue
    }
    // A file of tomorrow would be kept for longer than a day.
    await target.writeFile(String(id), source.file(String(id)), Math.min(finished, now))
    files++
  }
  return { files, lost }
}

async function lengthOf(source: Pick<MoveSource, 'file'>, job: string): Promise<number | undefined> {
  let length = 0
  try {
    for await (const piece of source.file(job)) length += piece.length
    return length
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
