/** Body + caller -> the plan of an export, or of reading one. */
import { uuidv7 } from 'uuidv7'
import { resolveCondition } from '../model/condition.ts'
import type { CallerView } from '../model/declaration.ts'
import type { Resource } from '../model/resource.ts'
import { permit } from '../policy/permit.ts'
import { fault } from '../spec/faults.ts'
import { readExportRequest } from './export-request.ts'
import { isObject } from './merge-patch.ts'
import type { Export, ReadRecord } from './plan.ts'
import type { Planning } from './plan-for.ts'

/**
 * Plans an export.
 *
 * @throws Fault FORBIDDEN where the caller may read no record of the collection; VALIDATION_FAILED
 */
export function planExport({ catalog, basePath, now }: Planning, caller: CallerView, body: unknown): Export {
  const named = isObject(body) ? catalog.resources.get(String(body['collection'])) : undefined
  const permitted = named === undefined ? undefined : permit(catalog, caller, 'read', named)
  if (permitted?.kind === 'never') {
    throw fault('FORBIDDEN', { detail: `Your credential does not allow you to read ${named?.name}.` })
  }
  const request = readExportRequest(catalog, body)
  if ('issues' in request || permitted === undefined) {
    throw fault('VALIDATION_FAILED', { errors: 'issues' in request ? request.issues : [] })
  }
  const { resource, where, sort, fields, format } = request
  const id = uuidv7()
  return {
    kind: 'export',
    resource,
    id,
    statusUrl: `${basePath}/jobs/${id}`,
    contentUrl: `${basePath}/exports/${id}/content`,
    filter: resolveCondition(resource, where, { caller }),
    permitted,
    sort,
    fields,
    format,
    caller,
    now,
  }
}

/** Plans to read the job of an export: whoever may see the job may have what it made. */
export function planJob({ catalog }: Planning, caller: CallerView, id: string): ReadRecord {
  const jobs = catalog.system.get('jobs') as Resource
  const permitted = permit(catalog, caller, 'read', jobs)
  return { kind: 'read-record', resource: jobs, id, permitted, fields: undefined, conditions: {} }
}
