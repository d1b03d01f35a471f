/**
 * plan + outcome -> response. Every outcome has its status here, or is thrown as a Fault. A page of a collection has an
 * envelope, links and header fields (PAG-3, PAG-7), and an export's content is a file (JOB-6).
 */

import { formatHttpDate, formatLinks, type Link } from 'resourced-contract/fields/header-fields'
import type { JobStatus } from 'resourced-contract/model/catalog'
import type { Position } from 'resourced-contract/model/predicate'
import { type Catalog, type Resource, resourceOfStored } from 'resourced-contract/model/resource'
import { type Fault, fault, type Issue, issue } from 'resourced-contract/spec/faults'
import { summaryLimits } from 'resourced-contract/spec/limits'
import { exportTypes } from 'resourced-contract/spec/media-types'
import {
  cacheControl,
  type FileContent,
  type HttpRequest,
  type HttpResponse,
  type ResponseHeaders,
} from '../http/message.ts'
import { decidePreconditions, formatEntityTag } from '../http/preconditions.ts'
import { accepts, type Preferred } from '../http/preferences.ts'
import { keyedTag, tagOf } from '../plan/check-record.ts'
import { sealCursor } from '../plan/cursor.ts'
import type { ExportFormat } from '../plan/export-document.ts'
import type { Outcome, PageOutcome, Validators } from '../plan/outcome.ts'
import type { ExportFileAccess, Plan, PreviewDeletion, ReadPage, TransactionPlan } from '../plan/plan.ts'
import { issuesFromStored } from '../versions/translate-record.ts'
import { bulkRefusal, deletionPreview } from './deletion-responses.ts'
import { mementoHeaders, timeMap } from './history-responses.ts'
import { conflict, type Occurrence } from './problem.ts'
import { includeTooLarge, relatedResponse } from './related-response.ts'
import { transactionResponse } from './transaction-response.ts'

/** What a reply uses besides plan and outcome. */
export interface ReplyContext extends Occurrence {
  readonly request: Pick<HttpRequest, 'method' | 'headers'>
  /** The catalog of the client's version. */
  readonly versionCatalog: Catalog
  /** The beginning of paths, before the collection: `/v1`. */
  readonly basePath: string
  /** The path of the request. */
  readonly path: string
  /** The query string of the request, without `?`. */
  readonly query: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly preferred: Pick<Preferred, 'return' | 'asynchronously'>
  /** `Preference-Applied`, if the address follows a preference that was sent. */
  readonly applied: string | undefined
  readonly cursorSecret: Uint8Array
  readonly files: {
    /** The file that a job has made. */
    contentOf(job: string): FileContent
  }
}

const json = 'application/json'

/** `Retry-After`: seconds after which clients ask for a job again. */
const jobRetry = '1'

/**
 * Makes the response to a plan.
 *
 * @throws Fault if the record is missing, forbidden, not in the expected state, or not valid
 */
