/**
 * Reads the parts of a request besides its path: preferences, parameters, conditions and body. Nothing is decided yet.
 */
import { isUtf8, parseContentType, parseHttpDate, parseIdempotencyKey } from 'resourced-contract/fields/header-fields'
import { deepestNesting, readJson } from 'resourced-contract/model/json/read-json'
import { controlParameters } from 'resourced-contract/model/names'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { isHistory } from 'resourced-contract/model/resource'
import { type Fault, fault, type Issue, issue } from 'resourced-contract/spec/faults'
import { bodyTypes } from 'resourced-contract/spec/media-types'
import type { HttpRequest } from '../http/message.ts'
import { type Conditions, readConditions } from '../http/preconditions.ts'
import { decidePreferences, type PreferenceName } from '../http/preferences.ts'
import { type IncludeCatalog, type IncludedPath, isOfInclude, readInclude } from './include.ts'
import { type KnownQueries, type ListQuery, readListQuery, readMatchFilter, type Selected } from './list-query.ts'
import { type Many, readArray, readUpsert } from './many.ts'
import { type Operation, readOperations } from './operations.ts'
import {
  answeredFields,
  invalidQuery,
  type Parameter,
  readBoolean,
  readParameters,
  refuseParameters,
} from './parameters.ts'
import { conditionIn, readQueryBody } from './query-body.ts'
import { readSummaryQuery, type SummaryQuery, summaryLists } from './summary-query.ts'
import { isHistoryOf, type Target, updateNotDeclared } from './target.ts'

/** The input of a request, by its address and its method. */
export type Input =
  | { readonly kind: 'read-page'; readonly query: ListQuery; readonly conditions: Conditions }
  | { readonly kind: 'read-summary'; readonly query: SummaryQuery; readonly conditions: Conditions }
  /** A stream of events, after the last one that the client has got. */
  | { readonly kind: 'event-stream'; readonly selected: Selected; readonly lastEventId: string | undefined }
  | ({ readonly kind: 'read-record'; readonly conditions: Conditions } & RecordQuery)
  | ({ readonly kind: 'create'; readonly body: unknown } & Keyed)
  | ({ readonly kind: 'bulk-delete'; readonly body: unknown } & Keyed)
  | ({ readonly kind: 'export'; readonly body: unknown } & Keyed)
  | { readonly kind: 'replace' | 'merge' | 'patch'; readonly body: unknown; readonly conditions: Conditions }
  /** Creates or changes the records of an array, or the record that a unique value identifies (BLK-1, BLK-2). */
  | WriteManyInput
  | { readonly kind: 'delete'; readonly conditions: Conditions; readonly descendants: boolean }
  | ({ readonly kind: 'restore'; readonly conditions: Conditions } & Keyed)
  | ({ readonly kind: 'transaction'; readonly operations: readonly Operation[]; readonly body: unknown } & Keyed & Cut)
  | ({ readonly kind: 'delete-matching' } & Matching)
  | ({ readonly kind: 'update-matching'; readonly body: unknown } & Matching)
  /** The erasure of a history. */
  | { readonly kind: 'erase'; readonly conditions: Conditions; readonly includeDeleted: boolean }
  /** What a deletion would do. */
  | { readonly kind: 'preview' }
  /** The OpenAPI document, or the file of an export. */
  | { readonly kind: 'document'; readonly conditions: Conditions }

type WriteManyInput = Many &
  Keyed & {
    readonly kind: 'write-many'
    readonly method: 'POST' | 'PATCH' | 'PUT'
    readonly conditions: Conditions
  }
/** The records that match a filter. */
interface Matching {
  readonly selected: Selected
  readonly conditions: Conditions
}

/** What a response about one record shows. */
interface RecordQuery {
  /** The requested fields; `undefined`: all. */
  readonly fields: readonly string[] | undefined
  readonly include: readonly IncludedPath[]
  /** Whether deleted records count, where their history is asked for (HIS-2). */
  readonly includeDeleted: boolean
  /** The time at whose end the record was in the state that is asked for: seconds since 1970 (HIS-3). */
  readonly at: number | undefined
}

