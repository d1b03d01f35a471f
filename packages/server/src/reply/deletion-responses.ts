/** The responses to deletions of lists that were refused (DEL-9), and to previews of deletions (DEL-12). */

import { type Catalog, resourceOfStored } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { fault, type Issue } from 'resourced-contract/spec/faults'
import type { HttpResponse, ResponseHeaders } from '../http/message.ts'
import type { DeletionPreview } from '../plan/outcome.ts'
import type { PreviewDeletion } from '../plan/plan.ts'
import { issuesFromStored } from '../versions/translate-record.ts'
import { conflict, type Occurrence, shownIssues } from './problem.ts'

/** Makes the response to a PreviewDeletion, in terms of the client's version. */
export function deletionPreview(
  { resource, ids, isBulk, now }: PreviewDeletion,
  { deletes, clears, blockers, isComplete, isJob }: DeletionPreview,
  versionCatalog: Pick<Catalog, 'resources'>,
): HttpResponse {
  const { variant, gracePeriod } = resource.deletion
  const body = {
    ...(isBulk ? { ids } : { id: ids[0] }),
    allowed: blockers.length === 0,
    // Collections and fields that the version does not have are left out.
    deletes: deletes.flatMap(({ collection, count }) => {
      const shown = resourceOfStored(versionCatalog, collection)
      return shown === undefined ? [] : [{ collection: shown.name, count }]
    }),
    clears: clears.flatMap(({ collection, field, count }) => {
      const shown = resourceOfStored(versionCatalog, collection)
      const name = shown?.mapping === undefined ? field : shown.mapping.fromStored.get(field)
      return shown === undefined || name === undefined ? [] : [{ collection: shown.name, field: name, count }]
    }),
    blocked_by: shownIssues(issuesFromStored(versionCatalog, resource, blockers)),
    complete: isComplete,
    asynchronous: isJob,
    purged_at: variant === 'soft' ? timestamp(now + gracePeriod) : null,
  }
  const caching: ResponseHeaders = isBulk
    ? { 'Cache-Control': 'no-store' }
    : { 'Cache-Control': 'private, no-cache', Vary: 'Accept' }
  const headers: ResponseHeaders = { 'Content-Type': 'application/json', ...caching }
  return { status: 200, headers, body: `${JSON.stringify(body)}\n` }
}

/**
 * The refusal of a bulk deletion. If the reasons differ, the status is 409 before 403 before 404. `errors` has all of
 * them.
 */
export function bulkRefusal(errors: readonly Issue[], occurrence: Occurrence): HttpResponse {
  const codes = new Set(errors.map(({ code }) => code))
  codes.delete('NOT_FOUND')
  if (codes.size === 0)
    throw fault('NOT_FOUND', { detail: 'Some of the records do not exist; none was deleted.', errors, listsAll: true })
  codes.delete('FORBIDDEN')
  if (codes.size > 0) return conflict(errors, occurrence, true)
  throw fault('FORBIDDEN', {
    detail: 'You may not delete some of the records; none was deleted.',
    errors,
    listsAll: true,
  })
}
