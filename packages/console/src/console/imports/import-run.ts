/**
 * An import in progress. Each record is created by a request of its own, whose key is made from the file's name, the
 * line and its content: whatever is interrupted and repeated within a day, no line creates two records (MET-9).
 */
import type { Collection } from '../interface/catalog.ts'
import { Problem, type ProblemEntry } from '../interface/problem.ts'
import type { Send } from '../interface/send.ts'
import { makeStore, type Store } from '../interface/store.ts'
import { bodyOf, type EmptyCell, type Mapping } from './mapping.ts'
import { recordsOf, type Source, type SourceRecord } from './source.ts'

export interface ImportOptions {
  readonly send: Send
  readonly collection: Collection
  readonly source: Source
  readonly mapping: Mapping
  readonly empty: EmptyCell
  /** How many records the file has; `undefined`: nobody has counted them. */
  readonly total: number | undefined
  /** Is called when all records have been tried. */
  readonly onEnd: (run: ImportRun) => void
}

/** A line that the server refused, or that cannot be read. */
export interface Failure {
  readonly record: SourceRecord
  readonly errors: readonly Pick<ProblemEntry, 'message' | 'pointer'>[]
}

export interface ImportState {
  readonly status: 'running' | 'paused' | 'stopped' | 'ended'
  readonly created: number
  readonly refused: number
  /** Why it is paused. */
  readonly problem?: Problem | undefined
}

export interface ImportRun {
  readonly options: ImportOptions
  readonly failures: readonly Failure[]
  readonly state: Store<ImportState>
  readonly goOn: () => void
  /** Begins no further record. Those on their way are finished. */
  readonly pause: (problem?: Problem) => void
  /** Ends the import for good, without waiting for anything. */
  readonly stop: (problem?: Problem) => void
}

/** How many requests are on their way at a time. */
const atOnce = 4
/** After this many refused lines somebody should look at them. */
const pausedAfter = 1_000

export function startImport(options: ImportOptions): ImportRun {
  const { send, collection, source, mapping, empty, onEnd } = options
  const records = recordsOf(source)
  /** Records that were read and have no answer. */
  const again: SourceRecord[] = []
  const failures: Failure[] = []
  const stopping = new AbortController()
  const state = makeStore<ImportState>({ status: 'paused', created: 0, refused: 0 })
  let workers = 0

  const change = (next: Partial<ImportState>) => state.set({ ...state.current(), ...next })
  const halt = (status: ImportState['status'], problem?: Problem) => change({ status, problem })
  const pause = (problem?: Problem) => {
    if (state.current().status === 'running') halt('paused', problem)
  }
  const stop = (problem?: Problem) => {
    halt('stopped', problem)
    stopping.abort()
  }
  const refuse = (record: SourceRecord, errors: Failure['errors']) => {
    failures.push({ record, errors })
    change({ refused: failures.length })
    const text = `${failures.length.toLocaleString()} lines were refused. Look at them first.`
    if (failures.length % pausedAfter === 0) pause(new Problem(0, { detail: text }))
  }
  const next = async () => {
    try {
      return again.shift() ?? (await records.next()).value
    } catch (error) {
      // The file was changed or removed, or has another encoding.
      stop(problemOf(error))
      return undefined
    }
  }
  const create = async (record: SourceRecord) => {
    if (record.wrong !== undefined) return refuse(record, [{ message: record.wrong }])
    try {
      await send({
        ...{ method: 'POST', path: collection.path, body: bodyOf(record, collection, mapping, empty) },
        headers: { 'Idempotency-Key': await keyOf(collection, source, record), Prefer: 'return=minimal' },
        signal: stopping.signal,
      })
      change({ created: state.current().created + 1 })
    } catch (error) {
      if (stopping.signal.aborted) return
      const problem = problemOf(error)
      const { status, code, errors, message } = problem
      // What another caller creates would not be known by the same keys.
      if (!(error instanceof Problem) || code === 'OTHER_CALLER') stop(problem)
      // The first request with this key is still being carried out.
      else if (code === 'IDEMPOTENCY_KEY_IN_USE') await new Promise((resolve) => setTimeout(resolve, 1_000))
      // Another try can help, whatever the record is.
      else if (status === 0 || status === 408 || status === 429 || status > 500) pause(problem)
      else return refuse(record, errors.length > 0 ? errors : [{ message }])
      again.push(record)
    }
  }
  const work = async () => {
    while (state.current().status === 'running') {
      const record = await next()
      if (record === undefined) break
      await create(record)
    }
    workers -= 1
    if (workers > 0 || state.current().status !== 'running') return
    halt('ended')
    onEnd(run)
  }
  const goOn = () => {
    halt('running')
    for (; workers < atOnce; workers += 1) void work()
  }
  const run: ImportRun = { options, failures, state, goOn, pause, stop }
  goOn()
  return run
}

function problemOf(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, { detail: String(error) })
}

async function keyOf({ name }: Collection, { file }: Source, { line, content }: SourceRecord): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify([name, file.name, line, content]))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', text))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