/** What makes a POST repeatable (MET-9). */
interface Keyed {
  /** The `Idempotency-Key` of the request. */
  readonly idempotencyKey: string | undefined
}

/** What ends a transaction before one of its operations is planned. */
interface Cut {
  /** The operation that is refused, by its index, and why; left out: none is. */
  readonly refusal?: { readonly index: number; readonly fault: Fault }
}

/** What reading a request needs. */
interface Reading {
  readonly request: HttpRequest
  /** An address that supports the method. */
  readonly target: Target
  readonly version: {
    readonly catalog: Catalog
    /** A media type that means `application/json` too. */
    readonly vendorType?: string | undefined
  }
  /** The query string, without `?` and without the version. */
  readonly query: string
  readonly knownQueries: KnownQueries
  /** Whether the client asks for a stream of the collection. */
  readonly isStream?: boolean
}

/**
 * Reads a request that has no body. Mistakes are refused in the order of CON-6.
 *
 * @returns `undefined`: it has a body, which `readWithBody` reads
 * @throws Fault MALFORMED_URL, INVALID_IDEMPOTENCY_KEY, MALFORMED_CONDITION, INVALID_QUERY
 */
export function readWithoutBody(reading: Reading): Input | undefined {
  const { request, target, version, query, knownQueries } = reading
  const { catalog } = version
  const { method, headers } = request
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && target.kind === 'collection' && reading.isStream) {
    const selected = readStreamFilter(target.resource, readParameters(query), catalog)
    return { kind: 'event-stream', selected, lastEventId: headers['last-event-id'] }
  }
  if (isRead && target.kind === 'collection') {
    const conditions = readConditions(headers)
    refuseDatetime(target.resource, headers)
    return { kind: 'read-page', conditions, query: knownQueries.read(target.resource, query, catalog) }
  }
  const parameters = readParameters(query)
  if (isRead && target.kind === 'summary') {
    const conditions = readConditions(headers)
    refuseDatetime(target.resource, headers)
    return { kind: 'read-summary', conditions, query: readSummaryQuery(target.resource, parameters, catalog) }
  }
  if (isRead && target.kind === 'record') {
    const conditions = readConditions(headers)
    const at = readDatetime(target.resource, headers)
    const { fields, include, includeDeleted } = readRecordQuery(target.resource, parameters, catalog, at)
    return { kind: 'read-record', fields, include, includeDeleted, at, conditions }
  }
  if (method === 'DELETE') return readDeletion(target, parameters, readConditions(headers), version.catalog)
  if (isRead || target.kind === 'restore') {
    const conditions = readConditions(headers)
    refuseParameters(parameters)
    if (target.kind === 'deletion') return { kind: 'preview' }
    if (isRead) return { kind: 'document', conditions }
    return { kind: 'restore', conditions, idempotencyKey: keyOf(headers['idempotency-key']) }
  }
  return undefined
}

/**
 * Reads a request with its body. Mistakes are refused in the order of CON-6.
 *
 * @throws Fault MALFORMED_URL, 413, 415, MALFORMED_JSON, TOO_MANY_MEMBERS, INVALID_IDEMPOTENCY_KEY,
 *   MALFORMED_CONDITION, INVALID_QUERY, FILTER_REQUIRED
 */
