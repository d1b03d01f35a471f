/**
 * Plans to export a collection (JOB-6), whose request has its filter, order, fields and format; and to read the file of
 * an export.
 */

import type { Condition } from 'resourced-contract/model/declaration'
import { candidates } from 'resourced-contract/model/nearest'
import { isObject } from 'resourced-contract/model/plain-copy'
import { never, type SortTerm } from 'resourced-contract/model/predicate'
import { type Catalog, isMapped, type Resource, storedResource } from 'resourced-contract/model/resource'
import { type TimeZone, timeZone, utc } from 'resourced-contract/model/time-zone'
import { fault, type Issue, issue } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'
import { exportTypes } from 'resourced-contract/spec/media-types'
import { uuidv7 } from 'uuidv7'
import type { Conditions } from '../http/preconditions.ts'
import { permit, permitFields } from '../policy/permit.ts'
import { liveFields, readExportFilter } from '../request/condition.ts'
import {
  countListed,
  listed,
  readFields,
  readSort,
  readText,
  type SourcedText,
  unsettableMembers,
} from '../request/parameters.ts'
import { translatePredicate, translateSort } from '../versions/translate-request.ts'
import type { ExportFormat } from './export-document.ts'
import type { Export, ReadRecord } from './plan.ts'
import { permittedSelection, readableFieldsOf, resolveAsked } from './plan-grants.ts'
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
  const { resource, where, zone, sort, fields, format } = request
  const stored = storedResource(resource)
  const asked = resolveAsked(planning, resource, { condition: where, zone })
  const placeOf = () => ({ pointer: '/filter' })
  const selection = permittedSelection(planning, stored, {
    parts: [{ filter: translatePredicate(versionCatalog, resource, asked), placeOf }],
    sort: translateSort(versionCatalog, resource, sort),
    sortPlace: { pointer: '/sort' },
  })
  return {
    ...shared,
    resource: stored,
    versionResource: isMapped(resource) ? resource : undefined,
    permitted,
    ...readableFieldsOf(planning, stored),
    ...selection,
    fields,
    format,
    issues: [],
  }
}

/**
 * Plans to read the file of an export: the job is read, and the reply is its file. A file holds what the caller who
 * asked for it could read. That caller must still be able to read some records of the collection; others must be able
 * to read all of them, and all fields (AUT-9).
 */
export function planExportFile(planning: Planning, id: string, conditions: Conditions): ReadRecord {
  const { catalog, caller } = planning
  const resource = jobsOf(planning)
  const readable = new Map<string, 'all' | 'some'>()
  for (const { resources } of [catalog, ...catalog.versions.values()]) {
    for (const [name, resource] of resources) {
      const { kind } = permit(catalog, caller, 'read', storedResource(resource))
      const isWhole = permitFields(catalog, caller, storedResource(resource)).readable === undefined
      if (kind === 'always' && isWhole) readable.set(name, 'all')
      else if (kind !== 'never' && !readable.has(name)) readable.set(name, 'some')
    }
  }
  const permitted = permit(catalog, caller, 'read', resource)
  const file = { conditions, caller: caller.id, readable }
  return { kind: 'read-record', resource, id, permitted, fields: undefined, conditions: {}, file }
}

/** The resource of jobs. */
export function jobsOf({ catalog }: Planning): Resource {
  return catalog.system.get('jobs') as Resource
}

/** An export that can be made. */
interface ExportRequest {
  readonly resource: Resource
  /** To be resolved for the caller (`resolveCondition`); `{}`: everything. */
  readonly where: Condition
  /** The zone of the days in it. */
  readonly zone: TimeZone
  readonly sort: readonly SortTerm[]
  /** `undefined`: all. */
  readonly fields: readonly string[] | undefined
  readonly format: ExportFormat
}

const exportFormats = Object.keys(exportTypes) as ExportFormat[]

const members: readonly string[] = ['collection', 'filter', 'timezone', 'sort', 'fields', 'format']

