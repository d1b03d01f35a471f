/** Background jobs and exports (JOB-1, JOB-6). */
import { exchange, segment } from './exchange.ts'
import type { JsonObject } from './interface-types.ts'
import { ProblemError } from './problem-error.ts'
import { retryAfter, sleep } from './retrying.ts'
import type { CallOptions, Send } from './send.ts'

/** Options of waiting for a job. */
export interface FinishedOptions extends CallOptions {
  /** Receives the job each time that it was read. */
  readonly onProgress?: (job: Job) => void
}

/** A background job. */
export class Job {
  declare readonly job_id: string
  declare readonly status: 'pending' | 'running' | 'succeeded' | 'failed'
  declare readonly status_url: string
  // What follows is missing in the response that starts the job.
  declare readonly kind?: string
  declare readonly progress?: { readonly done: number; readonly total: number | null }
  declare readonly result?: JsonObject | null
  declare readonly error?: JsonObject | null
  declare readonly started_by?: string
  declare readonly created_at?: string
  declare readonly started_at?: string | null
  declare readonly finished_at?: string | null
  readonly #send: Send

  constructor(send: Send, data: object) {
    this.#send = send
    Object.assign(this, data)
  }

  /**
   * Waits for the end of the job, and returns the job as it is then.
   *
   * @throws ProblemError if the job fails
   * @example
   * const job = await client.exports.create({ collection: 'tasks', format: 'csv' })
   * const { result } = await job.finished()
   */
  async finished({ signal, onProgress }: FinishedOptions = {}): Promise<Job> {
    for (;;) {
      const response = await exchange(this.#send, 'GET', `/jobs${segment(this.job_id)}`, { signal })
      const job = new Job(this.#send, response.body ?? {})
      onProgress?.(job)
      if (job.status === 'succeeded') return job
      if (job.status === 'failed') throw new ProblemError(Number(job.error?.['status'] ?? 500), job.error)
      await sleep(retryAfter(response) ?? 1000, signal)
    }
  }
}

/** What to export. */
export interface ExportRequest {
  readonly collection: string
  readonly format: 'json' | 'ndjson' | 'csv'
  /** A condition, such as `{ due_on: { lt: '2027-01-01' } }`. */
  readonly filter?: object
  readonly sort?: string | readonly string[]
  readonly fields?: readonly string[]
}

/** The calls of exports. */
export interface Exports {
  /** Starts an export. Its id is the `job_id`. */
  create(request: ExportRequest, options?: CallOptions): Promise<Job>
  /** The file, as a `Response` whose body is a stream. Wait for the job before. */
  content(id: string, options?: CallOptions): Promise<Response>
  /** Deletes an export that has ended, and its file. */
  delete(id: string, options?: CallOptions): Promise<void>
}

/** The calls of exports over a way to send. */
export function exportsOf(send: Send): Exports {
  return {
    async create(body, options) {
      const response = await exchange(send, 'POST', '/exports', { ...options, body })
      return new Job(send, response.body ?? {})
    },
    async content(id, options) {
      const path = `/exports${segment(id)}/content`
      const { status, body } = await exchange(send, 'GET', path, { ...options, stream: true })
      const file = body as unknown as Response
      if (status === 200) return file
      await file.body?.cancel()
      const detail = 'The export is still being written: await job.finished() first.'
      throw new ProblemError(status, { code: 'JOB_NOT_FINISHED', detail })
    },
    async delete(id, options) {
      await exchange(send, 'DELETE', `/exports${segment(id)}`, options)
    },
  }
}