export async function readWithBody({ request, target, version, query }: Reading): Promise<Input> {
  const parameters = readParameters(query)
  const { method, headers } = request
  const { bodyBytes, bodyMembers, bulk } = version.catalog.limits
  const takesArrays = target.kind === 'collection' && target.resource.made === 'by-clients' && method !== 'QUERY'
  const bounds = {
    maxBytes: bodyBytes,
    // The ids of a bulk deletion (DEL-9), and the records of an array, have a limit of their own.
    maxMembers: bodyMembers + (target.kind === 'bulk-delete' ? (target.resource.deletion.bulk?.max ?? 0) : 0),
    maxItems: takesArrays ? bulk : 0,
  }
  const { value: body, mediaType } = await readBody(request, bounds, acceptedTypes(target, method, version.vendorType))
  const idempotencyKey = method === 'POST' ? keyOf(headers['idempotency-key']) : undefined
  const conditions = readConditions(headers)
  if (target.kind === 'collection' && method === 'PUT') {
    const many = readUpsert(target.resource, parameters, { body, most: bulk })
    return { kind: 'write-many', method, ...many, conditions, idempotencyKey }
  }
  if (target.kind === 'collection' && method === 'PATCH' && isOfMatches(target, parameters, body)) {
    const selected = readMatchFilter(target.resource, parameters, version.catalog, 'changed')
    return { kind: 'update-matching', selected, body, conditions }
  }
  refuseParameters(parameters)
  if (method === 'QUERY' && 'resource' in target) refuseDatetime(target.resource, headers)
  const isArray = target.kind === 'collection' && target.resource.made === 'by-clients' && Array.isArray(body)
  if (target.kind === 'collection' && (method === 'PATCH' || (method === 'POST' && isArray))) {
    return { kind: 'write-many', method, ...readArray(body, bulk), conditions, idempotencyKey }
  }
  if (method === 'QUERY' && target.kind === 'collection') {
    const issues: Issue[] = []
    const listed = readQueryBody(body, issues)
    const query = readListQuery(target.resource, listed, version.catalog, issues, { member: conditionIn(body) })
    return { kind: 'read-page', conditions, query }
  }
  if (target.kind === 'summary') {
    const issues: Issue[] = []
    const listed = readQueryBody(body, issues, summaryLists)
    const query = readSummaryQuery(target.resource, listed, version.catalog, issues, conditionIn(body))
    return { kind: 'read-summary', conditions, query }
  }
  if (target.kind === 'exports') return { kind: 'export', body, idempotencyKey }
  if (target.kind === 'transactions') {
    return { kind: 'transaction', operations: readOperations(version.catalog, body), body, idempotencyKey }
  }
  if (target.kind === 'bulk-delete') return { kind: 'bulk-delete', body, idempotencyKey }
  if (method === 'POST') return { kind: 'create', body, idempotencyKey }
  if (method === 'PUT') return { kind: 'replace', body, conditions }
  return { kind: mediaType === jsonPatchType ? 'patch' : 'merge', body, conditions }
}

/**
 * Whether a PATCH of a collection is about the records that match a filter (BLK-3), and not about those of an array.
 *
 * @throws Fault UPDATE_BY_FILTER_NOT_DECLARED
 */
function isOfMatches(
  target: Extract<Target, { readonly kind: 'collection' }>,
  parameters: readonly Parameter[],
  body: unknown,
): boolean {
  const { byFilter } = target.resource.updates
  if (!byFilter && !Array.isArray(body)) throw updateNotDeclared(target)
  return byFilter && (!Array.isArray(body) || parameters.length > 0)
}

function readDeletion(
  target: Target,
  parameters: readonly Parameter[],
  conditions: Conditions,
  catalog: IncludeCatalog,
): Input {
  if (isHistoryOf(target)) {
    return { kind: 'erase', includeDeleted: readOnlyBoolean(deletedParameter, parameters), conditions }
  }
  if (target.kind === 'collection') {
    const selected = readMatchFilter(target.resource, parameters, catalog, 'deleted')
    return { kind: 'delete-matching', selected, conditions }
  }
  if (target.kind === 'record' && target.resource.name === 'api-keys') {
    // Revokes the keys made with the key too (AUT-10).
    return { kind: 'delete', conditions, descendants: readOnlyBoolean('descendants', parameters) }
  }
  refuseParameters(parameters)
  return { kind: 'delete', conditions, descendants: false }
}

/**
 * Reads the parameters of a stream: the filters and the condition of the list, and nothing else.
 *
 * @throws Fault INVALID_QUERY
 */
function readStreamFilter(resource: Resource, parameters: readonly Parameter[], catalog: IncludeCatalog): Selected {
  const issues = parameters
    .filter(({ name }) => name === 'after' || (name !== 'where' && controlParameters.includes(name)))
    .map(({ name }) => issue('streamParameters', { parameter: name }))
  if (issues.length > 0) throw invalidQuery(issues)
  return readListQuery(resource, parameters, catalog)
}

