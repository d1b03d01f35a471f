/** plan + outcome -> response. Each status has one home: here, or the fault that it is. */
import { formatEntityTag } from '../http/fields/entity-tag.ts'
import { formatHttpDate } from '../http/fields/http-date.ts'
import type { HttpResponse, ResponseHeaders } from '../http/message.ts'
import type { Resource } from '../model/resource.ts'
import type { Outcome, Plan, Position, ReadPage, Validators } from '../plan/plan.ts'
import { tagOf } from '../plan/validators.ts'
import { fault } from '../spec/faults.ts'
import { collectionResponse, listCaching } from './collection.ts'
import { conflict, type Occurrence } from './problem.ts'

/** What a reply needs beside plan and outcome. */
export interface ReplyContext extends Occurrence {
  /** What comes before the collection in paths: `/v1`. */
  readonly basePath: string
  /** The path of the request. */
  readonly path: string
  /** The query string of the request, without `?`. */
  readonly query: string
  /** Makes a cursor of a place in the list asked for. */
  readonly sealCursor: (position: Position) => string
}

const json = 'application/json'

/**
 * Makes the answer to a plan.
 *
 * @throws Fault for what is not there, not allowed, not in the expected state, or not valid
 */
export function represent(plan: Plan, outcome: Outcome, context: ReplyContext): HttpResponse {
  const { resource } = plan
  switch (outcome.kind) {
    case 'record':
      return { status: 200, headers: { 'Content-Type': json, ...caching(resource, outcome) }, body: `${outcome.json}\n` }
    case 'not-modified':
      return { status: 304, headers: caching(resource, outcome), body: undefined }
    case 'page':
      return collectionResponse(plan as ReadPage, outcome, context)
    case 'page-not-modified':
      return { status: 304, headers: listCaching(resource, outcome.tag), body: undefined }
    case 'created': {
      const location = `${context.basePath}/${resource.name}/${outcome.id}`
      const headers = { 'Content-Type': json, Location: location, ...written(resource, outcome) }
      return { status: 201, headers, body: `${outcome.json}\n` }
    }
    case 'updated': {
      if (outcome.json === undefined) return { status: 204, headers: written(resource, outcome), body: undefined }
      return { status: 200, headers: { 'Content-Type': json, ...written(resource, outcome) }, body: `${outcome.json}\n` }
    }
    case 'deleted': {
      if (resource.deletion.answer === 'empty') return { status: 204, headers: { 'Cache-Control': 'no-store' }, body: undefined }
      const summary = JSON.stringify({ id: outcome.id, deleted_at: outcome.deletedAt })
      return { status: 200, headers: { 'Content-Type': json, 'Cache-Control': 'no-store' }, body: `${summary}\n` }
    }
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

/** Header fields of a readable record: how long it may be kept, and by what to ask again (CON-1, CON-2). */
function caching(resource: Resource, validators: Validators): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource),
    ETag: formatEntityTag({ opaque: tagOf(resource, validators), weak: false }),
    'Last-Modified': formatHttpDate(Date.parse(validators.updatedAt) / 1000),
    Vary: 'Accept',
  }
}

/** How long a private cache may keep a read without asking again. */
export function cacheControl(resource: Resource): string {
  return resource.maxAge > 0 ? `private, max-age=${resource.maxAge}` : 'private, no-cache'
}

function written(resource: Resource, validators: Validators): ResponseHeaders {
  return { ...caching(resource, validators), 'Cache-Control': 'no-store' }
}