export function represent(plan: Plan, outcome: Outcome, context: ReplyContext): HttpResponse {
  if (plan.kind === 'read-record' && plan.file !== undefined) return exportFile(plan.file, outcome, context)
  const resource = plan.versionResource ?? plan.resource
  const isMinimal = context.preferred.return === 'minimal'
  const named = (issues: readonly Issue[]) => issuesFromStored(context.versionCatalog, plan.resource, issues)
  switch (outcome.kind) {
    case 'record': {
      const { headers, body } = recordAnswer(resource, outcome)
      const ofState = outcome.memento === undefined ? {} : mementoHeaders(outcome.memento, context)
      return { status: 200, headers: { ...headers, ...ofState }, body }
    }
    case 'transacted':
    case 'operation-refused':
      return transactionOf(plan as TransactionPlan, outcome, context)
    case 'not-modified':
      return { status: 304, headers: recordCaching(resource, outcome), body: undefined }
    case 'page':
      return pageResponse(plan as ReadPage, outcome, context)
    case 'page-too-large':
      throw pageTooLarge(plan as ReadPage, outcome.fits)
    case 'too-many-slots':
      throw tooManySlots(outcome.group)
    case 'with-related':
      return relatedResponse(plan, outcome, () => represent(plan, outcome.answer, context), context)
    case 'include-too-large':
      throw includeTooLarge(outcome)
    case 'page-not-modified':
      return { status: 304, headers: listCaching(resource, outcome.tag), body: undefined }
    case 'created': {
      const location = `${context.basePath}/${resource.name}/${outcome.id}`
      const created = { isNew: true, headers: { Location: location, ...writtenHeaders(resource, outcome) } }
      if (plan.kind === 'create-key' || plan.kind === 'create-webhook') {
        const body = withSecret(outcome.json, plan.kind === 'create-key' ? 'key' : 'secret', plan.secret())
        return changeResponse(body, context, created)
      }
      return changeResponse(isMinimal ? undefined : `${outcome.json}\n`, context, created)
    }
    case 'written-many': {
      const body = isMinimal ? undefined : `{"data":[${outcome.json}]}\n`
      return changeResponse(body, context, { isNew: outcome.areNew })
    }
    case 'replayed': {
      // The first response again, with any preferences of the repetition.
      const { answer, preferred } = outcome
      if ((plan.kind === 'create-key' || plan.kind === 'create-webhook') && answer.kind === 'created')
        throw shownOnce(plan.kind, `${context.basePath}/${resource.name}/${answer.id}`)
      const applied = preferred.return === undefined ? undefined : `return=${preferred.return}`
      return represent(plan, answer, { ...context, preferred, applied })
    }
    case 'key-in-use':
      throw fault('IDEMPOTENCY_KEY_IN_USE', { errors: [issue('firstStillRuns', { header: 'Idempotency-Key' })] })
    case 'key-reused':
      throw fault('IDEMPOTENCY_KEY_REUSED', { errors: [issue('keyOfOther', { header: 'Idempotency-Key' })] })
    case 'updated': {
      // The entity tag of a record that the caller may not read would show how often others change it (AUT-9).
      if (outcome.json === undefined) return changeResponse(undefined, context)
      const rotated = plan.kind === 'update-webhook' && plan.rotates
      const body = rotated ? withSecret(outcome.json, 'secret', plan.secret()) : `${outcome.json}\n`
      return changeResponse(isMinimal ? undefined : body, context, { headers: writtenHeaders(resource, outcome) })
    }
    case 'deleted': {
      const preferred = context.preferred.return
      const summary = preferred === undefined ? resource.deletion.answer === 'summary' : preferred === 'representation'
      const body = `${JSON.stringify({ id: outcome.id, deleted_at: outcome.deletedAt })}\n`
      return changeResponse(summary ? body : undefined, context)
    }
    case 'bulk-deleted': {
      const data = outcome.ids.map((id) => ({ id, deleted_at: outcome.deletedAt }))
      return changeResponse(isMinimal ? undefined : `${JSON.stringify({ data })}\n`, context)
    }
    case 'erased':
      return { status: 204, headers: { 'Cache-Control': 'no-store' }, body: undefined }
    case 'deleted-matching':
    case 'updated-matching': {
      const name = outcome.kind === 'deleted-matching' ? 'deleted_count' : 'updated_count'
      return changeResponse(isMinimal ? undefined : `${JSON.stringify({ [name]: outcome.count })}\n`, context)
    }
    case 'deletion-preview':
      return deletionPreview(plan as PreviewDeletion, outcome, context.versionCatalog)
    case 'accepted': {
      const { job, statusUrl } = outcome
      const headers: ResponseHeaders = { Location: statusUrl, 'Retry-After': jobRetry, 'Cache-Control': 'no-store' }
      if (context.preferred.asynchronously) headers['Preference-Applied'] = 'respond-async'
      const body = JSON.stringify({ status: 'pending', job_id: job, status_url: statusUrl })
      return { status: 202, headers: { 'Content-Type': json, ...headers }, body: `${body}\n` }
    }
    case 'bulk-refused':
      return bulkRefusal(named(outcome.issues), context)
    case 'events-expired':
      throw fault('EVENTS_EXPIRED', {
        detail:
          'The event to continue after is no longer kept. Read the collections anew, then the events from now on.',
      })
    case 'missing':
      if (plan.kind === 'delete' && resource.deletion.repeated === 'no-content') {
        return { status: 204, headers: { 'Cache-Control': 'no-store' }, body: undefined }
      }
      if (outcome.issues !== undefined) throw fault('NOT_FOUND', { errors: named(outcome.issues) })
      if ('former' in plan && plan.former !== undefined)
        throw fault('NOT_FOUND', { detail: `There was no such record in ${resource.name} at that time.` })
      throw fault('NOT_FOUND', { detail: `There is no such record in ${resource.name}, or it was deleted.` })
    case 'parent-missing': {
      const planned = plan.kind === 'write-many' ? plan.create : plan
      const parent = planned?.kind === 'create' || planned?.kind === 'read-page' ? planned.parent : undefined
      const shown = parent && resourceOfStored(context.versionCatalog, parent.resource.name)
      throw fault('NOT_FOUND', { detail: `There is no such record in ${shown?.name}, or it was deleted.` })
    }
    case 'forbidden': {
      const { issues, lacks } = outcome
      const detail =
        plan.kind === 'write-many' && !plan.isSingle && issues !== undefined
          ? undefined
          : issues === undefined
            ? forbiddenDetail(resource, lacks)
            : `Your credential does not allow you to set some fields of this record of ${resource.name}.`
      throw fault('FORBIDDEN', { ...(detail && { detail }), ...(issues && { errors: named(issues) }) })
    }
    case 'precondition-required':
      if (plan.kind === 'write-many' && !plan.isSingle) {
        const detail = 'An array has no conditions. Send its changes to /transactions, each with if_match.'
        throw fault('PRECONDITION_REQUIRED', { detail })
      }
      throw fault('PRECONDITION_REQUIRED', { detail: 'Read the record, and send its ETag in If-Match.' })
    case 'stale': {
      const { header } = outcome
      const isUpsert = plan.kind === 'write-many'
      const reason = header === 'If-None-Match' ? 'present' : isUpsert ? 'absentOrChanged' : 'failedCondition'
      throw fault('PRECONDITION_FAILED', { errors: [issue(reason, { header })] })
    }
    case 'invalid':
      throw fault('VALIDATION_FAILED', { errors: named(outcome.issues) })
    case 'conflict':
      return conflict(named(outcome.issues), context)
  }
}