/** Reads the parameters of a single resource: `fields`, and those of related records (QRY-4, REL-1). */
function readRecordQuery(
  resource: Resource,
  parameters: readonly Parameter[],
  catalog: IncludeCatalog,
  at: number | undefined,
): RecordQuery {
  if (parameters.length === 0) return { fields: undefined, include: [], includeDeleted: false, at }
  const issues: Issue[] = []
  const isFormer = at !== undefined || isHistory(resource)
  const isOfBin = ({ name }: Parameter) => isFormer && name === deletedParameter
  const includeDeleted = readBoolean(
    deletedParameter,
    readOnly(deletedParameter, parameters.filter(isOfBin), issues),
    issues,
  )
  const others = parameters.filter((each) => !isOfInclude(each.name) && !isOfBin(each))
  const fields = answeredFields(resource, readOnly('fields', others, issues, 'fields and include'), issues)
  const included = parameters.filter(({ name }) => isOfInclude(name))
  // Related records are as they are now.
  if (at !== undefined) issues.push(...included.map(({ name }) => issue('includedInPast', { parameter: name })))
  const include = included.length === 0 ? [] : readInclude(catalog, resource, included, issues)
  if (issues.length > 0) throw invalidQuery(issues)
  return { fields, include, includeDeleted, at }
}

const deletedParameter = 'include_deleted'

/**
 * Reads `Accept-Datetime` (RFC 7089), which only resources with a history follow.
 *
 * @throws Fault MALFORMED_CONDITION
 */
function readDatetime({ history }: Resource, headers: HttpRequest['headers']): number | undefined {
  const text = headers[datetimeField]
  if (history === undefined || text === undefined) return undefined
  const at = parseHttpDate(text)
  if (at === undefined)
    throw fault('MALFORMED_CONDITION', { errors: [issue('malformedDatetime', { header: 'Accept-Datetime' })] })
  return at
}

const datetimeField = 'accept-datetime'

/**
 * Refuses `Accept-Datetime` for a list of records with a history: the client would take present records for former
 * ones.
 *
 * @throws Fault INVALID_QUERY, MALFORMED_CONDITION
 */
function refuseDatetime(resource: Resource, headers: HttpRequest['headers']): void {
  if (readDatetime(resource, headers) === undefined) return
  throw fault('MALFORMED_CONDITION', { errors: [issue('listInPast', { header: 'Accept-Datetime' })] })
}

/**
 * Reads the one parameter that an address takes, which is `true` or `false`.
 *
 * @throws Fault INVALID_QUERY
 */
function readOnlyBoolean(only: string, parameters: readonly Parameter[]): boolean {
  const issues: Issue[] = []
  const value = readBoolean(only, readOnly(only, parameters, issues), issues)
  if (issues.length > 0) throw invalidQuery(issues)
  return value
}

/**
 * Reads the one parameter that an address takes.
 *
 * @param known what the address takes in all
 */
function readOnly(
  only: string,
  parameters: readonly Parameter[],
  issues: Issue[],
  known: string = only,
): string | undefined {
  let text: string | undefined
  for (const { name, value } of parameters) {
    if (name !== only) issues.push(issue('onlyParameters', { parameter: name, only: known }))
    else if (text !== undefined) issues.push(issue('repeatedParameter', { parameter: name }))
    else text = value
  }
  return text
}

function keyOf(field: string | undefined): string | undefined {
  return field === undefined ? undefined : parseIdempotencyKey(field)
}

/** The media types that an address takes as a body; `vendorType` means `application/json` too. */
export function acceptedTypes({ kind }: Target, method: string, vendorType?: string): readonly string[] {
  // A JSON Patch is about a single record.
  const isOfMany = kind === 'collection' && method === 'PATCH'
  const types = (bodyTypes[method] ?? []).filter((type) => !isOfMany || type !== jsonPatchType)
  return vendorType === undefined || types.length === 0 ? types : [...types, vendorType]
}

