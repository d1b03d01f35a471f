/** Imports records into a collection with the checks of a POST: schema, references, uniqueness, business rules. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { always } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { Fault, type Issue, issue } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import type { Outcome } from '../plan/outcome.ts'
import type { Create } from '../plan/plan.ts'
import type { Storage } from '../storage/storage.ts'
import type { ReadableRecord, SourceRecord } from './source.ts'

export interface ImportOptions {
  readonly storage: Storage
  readonly resource: Resource
  readonly records: AsyncIterable<SourceRecord>
  /** The owner of records without an owner field. */
  readonly caller: CallerView
  /** The most records of one transaction. Other writers wait while it runs. */
  readonly batch?: number
  /** Reports invalid records and continues. */
  readonly skipInvalid?: boolean
  /** Called after each transaction. */
  readonly onProgress?: (progress: ImportProgress) => void
  /** Called for each refused record, in the order of the file. */
  readonly onProblem?: (problem: ImportProblem) => void
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** The progress of an import. Records counted as imported are durable. */
export interface ImportProgress {
  readonly imported: number
  readonly skipped: number
  /** The line where the last imported record begins; 0 if there is none. */
  readonly line: number
}

/** Why a record was refused. */
export interface ImportProblem {
  readonly line: number
  /** Where the record stands in its source, if that is no line of a file. */
  readonly place?: string
  readonly issues: readonly Issue[]
}

/** How an import ended. */
export interface Imported extends ImportProgress {
  /** Whether it stopped at a refused record. That record and those after it are not imported. */
  readonly stopped: boolean
}

// Values take more memory than their text, so a batch of large records ends sooner.
const mostBytesOfBatch = 4_000_000

/** For how many milliseconds one transaction creates records, where others wait for it. Its commit takes some more. */
const mostTime = 30

/** Milliseconds between two transactions, for others that wait. */
const pause = 3

/**
 * Imports records in order. Without `skipInvalid` the first refused record stops the import: all records before it are
 * imported, and none after it.
 *
 * @throws StorageFault if the database fails; everything up to the last `onProgress` is imported, and nothing after it
 */
export async function importRecords(options: ImportOptions): Promise<Imported> {
  const { records, batch = 2_000, skipInvalid = false } = options
  const state: ImportState = { imported: 0, skipped: 0, line: 0, stopped: false }
  let waiting: SourceRecord[] = []
  let bytes = 0
  for await (const record of records) {
    waiting.push(record)
    const readable = 'value' in record
    bytes += readable ? record.size : 0
    const ends = !readable && (!skipInvalid || record.final === true)
    if (!ends && waiting.length < batch && bytes < mostBytesOfBatch) continue
    await importBatch(options, waiting, state)
    if (ends) state.stopped = true
    if (state.stopped) return state
    waiting = []
    bytes = 0
  }
  if (waiting.length > 0) await importBatch(options, waiting, state)
  return state
}

export type ImportState = { -readonly [Key in keyof Imported]: Imported[Key] }

/** Imports some records, in as many transactions as others need to write between them. */
export async function importBatch(
  options: Omit<ImportOptions, 'records'>,
  batch: readonly SourceRecord[],
  state: ImportState,
): Promise<void> {
  let rest = await importPart(options, batch, state)
  while (rest.length > 0) {
    // A server that waits for the lock of the file tries again every millisecond or two.
    await sleep(pause)
    rest = await importPart(options, rest, state)
  }
}

/** Imports records of a batch in one transaction. Returns those that have to follow in another one. */
async function importPart(
  options: Omit<ImportOptions, 'records'>,
  batch: readonly SourceRecord[],
  state: ImportState,
): Promise<readonly SourceRecord[]> {
  const { storage, skipInvalid = false, onProblem, onProgress } = options
  const plans = batch.filter((record) => 'value' in record).map((record) => planOf(options, record))
  const outcomes = await loadFirst(storage, plans, skipInvalid ? 'skip' : 'stop')
  let tried = 0
  let done = 0
  for (const record of batch) {
    if ('value' in record && tried === outcomes.length) break
    done++
    const issues = 'value' in record ? issuesOf(outcomes[tried++]) : record.issues
    if (issues === undefined) {
      state.imported++
      state.line = record.line
      continue
    }
    state.skipped++
    onProblem?.({ line: record.line, ...placeOf(record), issues })
    if (skipInvalid) continue
    state.stopped = true
    break
  }
  onProgress?.({ imported: state.imported, skipped: state.skipped, line: state.line })
  return state.stopped ? [] : batch.slice(done)
}

/**
 * Creates the first of some records. A sum that gets too large refuses a transaction as a whole (RES-17): then fewer
 * records are tried, until it is the one that makes it so.
 */
async function loadFirst(
  storage: Storage,
  plans: readonly Create[],
  whenRefused: 'stop' | 'skip',
): ReturnType<Storage['load']> {
  for (let count = plans.length; ; count = Math.ceil(count / 2)) {
    try {
      return await storage.load(plans.slice(0, count), whenRefused, mostTime)
    } catch (error) {
      const issues = (error instanceof Fault && error.details.errors) || []
      if (issues[0]?.reason !== 'totalRange') throw error
      if (count === 1) return [{ kind: 'conflict', issues }]
    }
  }
}

function placeOf(record: SourceRecord): { place?: string } {
  return 'value' in record && record.made !== undefined ? { place: record.made.place } : {}
}

/** The plan of a POST that creates the record. */
export function planOf(
  { resource, caller, now = Date.now }: Pick<ImportOptions, 'resource' | 'caller' | 'now'>,
  { value, made }: Pick<ReadableRecord, 'value' | 'made'>,
): Create {
  return {
    kind: 'create',
    resource: made?.resource ?? resource,
    id: made?.id ?? uuidv7(),
    parent: undefined,
    body: value,
    permitted: always,
    mayAssignOwner: true,
    caller,
    now: now(),
    ...(made?.promised && { promised: made.promised }),
  }
}

/** Why a record was not created; `undefined` if it was. */
export function issuesOf(outcome: Outcome | undefined): readonly Issue[] | undefined {
  if (outcome === undefined) return undefined
  if ('issues' in outcome) return outcome.issues
  if (outcome.kind === 'forbidden' && outcome.lacks !== undefined) {
    return [issue('lacks', { lacks: outcome.lacks })]
  }
  throw new Error(`A record that anyone may create was refused as ${outcome.kind}.`)
}
