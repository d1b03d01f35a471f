/** The file of an export, or 202 while the export runs (JOB-6, HED-2). */

import { formatHttpDate } from '../http/fields/http-date.ts'
import type { HttpResponse, ResponseHeaders } from '../http/message.ts'
import { decidePreconditions, formatEntityTag } from '../http/preconditions.ts'
import { accepts } from '../http/preferences.ts'
import type { JobStatus } from '../model/catalog.ts'
import type { ExportFormat } from '../plan/export-document.ts'
import type { ExportFileAccess, Outcome } from '../plan/plan.ts'
import { fault } from '../spec/faults.ts'
import { exportTypes } from '../spec/media-types.ts'
import { jobRetry, type ReplyContext } from './headers.ts'

/** The job of an export as its representation has it. */
interface Job {
  readonly id: string
  readonly kind: string
  readonly status: JobStatus
  readonly status_url: string
  readonly finished_at: string
  readonly started_by: string | null
  readonly result: {
    readonly format: ExportFormat
    readonly collection: string
    readonly bytes: number
    readonly expires_at: string
  }
}

/**
 * Makes the response to a request for the file of an export.
 *
 * @param outcome of reading its job
 * @throws Fault FORBIDDEN, NOT_FOUND, NOT_ACCEPTABLE, PRECONDITION_FAILED
 */
export function exportFile(
  { conditions, caller, readable }: ExportFileAccess,
  outcome: Outcome,
  { request, now, files }: ReplyContext,
): HttpResponse {
  if (outcome.kind === 'forbidden') throw fault('FORBIDDEN', { detail: 'This export was asked for by someone else.' })
  const job = outcome.kind === 'record' ? (JSON.parse(outcome.json) as Job) : undefined
  if (job?.kind !== 'export') throw fault('NOT_FOUND', { detail: 'There is no such export.' })
  const { id, status, status_url, result, started_by } = job
  if (status === 'failed') throw fault('NOT_FOUND', { detail: `The export has failed; ${status_url} says why.` })
  if (status !== 'succeeded') {
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', 'Retry-After': jobRetry }
    return { status: 202, headers, body: `${JSON.stringify({ status, job_id: id, status_url })}\n` }
  }
  const read = readable.get(result.collection)
  if (read === undefined || (read === 'some' && started_by !== caller)) {
    const detail = `Your credential does not allow you to read what is in it of ${result.collection}.`
    throw fault('FORBIDDEN', { detail })
  }
  if (Date.parse(result.expires_at) <= now) {
    throw fault('NOT_FOUND', { detail: `The file was kept until ${result.expires_at}. Ask for a new export.` })
  }
  const mediaType = exportTypes[result.format]
  if (!accepts(request.headers['accept'], mediaType))
    throw fault('NOT_ACCEPTABLE', { detail: `The file is ${mediaType}.` })
  const tag = { opaque: id, weak: false }
  const finished = Math.floor(Date.parse(job.finished_at) / 1000)
  const caching: ResponseHeaders = {
    'Cache-Control': 'private, no-cache',
    ETag: formatEntityTag(tag),
    'Last-Modified': formatHttpDate(finished),
    Vary: 'Accept',
  }
  const current = { tag, lastModified: finished }
  const verdict = decidePreconditions({ method: 'GET', conditions, current })
  if (verdict === 'not-modified') return { status: 304, headers: caching, body: undefined }
  if (verdict !== 'proceed')
    throw fault('PRECONDITION_FAILED', { detail: 'This is another file than the condition says.' })
  // Names of collections and formats need no quoting.
  const name = `${result.collection}-${job.finished_at.replaceAll(/[-:]|\.\d+/g, '')}.${result.format}`
  const headers = {
    'Content-Type': mediaType === 'text/csv' ? 'text/csv; charset=utf-8' : mediaType,
    'Content-Disposition': `attachment; filename="${name}"`,
    ...caching,
  }
  return { status: 200, headers, body: { kind: 'file', path: files.pathOf(id), start: 0, length: result.bytes } }
}
