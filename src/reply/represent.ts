/**
 * plan + outcome -> response. Every outcome has its status here, or is thrown as a Fault. A page of a collection has an
 * envelope, links and header fields (PAG-3, PAG-7).
 */

import { formatLinks, type Link } from '../http/fields/link.ts'
import type { HttpResponse, ResponseHeaders } from '../http/message.ts'
import type { JobStatus } from '../model/catalog.ts'
import type { Position } from '../model/predicate.ts'
import type { Resource } from '../model/resource.ts'
import { sealCursor } from '../plan/cursor.ts'
import type { Outcome, PageOutcome, Plan, ReadPage } from '../plan/plan.ts'
import { type Fault, fault, type Issue } from '../spec/faults.ts'
import { exportFile } from './export-file.ts'
import { appliedHeader, jobRetry, listCaching, type ReplyContext, recordCaching, writtenHeaders } from './headers.ts'
import { conflict } from './problem.ts'

const json = 'application/json'

/**
 * Makes the response to a plan.
 *
 * @throws Fault if the record is missing, forbidden, not in the expected state, or not valid
 */
export function represent(plan: Plan, outcome: Outcome, context: ReplyContext): HttpResponse {
  if (plan.kind === 'read-record' && plan.file !== undefined) return exportFile(plan.file, outcome, context)
  const resource = plan.versionResource ?? plan.resource
  switch (outcome.kind) {
    case 'record': {
      const { headers, body } = recordAnswer(resource, outcome)
      return { status: 200, headers: { ...headers }, body }
    }
    case 'not-modified':
      return { status: 304, headers: recordCaching(resource, outcome), body: undefined }
    case 'page':
      return pageResponse(plan as ReadPage, outcome, context)
    case 'page-too-large':
      throw pageTooLarge(plan as ReadPage, outcome.fits)
    case 'page-not-modified':
      return { status: 304, headers: listCaching(resource, outcome.tag), body: undefined }
    case 'created': {
      const location = `${context.basePath}/${resource.name}/${outcome.id}`
      const headers = { Location: location, ...writtenHeaders(resource, outcome), ...appliedHeader(context) }
      if (plan.kind === 'create-key') {
        return {
          status: 201,
          headers: { 'Content-Type': json, ...headers },
          body: `${withKey(outcome.json, plan.secret())}\n`,
        }
      }
      if (context.preferred.return === 'minimal') return { status: 201, headers, body: undefined }
      return { status: 201, headers: { 'Content-Type': json, ...headers }, body: `${outcome.json}\n` }
    }
    case 'replayed': {
      // The first response again, whatever the repeat prefers.
      const { answer, preferred } = outcome
      if (plan.kind === 'create-key' && answer.kind === 'created')
        throw shownOnce(`${context.basePath}/${resource.name}/${answer.id}`)
      const applied = preferred.return === undefined ? undefined : `return=${preferred.return}`
      return represent(plan, answer, { ...context, preferred, applied })
    }
    case 'key-in-use':
      throw fault('IDEMPOTENCY_KEY_IN_USE', {
        detail: 'A request with this key is being carried out. Repeat it in a moment to get its answer.',
        errors: [
          { code: 'IDEMPOTENCY_KEY_IN_USE', message: 'The first request still runs.', header: 'Idempotency-Key' },
        ],
      })
    case 'key-reused':
      throw fault('IDEMPOTENCY_KEY_REUSED', {
        detail: 'This key came with another body in the last 24 hours. A new request needs a new key.',
        errors: [
          { code: 'IDEMPOTENCY_KEY_REUSED', message: 'The key belongs to another request.', header: 'Idempotency-Key' },
        ],
      })
    case 'updated': {
      // The entity tag of a record that the caller may not read would show how often others change it (AUT-9).
      const written = outcome.json === undefined ? { 'Cache-Control': 'no-store' } : writtenHeaders(resource, outcome)
      const headers: ResponseHeaders = { ...written, ...appliedHeader(context) }
      const silent = outcome.json === undefined || context.preferred.return === 'minimal'
      if (silent) return { status: 204, headers, body: undefined }
      return { status: 200, headers: { 'Content-Type': json, ...headers }, body: `${outcome.json}\n` }
    }
    case 'deleted': {
      const preferred = context.preferred.return
      const summary = preferred === undefined ? resource.deletion.answer === 'summary' : preferred === 'representation'
      const headers: ResponseHeaders = { 'Cache-Control': 'no-store', ...appliedHeader(context) }
      if (!summary) return { status: 204, headers, body: undefined }
      const body = JSON.stringify({ id: outcome.id, deleted_at: outcome.deletedAt })
      return { status: 200, headers: { 'Content-Type': json, ...headers }, body: `${body}\n` }
    }
    case 'bulk-deleted': {
      const headers: ResponseHeaders = { 'Cache-Control': 'no-store', ...appliedHeader(context) }
      if (context.preferred.return === 'minimal') return { status: 204, headers, body: undefined }
      const data = outcome.ids.map((id) => ({ id, deleted_at: outcome.deletedAt }))
      return { status: 200, headers: { 'Content-Type': json, ...headers }, body: `${JSON.stringify({ data })}\n` }
    }
    case 'deleted-matching': {
      const headers: ResponseHeaders = { 'Cache-Control': 'no-store', ...appliedHeader(context) }
      if (context.preferred.return === 'minimal') return { status: 204, headers, body: undefined }
      const body = JSON.stringify({ deleted_count: outcome.count })
      return { status: 200, headers: { 'Content-Type': json, ...headers }, body: `${body}\n` }
    }
    case 'accepted': {
      const { job, statusUrl } = outcome
      const headers: ResponseHeaders = { Location: statusUrl, 'Retry-After': jobRetry, 'Cache-Control': 'no-store' }
      if (context.preferred.asynchronously) headers['Preference-Applied'] = 'respond-async'
      const body = JSON.stringify({ status: 'pending', job_id: job, status_url: statusUrl })
      return { status: 202, headers: { 'Content-Type': json, ...headers }, body: `${body}\n` }
    }
    case 'bulk-refused':
      return bulkRefusal(outcome.issues, context)
    case 'missing':
      if (plan.kind === 'delete' && resource.deletion.repeated === 'no-content') {
        return { status: 204, headers: { 'Cache-Control': 'no-store' }, body: undefined }
      }
      throw fault('NOT_FOUND', { detail: `There is no such record in ${resource.name}, or it was deleted.` })
    case 'parent-missing': {
      const parent = plan.kind === 'create' || plan.kind === 'read-page' ? plan.parent : undefined
      throw fault('NOT_FOUND', { detail: `There is no such record in ${parent?.resource.name}, or it was deleted.` })
    }
    case 'forbidden':
      throw fault('FORBIDDEN', { detail: `Your credential does not allow this on this record of ${resource.name}.` })
    case 'precondition-required':
      throw fault('PRECONDITION_REQUIRED', { detail: 'Read the record, and send its ETag in If-Match.' })
    case 'stale':
      throw fault('PRECONDITION_FAILED', {
        detail: `The record is not as ${outcome.header} says: it was changed meanwhile. Read it again, then decide.`,
        errors: [{ code: 'PRECONDITION_FAILED', message: 'The condition does not hold.', header: outcome.header }],
      })
    case 'invalid':
      throw fault('VALIDATION_FAILED', { errors: outcome.issues })
    case 'conflict':
      return conflict(outcome.issues, context)
  }
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

/** If the reasons differ, the status is 409 before 403 before 404. `errors` has all of them. */
function bulkRefusal(errors: readonly Issue[], context: ReplyContext): HttpResponse {
  const codes = new Set(errors.map(({ code }) => code))
  codes.delete('NOT_FOUND')
  if (codes.size === 0)
    throw fault('NOT_FOUND', { detail: 'Some of the records are not there; none was deleted.', errors })
  codes.delete('FORBIDDEN')
  if (codes.size > 0) return conflict(errors, context)
  throw fault('FORBIDDEN', { detail: 'You may not delete some of the records; none was deleted.', errors })
}

/** Whether a job has ended. Without its status in the representation, there is no `Retry-After`. */
function isFinal(text: string): boolean {
  const { status } = JSON.parse(text) as { readonly status?: JobStatus }
  return status !== 'pending' && status !== 'running'
}

/** The record of an API key with its secret, which this response alone shows (AUT-2). */
function withKey(record: string, key: string): string {
  return `${record.slice(0, -1)},"key":${JSON.stringify(key)}}`
}

/** The refusal of a repeated request for an API key: only the first response had the secret (MET-9). */
function shownOnce(address: string): Error {
  const advice = 'Where that is lost, delete it and ask for another with a new Idempotency-Key.'
  const detail = `The first request made ${address}, and its answer alone showed the key. ${advice}`
  return fault('KEY_SHOWN_ONCE', { detail })
}

/** Makes the response that shows a page. */
function pageResponse(plan: ReadPage, outcome: PageOutcome, context: ReplyContext): HttpResponse {
  const { pagination, links } = describe(plan, outcome, context)
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/json',
      ...listCaching(plan.versionResource ?? plan.resource, outcome.tag),
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
  const records = fits === 1 ? 'one of its records fits' : `${fits} of its records fit`
  const message = `The page has too many bytes: ${records}. Use ${parameter}=${fits}.`
  const advice = 'for fewer fields, or by cursor: such a page ends early and says where to go on.'
  const detail = `Ask with ${parameter}=${fits}, ${advice}`
  return fault('PAGE_TOO_LARGE', { detail, errors: [{ code: 'PAGE_TOO_LARGE', message, parameter }] })
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