/** The response to a change. Without a body, it is 204, or 201 for what is new. */
function changeResponse(
  body: string | undefined,
  context: ReplyContext,
  { isNew = false, headers: own }: { readonly isNew?: boolean; readonly headers?: ResponseHeaders } = {},
): HttpResponse {
  const headers = { ...(own ?? { 'Cache-Control': 'no-store' }), ...appliedHeader(context) }
  if (body === undefined) return { status: isNew ? 201 : 204, headers, body }
  return { status: isNew ? 201 : 200, headers: { 'Content-Type': json, ...headers }, body }
}

/** The response to a transaction: the whole of it has `Preference-Applied`. */
function transactionOf(
  plan: TransactionPlan,
  outcome: Extract<Outcome, { readonly kind: 'transacted' | 'operation-refused' }>,
  context: ReplyContext,
): HttpResponse {
  const each = { ...context, applied: undefined }
  const made = transactionResponse(plan, outcome, context, (operation, result) => represent(operation, result, each))
  return made.status === 200 ? { ...made, headers: { ...made.headers, ...appliedHeader(context) } } : made
}

function forbiddenDetail({ name }: Resource, lacks: string | undefined): string {
  if (lacks === undefined) return `Your credential does not allow this on this record of ${name}.`
  return `The server sets a field of ${name} from ${lacks}, which your credential does not have in the right form.`
}

/** Header fields of a list: how long caches may keep it, and how they validate it (CON-1, CON-8). */
function listCaching(resource: Resource, tag: string): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource.maxAge),
    ETag: formatEntityTag({ opaque: tag, weak: false }),
    Vary: 'Accept',
  }
}

