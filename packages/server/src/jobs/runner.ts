/**
 * Runs background jobs: one batch of each unfinished job in turn, with pauses for other writers. The database has the
 * progress of every job, so that a job survives a crash (JOB-3).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { faults } from 'resourced-contract/spec/fault-entries'
import { Fault, problemType } from 'resourced-contract/spec/faults'
import { type ClockDoubt, type JobError, type OpenJob, type Storage, StorageFault } from '../storage/storage.ts'
import type { ExportFiles } from './export-files.ts'

/** What a runner needs. */
export interface RunnerOptions {
  readonly storage: Pick<Storage, 'jobs'>
  readonly files: ExportFiles
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whether no batch may start now (ERR-6). */
  readonly paused: () => boolean
  readonly newJobId: () => string
  /** The address of a job. */
  readonly statusUrlOf: (job: string) => string
  /** Called when a job has ended. */
  readonly ended: (job: OpenJob, status: 'succeeded' | 'failed') => void
  /**
   * Called when the clock is doubted and nothing is removed, at first and each hour; with `undefined` when that ends.
   */
  readonly doubted: (doubt: ClockDoubt | undefined) => void
  /** Called with errors of batches and of maintenance. */
  readonly failed: (error: unknown, job?: OpenJob) => void
}

/** Runs jobs until it is closed. */
export interface Runner {
  /** Looks for jobs now. */
  wake(): void
  /** Resolves when no job can continue now; at once during a pause. */
  idle(): Promise<void>
  /**
   * Removes expired records (as a job), idempotency keys, jobs and export files. The runner also does so every hour. If
   * the clock has jumped, nothing is removed until the clock is confirmed (DEL-7).
   */
  maintain(): Promise<void>
  /** Finishes the current batch, and stops. */
  close(): Promise<void>
}

/** How often the runner looks for jobs of other servers, in milliseconds. */
const rest = 1_000
const everyHour = 3_600_000
/** How often a doubted clock is checked again, in milliseconds. */
const everyMinute = 60_000
/** After this many failures of one batch in a row, the job fails. */
const mostFailures = 5
/** The longest time between two attempts at a failing batch, in milliseconds. */
const longestWait = 60_000

/** The failures of a job since its last batch, and the time of the next attempt. */
interface Trouble {
  readonly failures: number
  readonly until: number
}

