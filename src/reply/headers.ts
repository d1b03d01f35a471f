/** What replies are made with, and the header fields that several of them have. */

import { formatHttpDate } from '../http/fields/http-date.ts'
import type { HttpRequest, ResponseHeaders } from '../http/message.ts'
import { formatEntityTag } from '../http/preconditions.ts'
import type { Resource } from '../model/resource.ts'
import { tagOf } from '../plan/check-record.ts'
import type { Preferred, Validators } from '../plan/plan.ts'
import type { Occurrence } from './problem.ts'

/** What a reply uses besides plan and outcome. */
export interface ReplyContext extends Occurrence {
  readonly request: Pick<HttpRequest, 'method' | 'headers'>
  /** What comes before the collection in paths: `/v1`. */
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
    /** The path of the file that a job has made. */
    pathOf(job: string): string
  }
}

/** Header fields of a list: how long caches may keep it, and how they validate it (CON-1, CON-8). */
export function listCaching(resource: Resource, tag: string): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource),
    ETag: formatEntityTag({ opaque: tag, weak: false }),
    Vary: 'Accept',
  }
}

/** Header fields of a readable record: how long caches may keep it, and how they validate it (CON-1, CON-2). */
export function recordCaching(resource: Resource, validators: Validators): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource),
    ETag: formatEntityTag({ opaque: tagOf(resource, validators), weak: false }),
    'Last-Modified': formatHttpDate(Date.parse(validators.updatedAt) / 1000),
    Vary: 'Accept',
  }
}

/** How long a private cache may keep a response without validating it. */
function cacheControl(resource: Resource): string {
  return resource.maxAge > 0 ? `private, max-age=${resource.maxAge}` : 'private, no-cache'
}

/** Header fields of the response to a change: the new validators, and nothing for caches. */
export function writtenHeaders(resource: Resource, validators: Validators): ResponseHeaders {
  return { ...recordCaching(resource, validators), 'Cache-Control': 'no-store' }
}

/** `Preference-Applied` (RFC 7240 section 3). */
export function appliedHeader({ applied }: Pick<ReplyContext, 'applied'>): ResponseHeaders {
  return applied === undefined ? {} : { 'Preference-Applied': applied }
}

/** `Retry-After`: seconds after which clients ask for a job again. */
export const jobRetry = '1'