/** Header fields of a readable record: how long caches may keep it, and how they validate it (CON-1, CON-2). */
function recordCaching(resource: Resource, validators: Validators): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource.maxAge),
    ETag: formatEntityTag({ opaque: tagOf(resource, validators), weak: false }),
    'Last-Modified': formatHttpDate(Date.parse(validators.updatedAt) / 1000),
    Vary: resource.history === undefined ? 'Accept' : 'Accept, Accept-Datetime',
  }
}

/** Header fields of the response to a change: the new validators, and nothing for caches. */
function writtenHeaders(resource: Resource, validators: Validators): ResponseHeaders {
  return { ...recordCaching(resource, validators), 'Cache-Control': 'no-store' }
}

interface RecordAnswer {
  readonly headers: Readonly<ResponseHeaders>
  readonly body: string
}

// A storage returns the same outcome object until the record changes.
const recordAnswers = new WeakMap<Outcome, RecordAnswer>()

function recordAnswer(resource: Resource, outcome: Extract<Outcome, { kind: 'record' }>): RecordAnswer {
  const known = recordAnswers.get(outcome)
  if (known !== undefined) return known
  const headers: ResponseHeaders = { 'Content-Type': json, ...recordCaching(resource, outcome) }
  if (resource.name === 'jobs' && !isFinal(outcome.json)) headers['Retry-After'] = jobRetry
  const answer = { headers, body: `${outcome.json}\n` }
  recordAnswers.set(outcome, answer)
  return answer
}

/** Whether a job has ended. Without its status in the representation, there is no `Retry-After`. */
function isFinal(text: string): boolean {
  const { status } = JSON.parse(text) as { readonly status?: JobStatus }
  return status !== 'pending' && status !== 'running'
}

/** The record of an API key or a webhook with its secret, which this response alone shows (AUT-2, EVT-8). */
function withSecret(record: string, member: 'key' | 'secret', secret: string): string {
  return `${record.slice(0, -1)},"${member}":${JSON.stringify(secret)}}\n`
}

/** The refusal of a repeated request for an API key or a webhook: only the first response had the secret (MET-9). */
function shownOnce(kind: 'create-key' | 'create-webhook', address: string): Error {
  const advice = 'Where that is lost, delete it and ask for another with a new Idempotency-Key.'
  const what = kind === 'create-key' ? 'key' : 'secret'
  const detail = `The first request made ${address}, and its answer alone showed the ${what}. ${advice}`
  return fault('KEY_SHOWN_ONCE', { detail })
}

/** Makes the response that shows a page. */
function pageResponse(plan: ReadPage, outcome: PageOutcome, context: ReplyContext): HttpResponse {
  const { pagination, links } = describe(plan, outcome, context)
  const caching = listCaching(plan.versionResource ?? plan.resource, outcome.tag)
  if (plan.isTimeMap) return timeMap(plan, outcome, { caching, pages: links }, context)
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/json',
      ...caching,
      // A QUERY is more than its address: a link could not lead back to it.
      ...(context.request.method === 'QUERY' ? {} : { Link: formatLinks(links) }),
      'X-Total-Count': String(outcome.total),
    },
    body: `{"data":[${outcome.json}],"pagination":${JSON.stringify(pagination)}}\n`,
  }
}

/** The refusal of a page whose records have too many bytes, with the page size that fits (LIM-6). */
function pageTooLarge({ page }: ReadPage, fits: number): Fault {
  const parameter = page.style === 'page' ? 'per_page' : 'limit'
  return fault('PAGE_TOO_LARGE', { errors: [issue('largePage', { parameter, name: parameter, fits })] })
}

/** The refusal of a summary by periods that are too many to find (SUM-1). */
function tooManySlots(group: string): Fault {
  const [name, part] = group.split(':')
  const slots = part === 'year' || part === 'month' ? 'months' : 'days'
  const data = { parameter: 'group', most: summaryLimits.slots, slots, name }
  return fault('INVALID_QUERY', { errors: [issue('slots', data)] })
}

interface Description {
  readonly pagination: Readonly<Record<string, unknown>>
  readonly links: Link[]
}