/** Starts a runner. */
export function startRunner({
  storage,
  files,
  now,
  paused,
  newJobId,
  statusUrlOf,
  ended,
  doubted,
  failed,
}: RunnerOptions): Runner {
  const { jobs } = storage
  const troubles = new Map<string, Trouble>()
  const measured = new Set<string>()
  let closed = false
  let waiters: (() => void)[] = []
  let awaken = () => {}
  let woken = false
  /** Whether maintenance waits for the end of a pause. */
  let due = false

  const wake = () => {
    woken = true
    awaken()
  }

  const pause = async () => {
    const ready = new Promise<void>((resolve) => {
      awaken = resolve
    })
    const timer = setTimeout(() => awaken(), rest)
    timer.unref()
    if (!woken && !closed) await ready
    clearTimeout(timer)
  }

  let maintaining = Promise.resolve()
  const maintain = () => {
    maintaining = maintaining.then(removeExpired)
    return maintaining
  }

  let again: NodeJS.Timeout | undefined
  let toldAt: number | undefined
  /** Whether the clock permits removal. A doubted clock is checked again in a minute. */
  const isAdmitted = async (at: number) => {
    const doubt = await jobs.checkClock(at)
    clearTimeout(again)
    if (doubt !== undefined) {
      again = setTimeout(maintain, everyMinute).unref()
      if (toldAt !== undefined && performance.now() - toldAt < everyHour - everyMinute) return false
      toldAt = performance.now()
      doubted(doubt)
      return false
    }
    if (toldAt !== undefined) doubted(undefined)
    toldAt = undefined
    return true
  }

  const removeExpired = async () => {
    due = paused()
    if (due || closed) return
    try {
      // Everything below uses this time, because the clock may jump meanwhile.
      const at = now()
      if (!(await isAdmitted(at))) return
      await jobs.deleteExpired(at, () => !paused() && !closed)
      due = paused()
      if (due || closed) return
      await files.sweep(at)
      const id = newJobId()
      if (await jobs.beginPurge({ id, statusUrl: statusUrlOf(id) }, at)) wake()
    } catch (error) {
      failed(error)
    }
  }

  const advance = async (job: OpenJob) => {
    const { id } = job
    const trouble = troubles.get(id)
    if (trouble !== undefined && trouble.until > performance.now()) return false
    const started = performance.now()
    try {
      if (!measured.has(id)) await jobs.countTotal(job, now())
      measured.add(id)
      // Measuring may have taken long.
      if (paused()) return false
      const result = job.task === 'export' ? await files.step(id, now()) : await jobs.step(job, now())
      if (result !== 'more') measured.delete(id)
      if (result === 'finished' || result === 'failed') ended(job, result === 'failed' ? 'failed' : 'succeeded')
      troubles.delete(id)
      // Another server has the job; look again after a rest.
      if (result === 'elsewhere') return false
    } catch (error) {
      if (isRefused(error)) {
        // Undoing what a job has changed begins soon.
        const wait = job.task === 'export' ? longestWait : rest
        troubles.set(id, { failures: mostFailures, until: performance.now() + wait })
        await giveUp(job, error)
      } else if (!(error instanceof StorageFault && error.kind === 'busy')) {
        failed(error, job)
        const failures = (trouble?.failures ?? 0) + 1
        const wait = Math.min(100 * 2 ** failures, longestWait)
        troubles.set(id, { failures, until: performance.now() + wait })
        if (failures >= mostFailures) await giveUp(job, error)
      }
    }
    // Other writers get half as long as the batch took.
    await sleep(Math.min((performance.now() - started) / 2, 50), undefined, { ref: false })
    return true
  }

  const giveUp = async (job: OpenJob, error: unknown) => {
    const drop = async () => void (job.task === 'export' && (await files.drop(job.id)))
    try {
      // Without room, the failure may only be stored once the file is gone.
      if (isRefused(error)) await drop()
      // The export may have ended after all, if only the confirmation of its commit was lost: it needs its file then.
      if (!(await jobs.fail(job, problemOf(job, error), now()))) return
      await drop()
      troubles.delete(job.id)
      measured.delete(job.id)
      ended(job, 'failed')
    } catch (cause) {
      failed(cause, job)
    }
  }

  const run = async () => {
    while (!closed) {
      woken = false
      // Callers of idle() during this round wait for the next one.
      const asking = waiters
      waiters = []
      let busy = false
      try {
        if (due) await maintain()
        for (const job of paused() ? [] : await jobs.open()) {
          if (!closed && !paused() && (await advance(job))) busy = true
        }
      } catch (error) {
        failed(error)
      }
      if (busy) {
        waiters = [...asking, ...waiters]
        continue
      }
      for (const resolve of asking) resolve()
      await pause()
    }
  }

  const running = run()
  const hourly = setInterval(maintain, everyHour)
  hourly.unref()
  return {
    wake,
    maintain,
    idle() {
      return new Promise((resolve) => {
        waiters.push(resolve)
        wake()
      })
    },
    async close() {
      closed = true
      clearInterval(hourly)
      clearTimeout(again)
      wake()
      await running
      await maintaining
      clearTimeout(again)
      await files.close()
      for (const resolve of waiters) resolve()
    },
  }
}

/** Whether an export file does not fit (LIM-8), or a sum of children (RES-17). Another attempt would fail too. */
function isRefused(error: unknown): error is Fault {
  return error instanceof Fault && ['EXPORT_QUOTA', 'EXPORT_SPACE', 'CONFLICT'].includes(error.code)
}

const leftBehind: Readonly<Record<OpenJob['task'], string>> = {
  deletion: 'and was undone: nothing has changed',
  purge: 'and the next purge continues where it was',
  export: 'and there is no file',
}

/** The problem (RFC 9457) of a failed job, without internal details (ERR-4). */
function problemOf({ task }: OpenJob, error: unknown): JobError {
  const code = isRefused(error) ? error.code : error instanceof StorageFault ? 'STORAGE_FAILED' : 'INTERNAL_ERROR'
  const { status, title } = faults[code]
  const ending = `The job could not go on, ${leftBehind[task]}.`
  const detail =
    code === 'CONFLICT'
      ? `A sum that the server keeps would become too large. ${ending}`
      : isRefused(error)
        ? error.message
        : `${ending} The log has the reason under its id.`
  return { type: problemType(code), title, status, detail, code }
}