const jsonPatchType = 'application/json-patch+json'

// The response header field that lists the accepted media types (RFC 5789 section 2.2, RFC 10008 section 3).
const named: Readonly<Record<string, string>> = { PATCH: 'Accept-Patch', POST: 'Accept-Post', QUERY: 'Accept-Query' }

interface BodyBounds {
  readonly maxBytes: number
  readonly maxMembers: number
  /** The most items of an array besides; 0: the body is no array of records. */
  readonly maxItems: number
}

/** @throws Fault UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, MALFORMED_JSON, TOO_MANY_MEMBERS */
async function readBody(
  request: HttpRequest,
  { maxBytes, maxMembers, maxItems }: BodyBounds,
  types: readonly string[],
): Promise<{ readonly value: unknown; readonly mediaType: string }> {
  const sent = request.headers['content-type']
  const type = sent === undefined ? undefined : parseContentType(sent)
  const encoded = !/^(identity)?$/i.test(request.headers['content-encoding']?.trim() ?? '')
  if (type === undefined || !types.includes(type.mediaType) || !isUtf8(type) || encoded) {
    // A body that is too large gets 413, with any media type (CON-6).
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) await request.readBody(maxBytes)
    if (encoded) {
      // RFC 9110 section 15.5.16: the coding is named by Accept-Encoding.
      const headers = { 'Accept-Encoding': 'identity' }
      throw fault('UNSUPPORTED_MEDIA_TYPE', { detail: 'Send the body without a Content-Encoding.', headers })
    }
    const header = named[request.method]
    throw fault('UNSUPPORTED_MEDIA_TYPE', {
      detail: `Send the body as ${types.join(' or ')} in UTF-8, and say so in Content-Type.`,
      headers: header === undefined ? {} : { [header]: types.join(', ') },
    })
  }
  const bytes = await request.readBody(maxBytes)
  const isArray = maxItems > 0 && /^\s*\[/.test(Buffer.from(bytes.subarray(0, 64)).toString())
  const value = readJson(bytes, { maxDepth: deepestNesting, maxMembers: maxMembers + (isArray ? maxItems : 0) })
  return { value, mediaType: type.mediaType }
}

/** How many records a request changes, as far as its input says so. */
export function changesIn(input: Input): number {
  switch (input.kind) {
    case 'write-many':
      return input.bodies.length
    case 'transaction':
      return input.operations.reduce((sum, { target, body }) => sum + recordsIn(target, body), 0)
    case 'bulk-delete': {
      const { ids = [], dry_run: isDryRun } = isObject(input.body) ? input.body : {}
      return Array.isArray(ids) && isDryRun !== true ? ids.length : 0
    }
    case 'create':
    case 'replace':
    case 'merge':
    case 'patch':
    case 'delete':
    case 'delete-matching':
    case 'update-matching':
    case 'restore':
      return 1
    default:
      return 0
  }
}

/** Decides the preferences of a request: those that its address follows (MET-8). */
export function preferencesOf({ headers, method }: HttpRequest, target: Target): ReturnType<typeof decidePreferences> {
  return decidePreferences(headers['prefer'], understoodAt(target, method))
}

function understoodAt(target: Target, method: string): readonly PreferenceName[] {
  // The secret of a key is shown once: a response without it would lose it. A deleted job leaves nothing to represent.
  const isSystem = target.kind === 'export' || ('resource' in target && target.resource.made !== 'by-clients')
  if (isSystem && ['POST', 'PATCH', 'DELETE'].includes(method)) return []
  if (target.kind === 'bulk-delete' || target.kind === 'exports') return ['return', 'respond-async']
  const isMatching = target.kind === 'collection' && (method === 'DELETE' || method === 'PATCH')
  if (isMatching) return ['return', 'respond-async', 'max-affected']
  return method === 'DELETE' || target.kind === 'restore' ? ['return', 'respond-async'] : ['return']
}

/** How many records an operation of a transaction changes. */
function recordsIn({ kind }: Target, body: unknown): number {
  return kind === 'collection' && Array.isArray(body) ? body.length : 1
}
