/** Header fields that say what caches may do, and by what to ask again (CON-1, CON-2, CON-8). */
import { formatEntityTag } from '../http/fields/entity-tag.ts'
import { formatHttpDate } from '../http/fields/http-date.ts'
import type { ResponseHeaders } from '../http/message.ts'
import type { Resource } from '../model/resource.ts'
import type { Validators } from '../plan/plan.ts'
import { tagOf } from '../plan/validators.ts'

/** Header fields of a list that may be kept and asked for again. */
export function listCaching(resource: Resource, tag: string): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource),
    ETag: formatEntityTag({ opaque: tag, weak: false }),
    Vary: 'Accept',
  }
}

/** Header fields of a readable record: how long it may be kept, and by what to ask again (CON-1, CON-2). */
export function recordCaching(resource: Resource, validators: Validators): ResponseHeaders {
  return {
    'Cache-Control': cacheControl(resource),
    ETag: formatEntityTag({ opaque: tagOf(resource, validators), weak: false }),
    'Last-Modified': formatHttpDate(Date.parse(validators.updatedAt) / 1000),
    Vary: 'Accept',
  }
}

/** How long a private cache may keep a read without asking again. */
function cacheControl(resource: Resource): string {
  return resource.maxAge > 0 ? `private, max-age=${resource.maxAge}` : 'private, no-cache'
}

/** Header fields of the answer to a change: the new validators, and nothing to keep. */
export function writtenHeaders(resource: Resource, validators: Validators): ResponseHeaders {
  return { ...recordCaching(resource, validators), 'Cache-Control': 'no-store' }
}