function describe(plan: ReadPage, outcome: PageOutcome, context: ReplyContext): Description {
  const { page } = plan
  const total_count = outcome.total
  const link = linker(context)
  if (page.style === 'page') {
    const { perPage } = page
    const pages = Math.ceil(total_count / perPage)
    const at = (rel: string, number: number) => link(rel, { page: String(number), per_page: String(perPage) })
    const links = [at('first', 1)]
    if (page.page > 1) links.push(at('prev', Math.min(page.page - 1, Math.max(pages, 1))))
    if (page.page < pages) links.push(at('next', page.page + 1))
    links.push(at('last', Math.max(pages, 1)))
    return { pagination: { total_count, page: page.page, per_page: perPage, total_pages: pages }, links }
  }
  if (page.style === 'offset') {
    const { offset, limit } = page
    const at = (rel: string, start: number) => link(rel, { offset: String(start), limit: String(limit) })
    const links = [at('first', 0)]
    const last = total_count === 0 ? 0 : Math.floor((total_count - 1) / limit) * limit
    if (offset > 0) links.push(at('prev', Math.max(0, Math.min(offset, total_count) - limit)))
    if (offset + limit < total_count) links.push(at('next', offset + limit))
    links.push(at('last', last))
    return { pagination: { total_count, offset, limit }, links }
  }
  const seal = (direction: Position['direction'], keys: Position['keys'] | undefined): string | null =>
    keys === undefined ? null : sealCursor(context.cursorSecret, plan.cursorBinding ?? '', { direction, keys })
  const next_cursor = seal('forward', outcome.next)
  const previous_cursor = seal('backward', outcome.previous)
  const limit = String(page.limit)
  const links = [link('first', { limit })]
  if (previous_cursor !== null) links.push(link('prev', { cursor: previous_cursor, limit }))
  if (next_cursor !== null) links.push(link('next', { cursor: next_cursor, limit }))
  return { pagination: { total_count, limit: page.limit, next_cursor, previous_cursor }, links }
}

/** Makes links to other pages of the same list: the query as it was sent, the page parameters replaced. */
function linker({ path, query }: ReplyContext) {
  const kept = query.split('&').filter((part) => part !== '' && !/^(page|per_page|offset|limit|cursor)(=|$)/.test(part))
  const prefix = `${path}?${kept.map((part) => `${part}&`).join('')}`
  return (rel: string, parameters: Readonly<Record<string, string>>): Link => {
    const own = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
    return { target: `${prefix}${own.join('&')}`, rel }
  }
}

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
function exportFile(
  { conditions, caller, readable }: ExportFileAccess,
  outcome: Outcome,
  { request, cursorSecret, now, files }: ReplyContext,
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
    const detail = `Your credential does not allow you to read the records of ${result.collection} in this export.`
    throw fault('FORBIDDEN', { detail })
  }
  if (Date.parse(result.expires_at) <= now) {
    throw fault('NOT_FOUND', { detail: `The file was kept until ${result.expires_at}. Ask for a new export.` })
  }
  const mediaType = exportTypes[result.format]
  if (!accepts(request.headers['accept'], mediaType))
    throw fault('NOT_ACCEPTABLE', { detail: `The file is ${mediaType}.` })
  const tag = { opaque: keyedTag(cursorSecret, id), weak: false }
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
  if (verdict !== 'proceed') throw fault('PRECONDITION_FAILED', { detail: 'The condition names another file.' })
  // Names of collections and formats need no quoting.
  const name = `${result.collection}-${job.finished_at.replaceAll(/[-:]|\.\d+/g, '')}.${result.format}`
  const headers = {
    'Content-Type': mediaType === 'text/csv' ? 'text/csv; charset=utf-8' : mediaType,
    'Content-Disposition': `attachment; filename="${name}"`,
    ...caching,
  }
  return { status: 200, headers, body: { kind: 'file', ...files.contentOf(id), start: 0, length: result.bytes } }
}

/** `Preference-Applied` (RFC 7240 section 3). */
function appliedHeader({ applied }: Pick<ReplyContext, 'applied'>): ResponseHeaders {
  return applied === undefined ? {} : { 'Preference-Applied': applied }
}
