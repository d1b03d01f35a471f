/**
 * The errors of each operation. Every operation has the same two responses, `4XX` and `5XX`. The extension `x-problems`
 * has the codes that an operation can return, and the status of each code (DOC-7).
 */
import type { RuleTrigger } from 'resourced-contract/model/declaration'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { isHistory } from 'resourced-contract/model/resource'
import { faults } from 'resourced-contract/spec/fault-entries'
import type { FaultCode } from 'resourced-contract/spec/faults'
import { headers, type Json, refTo } from './components.ts'

/** Adds errors to operations, and collects the codes of all of them. */
export interface Problems {
  /**
   * The `responses` of an operation and its `x-problems`.
   *
   * @param more codes that versions add for authenticated callers; by default those of the document's version
   */
  of(codes: readonly string[], successes: Json, more?: readonly FaultCode[]): Json
  /**
   * The extension `x-problems` of the document, after all operations are described.
   *
   * @param methods the codes of all operations with a method that need a credential
   */
  extension(methods: Json): Json
}

const failures: readonly FaultCode[] = ['INTERNAL_ERROR']
const always: readonly FaultCode[] = [
  'MALFORMED_REQUEST', 'URL_TOO_LONG', 'HEADERS_TOO_LARGE', 'HTTPS_REQUIRED', 'CREDENTIAL_IN_QUERY', 'UNAUTHENTICATED',
  'SHUTTING_DOWN', 'MALFORMED_URL', 'NOT_ACCEPTABLE', 'MALFORMED_CONDITION', 'INVALID_QUERY', 'UNKNOWN_PREFERENCE',
  'REQUEST_TIMEOUT', 'KEY_SERVER_FAILED', 'AUTHENTICATION_FAILED', 'AUTHORIZATION_FAILED', 'RATE_LIMITED',
  'RATE_LIMIT_FAILED', 'OVERLOADED', 'ANSWERS_UNREAD', 'MAINTENANCE', ...failures,
  // Of the function `authorize`, and of a database that cannot look up the credential.
  'FORBIDDEN', 'STORAGE_FAILED',
] // biome-ignore format: one code on each line is long
const keyed: readonly FaultCode[] = ['INVALID_IDEMPOTENCY_KEY', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED']
const bodied: readonly FaultCode[] = [
  'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'MALFORMED_JSON', 'TOO_MANY_MEMBERS', 'VALIDATION_FAILED',
] // biome-ignore format: one row reads best
const reading = ['RANGE_NOT_SATISFIABLE', 'READ_TOO_LONG']
const page = [...reading, 'INVALID_CURSOR', 'PAGE_TOO_LARGE', 'PRECONDITION_FAILED']
const record = ['NOT_FOUND', 'PRECONDITION_FAILED']
const head = ['MALFORMED_REQUEST', 'URL_TOO_LONG', 'HEADERS_TOO_LARGE', 'REQUEST_TIMEOUT', 'RANGE_NOT_SATISFIABLE']

/** The kinds of operations that have different errors. */
export type OperationKind = keyof ReturnType<typeof codesByKind>

/**
 * The error codes of an operation: faults, and codes of declared business rules.
 *
 * @param nested whether the address names a parent, which may be missing
 * @param deletedToo the resources from which a deletion can delete, including this one: their rules apply (DEL-5)
 */
export function codesOf(
  kind: OperationKind,
  resource?: Resource,
  nested = false,
  deletedToo: readonly Resource[] = [],
): string[] {
  // Health checks need no credential.
  const common = kind === 'live' || kind === 'ready' ? [] : always
  return [...common, ...codesByKind(resource, nested, deletedToo)[kind]]
}

/** The codes of each kind of operation, beside those of all that need a credential. */
function codesByKind(resource: Resource | undefined, nested: boolean, deletedToo: readonly Resource[]) {
  const byFilter = resource?.updates.byFilter === true
  const hasReference = resource?.fields.some((field) => field.reference)
  const parent = when(nested, 'NOT_FOUND')
  const required = when(resource?.preconditions === 'required', 'PRECONDITION_REQUIRED')
  const unique = when(resource !== undefined && resource.unique.length > 0, 'DUPLICATE_VALUE')
  const pending = [
    ...when(resource !== undefined && canBePending(resource), 'BEING_DELETED'),
    ...when(
      [resource, ...deletedToo].some((each) => each?.updates.byFilter),
      'BEING_CHANGED',
    ),
  ]
  const blocked = ['CONFLICT', 'HAS_DEPENDENTS', ...pending, ...deletedToo.flatMap((each) => ruleCodes(each, 'delete'))]
  const isStream = resource?.order === 'by-position' && !isHistory(resource)
  const include = when(resource?.made === 'by-clients', 'INCLUDE_TOO_LARGE')
  const transition = when(
    resource?.fields.some((field) => field.transitions),
    'INVALID_TRANSITION',
  )
  const changed = [...bodied, 'PRECONDITION_FAILED', ...required, 'CONFLICT', ...pending, ...unique, ...transition]
  const update = [...changed, 'NOT_FOUND', ...ruleCodes(resource, 'update')]
  const created = [...bodied, 'CONFLICT', ...when(hasReference, 'BEING_DELETED'), ...unique]
  const create = [...created, ...keyed, ...parent, ...ruleCodes(resource, 'create')]
  const updateMany = [
    ...update,
    ...when(hasReference, 'BEING_DELETED'),
    ...when(!byFilter, 'UPDATE_BY_FILTER_NOT_DECLARED'),
  ]
  return {
    list: [...page, ...parent, ...when(isStream, 'EVENTS_EXPIRED', 'TOO_MANY_STREAMS'), ...include],
    summary: page,
    read: [...reading, ...record, ...include],
    create,
    update,
    'update-many': updateMany,
    upsert: [...created, ...changed, ...ruleCodes(resource, 'create'), ...ruleCodes(resource, 'update')],
    delete: [
      'PRECONDITION_FAILED',
      ...when(resource?.deletion.repeated !== 'no-content', 'NOT_FOUND'),
      ...required,
      ...blocked,
    ],
    'bulk-delete': [...keyed, ...bodied, 'NOT_FOUND', 'READ_TOO_LONG', ...blocked],
    'preview-deletion': [...reading, 'NOT_FOUND'],
    'delete-matching': ['FILTER_REQUIRED', 'PRECONDITION_FAILED', 'TOO_MANY_AFFECTED', ...blocked],
    'update-matching': [...updateMany, 'FILTER_REQUIRED', 'TOO_MANY_AFFECTED'],
    restore: [
      ...[...keyed, ...record, 'CONFLICT', 'BEING_DELETED', 'NOT_DELETED', 'REFERENCE_DELETED', 'TEXT_TOO_LONG'],
      ...when(
        deletedToo.some((each) => each.unique.length > 0),
        'DUPLICATE_VALUE',
      ),
      ...deletedToo.flatMap((each) => ruleCodes(each, 'restore')),
    ],
    'erase-history': [...record, ...required, ...when(byFilter, 'BEING_CHANGED')],
    'create-key': [...keyed, ...bodied, 'KEY_SHOWN_ONCE', 'KEY_QUOTA'],
    'create-webhook': [...keyed, ...bodied, 'KEY_SHOWN_ONCE'],
    'update-webhook': [...bodied, ...record],
    // Of a key or a webhook.
    'delete-own': record,
    'create-delivery': [...keyed, ...bodied],
    transaction: [...keyed, ...bodied, 'OPERATION_NOT_ALLOWED', 'TRANSACTION_TOO_LARGE'],
    export: [...keyed, ...bodied, 'EXPORT_QUOTA'],
    'export-content': ['RANGE_NOT_SATISFIABLE', ...record],
    'delete-job': [...record, 'JOB_NOT_FINISHED'],
    document: ['RANGE_NOT_SATISFIABLE', 'PRECONDITION_FAILED'],
    metrics: ['RANGE_NOT_SATISFIABLE', 'NOT_FOUND'],
    live: [...head, ...failures],
    ready: [...head, ...failures, 'NOT_READY', 'OVERLOADED', 'SHUTTING_DOWN'],
  }
}

function when(holds: boolean | undefined, ...codes: readonly string[]): readonly string[] {
  return holds === true ? codes : []
}

/** Whether a record can be part of a deletion that runs: by a reference, by a filter, or with many others below it. */
function canBePending({ fields, deletion, dependents }: Resource): boolean {
  const hasMany = dependents.some(({ onDelete }) => onDelete === 'cascade')
  return hasMany || deletion.byFilter || fields.some(({ reference }) => reference !== undefined)
}

/** A resource, and those whose records are deleted with its records. */
export function deletedWith(catalog: Catalog, resource: Resource): Resource[] {
  const found = new Set([resource])
  // The loop also visits what is added during the loop.
  for (const { dependents } of found) {
    for (const { collection, onDelete } of dependents) {
      const dependent = catalog.resources.get(collection)
      if (onDelete === 'cascade' && dependent !== undefined) found.add(dependent)
    }
  }
  return [...found]
}

/** The resources that refer to any of some resources. */
export function referringTo({ resources }: Catalog, targets: readonly Resource[]): Resource[] {
  return targets.flatMap(({ dependents }) => dependents.flatMap(({ collection }) => resources.get(collection) ?? []))
}

/** Replaces the codes of business rules that are functions: those codes are not known in advance. */
export const anyCode = '*'

function ruleCodes(resource: Resource | undefined, trigger: RuleTrigger): string[] {
  const rules = resource?.rules.filter((rule) => [rule.on].flat().includes(trigger)) ?? []
  return rules.map((rule) => ('code' in rule ? rule.code : anyCode))
}

/**
 * Starts to collect the codes of a document.
 *
 * @param ofVersion codes that versions add to every operation
 */
export function collectProblems(ofVersion: readonly FaultCode[] = []): Problems {
  const found = new Set<string>(['METHOD_NOT_ALLOWED', ...always])
  return {
    of(codes, successes, more = ofVersion) {
      const isOpen = !codes.includes('UNAUTHENTICATED')
      const own = isOpen ? codes : [...codes, ...more].filter((code) => !always.includes(code as FaultCode))
      for (const code of own) found.add(code)
      return { responses: { ...successes, ...errorResponses }, 'x-problems': [...new Set(own)].sort() }
    },
    extension(methods) {
      const entries = [...found].sort().map((code) => [code, { status: statusOf(code), title: titleOf(code) }])
      return { everywhere: [...always].sort(), methods, codes: Object.fromEntries(entries) }
    },
  }
}

/**
 * Moves the codes that all operations with a method have, if they need a credential, out of these operations.
 *
 * @param paths Path Items by path
 * @returns the paths without these codes, and the codes by method
 */
export function sharedByMethod(paths: Json): { readonly paths: Json; readonly methods: Json } {
  const items = Object.entries(paths as Record<string, Record<string, Json>>)
  const codesIn = (operation: Json | undefined) => operation?.['x-problems'] as readonly string[] | undefined
  const methods = methodNames.map((method) => {
    const all = items.flatMap(([, { [method]: operation }]) =>
      operation === undefined || 'security' in operation ? [] : [codesIn(operation) ?? []],
    )
    return [method, (all[0] ?? []).filter((code) => all.every((codes) => codes.includes(code)))] as const
  })
  const shared = new Map<string, readonly string[]>(methods)
  const without = (method: string, operation: Json) => {
    const codes = shared.get(method)
    const own = codesIn(operation)
    if (codes === undefined || own === undefined || 'security' in operation) return operation
    return { ...operation, 'x-problems': own.filter((code) => !codes.includes(code)) }
  }
  const entries = items.map(([path, item]) => [
    path,
    Object.fromEntries(Object.entries(item).map(([key, value]) => [key, without(key, value)])),
  ])
  return {
    paths: Object.fromEntries(entries),
    methods: Object.fromEntries(methods.filter(([, codes]) => codes.length > 0)),
  }
}

const methodNames = ['get', 'post', 'put', 'patch', 'delete'] as const

const errorResponses: Json = {
  '4XX': refTo('responses', 'Api4XX'),
  '5XX': refTo('responses', 'Api5XX'),
}

/** The status of a code; codes of business rules are conflicts. */
function statusOf(code: string): number {
  return isFault(code) ? faults[code].status : faults.CONFLICT.status
}

function isFault(code: string): code is FaultCode {
  return Object.hasOwn(faults, code)
}

function titleOf(code: string): string {
  if (code === anyCode) return 'Any code that a business rule answers with'
  return isFault(code) ? faults[code].title : 'A business rule stands against it'
}

const content: Json = { 'application/problem+json': { schema: refTo('schemas', 'ApiProblem') } }

/** The response to a request that cannot be fulfilled. */
export const clientError: Json = {
  description: 'The request is refused. `x-problems` has the codes of the operation, and the status of each code.',
  headers: headers(
    ...(['Accept-Encoding', 'Accept-Patch', 'Accept-Post', 'Accept-Query', 'Allow'] as const),
    ...(['Content-Range', 'Retry-After', 'WWW-Authenticate'] as const),
  ),
  content,
}

/** The response to methods that an address does not support. */
export const methodNotAllowed: Json = {
  description: 'The address does not support the method. `Allow` lists the methods that it supports.',
  headers: headers('Allow'),
  content,
}

/** The response when the server fails, or must refuse work for a while. */
export const serverError: Json = {
  description: 'The server could not answer. `x-problems` has the codes; send the request again after `Retry-After`.',
  headers: headers('Retry-After'),
  content,
}
