/** Moves all that a database holds into another one, and reads it back: what answers say of it is the same to the byte. */
import { createHash } from 'node:crypto'
import sql, { empty, raw } from 'sql-template-tag'
import type { Catalog } from '../../model/resource.ts'
import { timestamp } from '../../model/time.ts'
import { exportsKept } from '../../plan/export-document.ts'
import { StorageFault } from '../storage.ts'
import type { Statement } from '../transaction.ts'
import { probeKey } from '../write-probe.ts'
import { clockSums } from './clock-sums.ts'
import { type MovedTable, movedTables } from './moved-tables.ts'
import type { MovedRow, MoveSource, MoveTarget } from './parts.ts'
import { beginAgain, unfinishedExports } from './unfinished-exports.ts'

/** What has moved. */
export interface Moved {
  /** How many rows each table has. */
  readonly rows: ReadonlyMap<string, number>
  /** The files of exports that came along. */
  readonly files: number
  /** The jobs of exports whose files should have been there. */
  readonly lost: readonly string[]
  /** How many exports are written anew. */
  readonly begunAgain: number
}

/** How it is done. */
export interface MoveOptions {
  readonly catalog: Catalog
  /** Milliseconds since 1970. */
  readonly now: number
  readonly signal: AbortSignal
  /** Hears how many rows were written or read back. */
  readonly onRows: (count: number) => void
  /** Hears what begins. */
  readonly onPhase: (phase: 'rows' | 'files' | 'indexes' | 'check') => void
}

/** The rows that the tables of a catalog have, by what is known without counting them. */
export async function expectedRows(source: MoveSource): Promise<number> {
  const rows = await source.all(clockSums)
  return rows.reduce((sum, { live, deleted }) => sum + Number(live) + Number(deleted), 0)
}

/**
 * Moves everything.
 *
 * @throws StorageFault where a database fails, or what is read back differs
 * @throws the reason of the signal
 */
export async function moveAll(source: MoveSource, target: MoveTarget, options: MoveOptions): Promise<Moved> {
  const { catalog, onPhase, onRows, signal } = options
  const tables = movedTables(catalog)
  const digests = new Map<string, Digest>()
  onPhase('rows')
  for (const table of tables) {
    const digest = new Digest()
    for await (const rows of source.rows(table)) {
      signal.throwIfAborted()
      const moved = beginAgain(table, rows)
      digest.add(moved)
      await target.write(table, moved)
      onRows(moved.length)
    }
    await mustBeAll(source, table, digest.count)
    digests.set(table.name, digest)
  }
  await moveClocks(source, target)
  await moveMeta(source, target)
  onPhase('files')
  const files = await moveFiles(source, target, options)
  signal.throwIfAborted()
  onPhase('indexes')
  await target.index()
  signal.throwIfAborted()
  onPhase('check')
  for (const table of tables) await check(target, table, digests.get(table.name) as Digest, options)
  await checkSmall(source, target)
  const rows = new Map([...digests].map(([name, { count }]) => [name, count]))
  return { rows, ...files, begunAgain: (await source.all(unfinishedExports)).length }
}

async function mustBeAll(source: MoveSource, { name }: MovedTable, count: number): Promise<void> {
  const [row] = await source.all(sql`select count(*) as count from ${raw(`"${name}"`)}`)
  if (row?.['count'] === count) return
  throw new StorageFault('failed', `Of the ${row?.['count']} rows of ${name} ${count} were read.`)
}

/** Rows counted, and hashed in their order. */
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

async function check(target: MoveTarget, table: MovedTable, expected: Digest, options: MoveOptions): Promise<void> {
  const found = new Digest()
  for await (const rows of target.rows(table)) {
    options.signal.throwIfAborted()
    found.add(rows)
    options.onRows(rows.length)
  }
  if (found.count === expected.count && found.end() === expected.end()) return
  const what = found.count === expected.count ? 'other values' : `${found.count} rows, not ${expected.count}`
  throw new StorageFault('failed', `What was written is not what was read: ${table.name} has ${what}.`)
}

async function moveClocks(source: MoveSource, target: MoveTarget): Promise<void> {
  for (const { collection, revision, live, deleted } of await source.all(clockSums)) {
    for (let slot = 0; slot < target.clockSlots; slot++) {
      // What is true is the sum of the slots.
      const numbers = slot === 0 ? sql`${revision}, ${live}, ${deleted}` : sql`0, 0, 0`
      const [column, value] = target.clockSlots === 1 ? [empty, empty] : [sql`slot, `, sql`${slot}, `]
      await target.all(
        sql`insert into resourced_clocks (collection, ${column}revision, live, deleted) values (${collection}, ${value}${numbers})`,
      )
    }
  }
}

/** What is known of the database as a whole. Its shape is the engine's own; maintenance and probes stay behind. */
const meta = sql`select key, value from resourced_meta where key not in ('shape', 'version', 'maintenance', ${probeKey}) order by key`

async function moveMeta(source: MoveSource, target: MoveTarget): Promise<void> {
  for (const { key, value } of await source.all(meta)) {
    await target.all(sql`insert into resourced_meta (key, value) values (${key}, ${value})`)
  }
}

async function checkSmall(source: MoveSource, target: MoveTarget): Promise<void> {
  for (const [name, statement] of Object.entries({ resourced_clocks: clockSums, resourced_meta: meta })) {
    const [before, after] = await Promise.all([source.all(statement), target.all(statement)])
    if (JSON.stringify(before) === JSON.stringify(after)) continue
    throw new StorageFault('failed', `What was written is not what was read: ${name} has other values.`)
  }
}

/** Moves the files of exports that may still be asked for. */
async function moveFiles(
  source: MoveSource,
  target: MoveTarget,
  { now, signal }: MoveOptions,
): Promise<Pick<Moved, 'files' | 'lost'>> {
  const since = timestamp(now - exportsKept)
  const wanted: Statement = sql`select id, finished_at, result from jobs where kind = 'export' and status = 'succeeded' and finished_at > ${since} order by id`
  const lost: string[] = []
  let files = 0
  for (const { id, finished_at, result } of await source.all(wanted)) {
    signal.throwIfAborted()
    const { bytes } = JSON.parse(String(result)) as { readonly bytes: number }
    // Whether it is whole is seen before anything of it is written.
    if ((await lengthOf(source, String(id))) !== bytes) {
      lost.push(String(id))
      continue
    }
    await target.writeFile(String(id), source.file(String(id)), Date.parse(String(finished_at)))
    files++
  }
  return { files, lost }
}

async function lengthOf(source: MoveSource, job: string): Promise<number | undefined> {
  let length = 0
  try {
    for await (const piece of source.file(job)) length += piece.length
    return length
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
