/** Body + caller -> the plan of an export, of reading its job, or of deleting a job. */
import { uuidv7 } from 'uuidv7'
import type { Conditions } from '../http/preconditions.ts'
import { resolveCondition } from '../model/condition.ts'
import type { CallerView } from '../model/declaration.ts'
import { never } from '../model/predicate.ts'
import { type Catalog, isMapped, type Resource, storedResource } from '../model/resource.ts'
import { permit } from '../policy/permit.ts'
import { fault } from '../spec/faults.ts'
import { translateFilter, translateSort } from '../versions/translate-request.ts'
import { readExportRequest } from './export-request.ts'
import { idempotencyOf } from './idempotency.ts'
import { isObject } from './merge-patch.ts'
import type { DeleteJob, Export, ReadRecord } from './plan.ts'
import type { Planning } from './plan-for.ts'

/**
 * Plans an export.
 *
 * @throws Fault FORBIDDEN where the caller may read no record of the collection
 */
export function planExport(
  planning: Planning,
  caller: CallerView,
  input: { readonly body: unknown; readonly idempotencyKey: string | undefined },
): Export {
  const { catalog, versionCatalog, basePath, now } = planning
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
    idempotency: idempotencyOf(planning, caller, ['exports'], input),
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

/** Plans to read the job of an export: whoever may see the job may have what it made. */
export function planJob(planning: Planning, caller: CallerView, id: string): ReadRecord {
  const jobs = jobsOf(planning)
  const permitted = permit(planning.catalog, caller, 'read', jobs)
  return { kind: 'read-record', resource: jobs, id, permitted, fields: undefined, conditions: {} }
}

/** An export whose file is asked for. */
export interface AskedExport {
  /** By the name that some version has for it. */
  readonly collection: string
  /** The caller who asked for the export. */
  readonly asker: string | null
}

/**
 * Whether a caller may have the file of an export. It holds what its asker could read, who must be able to read something still;
 * others must be able to read everything (AUT-9).
 *
 * @param versionCatalogs of all versions
 */
export function mayHaveExport(
  catalog: Catalog,
  versionCatalogs: Iterable<Catalog>,
  caller: CallerView,
  { collection, asker }: AskedExport,
): boolean {
  for (const { resources } of versionCatalogs) {
    const resource = resources.get(collection)
    if (resource === undefined) continue
    const { kind } = permit(catalog, caller, 'read', storedResource(resource))
    if (kind === 'always' || (kind !== 'never' && asker === caller.id)) return true
  }
  return false
}

/**
 * Plans to delete a job that has ended: whoever may see it may delete it.
 *
 * @param mustExport whether the address is that of an export, at which no other job is
 */
export function planJobDeletion(
  planning: Planning,
  caller: CallerView,
  { id, mustExport }: Pick<DeleteJob, 'id' | 'mustExport'>,
  conditions: Conditions,
): DeleteJob {
  const resource = jobsOf(planning)
  const permitted = permit(planning.catalog, caller, 'delete', resource)
  return { kind: 'delete-job', resource, id, mustExport, permitted, conditions, caller, now: planning.now }
}

function jobsOf({ catalog }: Planning): Resource {
  return catalog.system.get('jobs') as Resource
}
