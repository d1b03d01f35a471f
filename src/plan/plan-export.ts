/** Plans to export a collection (JOB-6), to read the file of an export, and to delete jobs (LIM-8). */
import { uuidv7 } from 'uuidv7'
import type { Conditions } from '../http/preconditions.ts'
import { resolveCondition } from '../model/condition.ts'
import { isObject } from '../model/plain-copy.ts'
import { never } from '../model/predicate.ts'
import { isMapped, type Resource, storedResource } from '../model/resource.ts'
import { permit } from '../policy/permit.ts'
import { fault } from '../spec/faults.ts'
import { translateFilter, translateSort } from '../versions/translate-request.ts'
import { readExportRequest } from './export-request.ts'
import type { DeleteJob, Export, ReadRecord } from './plan.ts'
import { idempotencyOf, type Planning } from './planning.ts'

/**
 * Plans an export.
 *
 * @throws Fault FORBIDDEN if the caller may read no record of the collection
 */
export function planExport(
  planning: Planning,
  input: { readonly body: unknown; readonly idempotencyKey: string | undefined },
): Export {
  const { caller, catalog, versionCatalog, basePath, now } = planning
  const { body } = input
  const named = isObject(body) ? versionCatalog.resources.get(String(body['collection'])) : undefined
  const permitted = named === undefined ? undefined : permit(catalog, caller, 'read', storedResource(named))
  if (permitted?.kind === 'never') {
    throw fault('FORBIDDEN', { detail: `Your credential does not allow you to read ${named?.name}.` })
  }
  const request = readExportRequest(versionCatalog, body)
  const id = uuidv7()
  const shared = {
    kind: 'export',
    id,
    statusUrl: `${basePath}/jobs/${id}`,
    contentUrl: `${basePath}/exports/${id}/content`,
    idempotency: idempotencyOf(planning, ['exports'], input),
    caller,
    now,
  } as const
  if ('issues' in request || permitted === undefined) {
    const issues = 'issues' in request ? request.issues : []
    const nothing = { resource: jobsOf(planning), filter: never, permitted: never, sort: [], fields: undefined }
    return { ...shared, ...nothing, format: 'json', issues }
  }
  const { resource, where, sort, fields, format } = request
  const filter = translateFilter(resource, resolveCondition(resource, where, { caller }))
  return {
    ...shared,
    resource: storedResource(resource),
    versionResource: isMapped(resource) ? resource : undefined,
    filter,
    permitted,
    sort: translateSort(resource, sort),
    fields,
    format,
    issues: [],
  }
}

/**
 * Plans to read the file of an export: the job is read, and the reply is its file. A file holds what the caller who
 * asked for it could read. That caller must still be able to read some records of the collection; others must be able
 * to read all of them (AUT-9).
 */
export function planExportFile(planning: Planning, id: string, conditions: Conditions): ReadRecord {
  const { catalog, caller } = planning
  const resource = jobsOf(planning)
  const readable = new Map<string, 'all' | 'some'>()
  for (const { resources } of [catalog, ...catalog.versions.values()]) {
    for (const [name, resource] of resources) {
      const { kind } = permit(catalog, caller, 'read', storedResource(resource))
      if (kind === 'always') readable.set(name, 'all')
      else if (kind !== 'never' && !readable.has(name)) readable.set(name, 'some')
    }
  }
  const permitted = permit(catalog, caller, 'read', resource)
  const file = { conditions, caller: caller.id, readable }
  return { kind: 'read-record', resource, id, permitted, fields: undefined, conditions: {}, file }
}

/**
 * Plans to delete a job that has ended. Callers who may see it may delete it.
 *
 * @param mustExport whether the address is `/exports/{id}`, at which other jobs are not found
 */
export function planJobDeletion(
  planning: Planning,
  { id, mustExport }: Pick<DeleteJob, 'id' | 'mustExport'>,
  conditions: Conditions,
): DeleteJob {
  const { caller, catalog, now } = planning
  const resource = jobsOf(planning)
  const permitted = permit(catalog, caller, 'delete', resource)
  return { kind: 'delete-job', resource, id, mustExport, permitted, conditions, caller, now }
}

function jobsOf({ catalog }: Planning): Resource {
  return catalog.system.get('jobs') as Resource
}