/**
 * Reads the body of an export, or everything that is wrong with it.
 *
 * @param body read by `model/json/read-json.ts`, which bounds its size and depth
 *
 * @example
 * readExportRequest(catalog, { collection: 'tasks', filter: { status: 'opne' }, format: 'csv' })
 * // { issues: [{ code: 'NOT_IN_ENUM', pointer: '/filter/status', … }] }
 */
export function readExportRequest(
  catalog: Catalog,
  body: unknown,
): ExportRequest | { readonly issues: readonly Issue[] } {
  if (!isObject(body)) return { issues: [issue('object', { pointer: '' })] }
  const issues = unsettableMembers(body, members)
  const resource = readCollection(catalog, body['collection'], issues)
  const format = readFormat(body['format'], issues)
  const where = readExportFilter(resource && { resource, catalog }, body['filter'], issues)
  const zone = readZone(body['timezone'], issues)
  const order = readNames('sort', body['sort'], issues)
  const names = readNames('fields', body['fields'], issues)
  if (names !== undefined) findRepeated(names, issues)
  // Only a known collection has sorts and fields to compare with.
  const sort = resource && order ? readSort({ resource }, order, issues) : []
  const fields = resource && names && readFields(resource, names, liveFields, issues)
  if (resource === undefined || format === undefined || issues.length > 0) return { issues }
  return { resource, where, zone, sort, fields, format }
}

/** The zone of the days in a filter: UTC unless the body names another. */
function readZone(name: unknown, issues: Issue[]): TimeZone {
  if (name === undefined || name === null) return utc
  const zone = typeof name === 'string' ? timeZone(name) : undefined
  if (zone !== undefined) return zone
  const code = typeof name === 'string' ? 'INVALID_VALUE' : 'INVALID_TYPE'
  issues.push(issue('value', { code, pointer: '/timezone', wanted: 'zone' }))
  return utc
}

function readCollection(catalog: Catalog, name: unknown, issues: Issue[]): Resource | undefined {
  const place = { pointer: '/collection' }
  const names = [...catalog.resources.keys()]
  if (name === undefined || name === null) issues.push(issue('requiredOf', { ...place, allowed: names }))
  else if (typeof name !== 'string') issues.push(issue('type', { ...place, types: ['string'] }))
  else if (!catalog.resources.has(name))
    issues.push(issue('unknownCollection', { ...place, names: candidates(name, names) }))
  else return catalog.resources.get(name)
  return undefined
}

function readFormat(format: unknown, issues: Issue[]): ExportFormat | undefined {
  const place = { pointer: '/format' }
  const allowed = exportFormats
  const known = exportFormats.find((each) => each === format)
  if (known !== undefined) return known
  if (format === undefined || format === null) issues.push(issue('requiredOf', { ...place, allowed }))
  else issues.push(issue('enum', { ...place, ...(typeof format !== 'string' && { code: 'INVALID_TYPE' }), allowed }))
  return undefined
}

/** The names of `sort` or `fields`: an array of them, or one text with commas. */
function readNames(member: string, value: unknown, issues: Issue[]): SourcedText[] | undefined {
  if (value === undefined) return undefined
  const pointer = `/${member}`
  if (!Array.isArray(value) && typeof value !== 'string') {
    issues.push(issue('names', { pointer }))
    return undefined
  }
  const most = member === 'sort' ? queryLimits.sortTerms : queryLimits.fields
  const count = typeof value === 'string' ? countListed(value) : value.length
  if (count > most || value.length === 0) {
    const code = value.length === 0 ? 'TOO_FEW_ITEMS' : 'TOO_MANY_ITEMS'
    issues.push(issue('nameCount', { code, pointer, most }))
    return undefined
  }
  if (typeof value === 'string') return listed(value, { pointer })
  return value.flatMap((item: unknown, index) => {
    const place = { pointer: `${pointer}/${index}` }
    const text = readText(item, place.pointer, issues)
    return text === undefined ? [] : [{ text, place }]
  })
}

function findRepeated(names: readonly SourcedText[], issues: Issue[]): void {
  const seen = new Set<string>()
  for (const { text, place } of names) {
    if (seen.has(text)) issues.push(issue('namesTwice', { ...place, name: text }))
    seen.add(text)
  }
}
