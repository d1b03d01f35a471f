/** Header fields for caches: how long they may keep a response, and how they validate it. */
import { formatHttpDate } from 'resourced-contract/fields/http-date'
import type { Resource } from 'resourced-contract/model/resource'
import type { ResponseHeaders } from '../http/message.ts'
import { formatEntityTag } from '../http/preconditions.ts'
import { tagOf } from '../plan/check-record.ts'
import type { Validators } from '../plan/outcome.ts'

/** Header fields of a list: how long caches may keep it, and how they validate it (CON-1, CON-8). */
export function listCaching(resource: Resource, tag: string): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource.maxAge),
    ETag: formatEntityTag({ opaque: tag, weak: false }),
    Vary: 'Accept',
  }
}

/** Header fields of a readable record: how long caches may keep it, and how they validate it (CON-1, CON-2). */
export function recordCaching(resource: Resource, validators: Validators): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource.maxAge),
    ETag: formatEntityTag({ opaque: tagOf(resource, validators), weak: false }),
    'Last-Modified': formatHttpDate(Date.parse(validators.updatedAt) / 1000),
    Vary: resource.history === undefined ? 'Accept' : 'Accept, Accept-Datetime',
  }
}

/** How long a private cache may keep a response without validating it, in seconds. */
export function cacheControl(maxAge: number): string {
  return maxAge > 0 ? `private, max-age=${maxAge}` : 'private, no-cache'
}

/** Header fields of the response to a change: the new validators, and nothing for caches. */
export function writtenHeaders(resource: Resource, validators: Validators): ResponseHeaders {
  return { ...recordCaching(resource, validators), 'Cache-Control': 'no-store' }
}
