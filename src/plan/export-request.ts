/** What an export is asked to hold, as the body of `POST /exports` says it. */
import type { Condition } from '../model/declaration.ts'
import { oneOf, suggest } from '../model/nearest.ts'
import { escapeStep } from '../model/place.ts'
import type { SortTerm } from '../model/predicate.ts'
import type { Catalog, Resource } from '../model/resource.ts'
import { readFields } from '../request/fields.ts'
import { listed, type Placed } from '../request/placed.ts'
import { countListed } from '../request/query-bounds.ts'
import { readSort } from '../request/sort.ts'
import type { Issue } from '../spec/faults.ts'
import { queryLimits } from '../spec/limits.ts'
import { type ExportFormat, exportFormats, liveFields } from './export-document.ts'
import { readExportFilter } from './export-filter.ts'
import { isObject } from './merge-patch.ts'

/** An export that can be made. */
export interface ExportRequest {
  readonly resource: Resource
  /** To be resolved for the caller (`resolveCondition`); `{}`: everything. */
  readonly where: Condition
  readonly sort: readonly SortTerm[]
  /** `undefined`: all. */
  readonly fields: readonly string[] | undefined
  readonly format: ExportFormat
}

const members: readonly string[] = ['collection', 'filter', 'sort', 'fields', 'format']

/** One answer names no more than this many: a caller who sends more has one mistake, not many. */
const mostIssues = 100

/**
 * Reads what an export is asked to hold, or everything that is wrong with it.
 *
 * @param body read by `model/json/read-json.ts`, which bounds its size and depth
 *
 * @example
 * readExportRequest(catalog, { collection: 'tasks', filter: { status: 'opne' }, format: 'csv' })
 * // { issues: [{ code: 'NOT_IN_ENUM', message: 'filter.status is not one of … Did you mean "open"?', pointer: '/filter/status' }] }
 */
export function readExportRequest(
  catalog: Catalog,
  body: unknown,
): ExportRequest | { readonly issues: readonly Issue[] } {
  if (!isObject(body)) {
    const message = 'The body must be a JSON object with collection and format.'
    return { issues: [{ code: 'INVALID_TYPE', message, pointer: '' }] }
  }
  const issues: Issue[] = []
  for (const name of Object.keys(body)) {
    if (issues.length === mostIssues) break
    if (members.includes(name)) continue
    const message = `An export has nothing to set by that name. ${suggest(name, members)}`
    issues.push({ code: 'UNKNOWN_FIELD', message, pointer: `/${escapeStep(name)}` })
  }
  const resource = readCollection(catalog, body['collection'], issues)
  const format = readFormat(body['format'], issues)
  const where = readExportFilter(resource, body['filter'], issues)
  const order = readNames('sort', body['sort'], issues)
  const names = readNames('fields', body['fields'], issues)
  if (names !== undefined) findRepeated(names, issues)
  // What can be sorted by and answered is known of a collection that is.
  const sort = resource && order ? readSort(resource, order, issues) : []
  const fields = resource && names && readFields(resource, names, liveFields, issues)
  if (resource === undefined || format === undefined || issues.length > 0)
    return { issues: issues.slice(0, mostIssues) }
  return { resource, where, sort, fields, format }
}

function readCollection(catalog: Catalog, name: unknown, issues: Issue[]): Resource | undefined {
  const pointer = '/collection'
  const names = [...catalog.resources.keys()]
  if (name === undefined || name === null) {
    issues.push({ code: 'REQUIRED', message: `collection must say what to export: ${oneOf(names)}.`, pointer })
  } else if (typeof name !== 'string') {
    issues.push({ code: 'INVALID_TYPE', message: `collection is a text. Use ${oneOf(names)}.`, pointer })
  } else if (!catalog.resources.has(name)) {
    issues.push({ code: 'NOT_IN_ENUM', message: `There is no such collection. ${suggest(name, names)}`, pointer })
  } else return catalog.resources.get(name)
  return undefined
}

function readFormat(format: unknown, issues: Issue[]): ExportFormat | undefined {
  const pointer = '/format'
  const known = exportFormats.find((each) => each === format)
  if (known !== undefined) return known
  if (format === undefined || format === null) {
    issues.push({ code: 'REQUIRED', message: `format must be ${oneOf(exportFormats)}.`, pointer })
  } else if (typeof format !== 'string') {
    issues.push({ code: 'INVALID_TYPE', message: `format is a text: ${oneOf(exportFormats)}.`, pointer })
  } else {
    issues.push({ code: 'NOT_IN_ENUM', message: `format must be ${oneOf(exportFormats)}.`, pointer })
  }
  return undefined
}

/** The names of `sort` or `fields`: an array of them, or one text with commas. */
function readNames(member: string, value: unknown, issues: Issue[]): Placed[] | undefined {
  if (value === undefined) return undefined
  const pointer = `/${member}`
  if (!Array.isArray(value) && typeof value !== 'string') {
    const message = `${member} is an array of names, or a text that lists them; leave it out for the default.`
    issues.push({ code: 'INVALID_TYPE', message, pointer })
    return undefined
  }
  const most = member === 'sort' ? queryLimits.sortTerms : queryLimits.fields
  const count = typeof value === 'string' ? countListed(value) : value.length
  if (count > most || value.length === 0) {
    const code = value.length === 0 ? 'TOO_FEW_ITEMS' : 'TOO_MANY_ITEMS'
    issues.push({
      code,
      message: `${member} must name 1 to ${most} fields; leave it out for the default.`,
      pointer,
    })
    return undefined
  }
  return typeof value === 'string' ? listed(value, { pointer }) : readItems(member, value, issues)
}

function readItems(member: string, items: readonly unknown[], issues: Issue[]): Placed[] {
  return items.flatMap((text, index) => {
    const pointer = `/${member}/${index}`
    if (typeof text === 'string') return [{ text, place: { pointer } }]
    issues.push({ code: 'INVALID_TYPE', message: `An item of ${member} is a text.`, pointer })
    return []
  })
}

function findRepeated(names: readonly Placed[], issues: Issue[]): void {
  const seen = new Set<string>()
  for (const { text, place } of names) {
    if (seen.has(text)) {
      issues.push({ code: 'INVALID_VALUE', message: `fields names ${text} twice; name each field once.`, ...place })
    }
    seen.add(text)
  }
}
