/** Puts records into a collection, by the same decisions as a POST: schema, references, uniqueness, business rules. */
import { uuidv7 } from 'uuidv7'
import type { CallerView } from '../model/declaration.ts'
import { always } from '../model/predicate.ts'
import type { Resource } from '../model/resource.ts'
import type { Create, Outcome } from '../plan/plan.ts'
import type { Issue } from '../spec/faults.ts'
import type { Storage } from '../storage/storage.ts'
import type { ReadableRecord, SourceRecord } from './source.ts'

/** What to import, and where to. */
export interface ImportOptions {
  readonly storage: Storage
  readonly resource: Resource
  readonly records: AsyncIterable<SourceRecord>
  /** Whom the records belong to where they do not say: the owner field may be sent. */
  readonly caller: CallerView
  /** The most records of one transaction: other writers wait while it runs. */
  readonly batch?: number
  /** Reports what is invalid and goes on. */
  readonly skipInvalid?: boolean
  /** After each transaction. */
  readonly onProgress?: (progress: ImportProgress) => void
  /** For each record that is refused, in the order of the file. */
  readonly onProblem?: (problem: ImportProblem) => void
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** How far an import has come. What it counts as imported is durable. */
export interface ImportProgress {
  readonly imported: number
  /** Records that were refused. */
  readonly skipped: number
  /** Where the last record imported begins; 0: none is. */
  readonly line: number
}

/** Why a record was refused. */
export interface ImportProblem {
  readonly line: number
  readonly issues: readonly Issue[]
}

/** How an import ended. */
export interface Imported extends ImportProgress {
  /** It stopped at a record: nothing from there on is imported. */
  readonly stopped: boolean
}

// Values take more memory than their text: a batch of large records ends sooner.
const mostBytesOfBatch = 4_000_000

/**
 * Imports records in their order. Unless `skipInvalid`, the first record that is refused stops it: then all records
 * before that one are in, and none from there on.
 *
 * @throws StorageFault where the database fails; what `onProgress` told last is in, and nothing after it
 */
export async function importRecords(options: ImportOptions): Promise<Imported> {
  const { records, batch = 2_000, skipInvalid = false } = options
  const state: State = { imported: 0, skipped: 0, line: 0, stopped: false }
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

type State = { -readonly [Key in keyof Imported]: Imported[Key] }

async function importBatch(options: ImportOptions, batch: readonly SourceRecord[], state: State): Promise<void> {
  const { storage, skipInvalid = false, onProblem, onProgress } = options
  const plans = batch.filter((record) => 'value' in record).map((record) => planOf(options, record))
  const outcomes = await storage.load(plans, skipInvalid ? 'skip' : 'stop')
  let tried = 0
  for (const record of batch) {
    const issues = 'value' in record ? issuesOf(outcomes[tried++]) : record.issues
    if (issues === undefined) {
      state.imported++
      state.line = record.line
      continue
    }
    state.skipped++
    onProblem?.({ line: record.line, issues })
    if (skipInvalid) continue
    state.stopped = true
    break
  }
  onProgress?.({ imported: state.imported, skipped: state.skipped, line: state.line })
}

function planOf({ resource, caller, now = Date.now }: ImportOptions, { value }: ReadableRecord): Create {
  return {
    kind: 'create',
    resource,
    id: uuidv7(),
    parent: undefined,
    body: value,
    permitted: always,
    mayAssignOwner: true,
    caller,
    now: now(),
  }
}

/** Why a record was not created; `undefined`: it was. */
function issuesOf(outcome: Outcome | undefined): readonly Issue[] | undefined {
  if (outcome === undefined) return undefined
  if ('issues' in outcome) return outcome.issues
  throw new Error(`A record that anyone may create was refused as ${outcome.kind}.`)
}
