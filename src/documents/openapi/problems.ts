/** The error responses of each operation: one for each status, with the codes that it can have. */
import type { RuleTrigger } from '../../model/declaration.ts'
import type { Catalog, Resource } from '../../model/resource.ts'
import { faults } from '../../spec/fault-entries.ts'
import type { FaultCode } from '../../spec/faults.ts'
import { type HeaderName, headers, type Json, openHeaders, refTo } from './components.ts'

/** The kinds of operations that have different errors. */
export type OperationKind =
  | 'list'
  | 'read'
  | 'create'
  | 'replace'
  | 'merge'
  | 'delete'
  | 'bulk-delete'
  | 'preview-deletion'
  | 'delete-matching'
  | 'restore'
  | 'create-key'
  | 'revoke-key'
  | 'export'
  | 'export-content'
  | 'delete-job'
  | 'document'
  | 'metrics'
  | 'live'
  | 'ready'

/** Error responses as components, each written once. */
export interface ProblemResponses {
  /**
   * The error responses of an operation, by status.
   *
   * @param more codes that it can return to authenticated callers; by default those of every operation of the version
   */
  of(codes: readonly string[], more?: readonly FaultCode[]): Json
  /** The Response Objects made so far, by component name. */
  readonly components: Record<string, Json>
}

const failures: readonly FaultCode[] = ['INTERNAL_ERROR']
const always: readonly FaultCode[] = [
  'MALFORMED_REQUEST', 'URL_TOO_LONG', 'HEADERS_TOO_LARGE', 'HTTPS_REQUIRED', 'CREDENTIAL_IN_QUERY', 'UNAUTHENTICATED',
  'SHUTTING_DOWN', 'MALFORMED_URL', 'NOT_ACCEPTABLE', 'MALFORMED_CONDITION', 'INVALID_QUERY', 'UNKNOWN_PREFERENCE',
  'REQUEST_TIMEOUT', 'KEY_SERVER_FAILED', 'AUTHENTICATION_FAILED', 'RATE_LIMITED', 'RATE_LIMIT_FAILED', 'OVERLOADED',
  'ANSWERS_UNREAD', 'MAINTENANCE', ...failures,
] // biome-ignore format: one code on each line is long
const stored: readonly FaultCode[] = [...always, 'FORBIDDEN', 'STORAGE_FAILED']
const ranged: readonly FaultCode[] = ['RANGE_NOT_SATISFIABLE']
const reading: readonly FaultCode[] = [...stored, ...ranged, 'READ_TOO_LONG']
const keyed: readonly FaultCode[] = ['INVALID_IDEMPOTENCY_KEY', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED']
const bodied: readonly FaultCode[] = ['BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'MALFORMED_JSON', 'VALIDATION_FAILED']

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
  const noParent = nested ? ['NOT_FOUND'] : []
  const required = resource?.preconditions === 'required' ? ['PRECONDITION_REQUIRED'] : []
  const unique = resource !== undefined && resource.unique.length > 0 ? ['DUPLICATE_VALUE'] : []
  const referring = resource?.fields.some((field) => field.reference) ? ['BEING_DELETED'] : []
  const pending = resource !== undefined && canBePending(resource) ? ['BEING_DELETED'] : []
  const blocked = ['CONFLICT', 'HAS_DEPENDENTS', ...pending, ...deletedToo.flatMap((each) => ruleCodes(each, 'delete'))]
  const transitions = resource?.fields.some((field) => field.transitions) ? ['INVALID_TRANSITION'] : []
  switch (kind) {
    case 'list':
      return [...reading, 'INVALID_CURSOR', 'PAGE_TOO_LARGE', 'PRECONDITION_FAILED', ...noParent]
    case 'read':
      return [...reading, 'NOT_FOUND', 'PRECONDITION_FAILED']
    case 'create': {
      const conflicts = ['CONFLICT', ...referring, ...unique, ...ruleCodes(resource, 'create')]
      return [...stored, ...bodied, ...keyed, ...noParent, ...conflicts]
    }
    case 'replace':
    case 'merge': {
      const conflicts = ['CONFLICT', ...pending, ...unique, ...transitions, ...ruleCodes(resource, 'update')]
      return [...stored, ...bodied, 'NOT_FOUND', 'PRECONDITION_FAILED', ...required, ...conflicts]
    }
    case 'delete': {
      const missing = resource?.deletion.repeated === 'no-content' ? [] : ['NOT_FOUND']
      return [...stored, ...missing, 'PRECONDITION_FAILED', ...required, ...blocked]
    }
    case 'bulk-delete':
      return [...stored, ...keyed, ...bodied, 'NOT_FOUND', 'READ_TOO_LONG', ...blocked]
    case 'preview-deletion':
      return [...reading, 'NOT_FOUND']
    case 'delete-matching':
      return [...stored, 'FILTER_REQUIRED', 'PRECONDITION_FAILED', 'TOO_MANY_AFFECTED', ...blocked]
    case 'restore': {
      const rules = deletedToo.flatMap((each) => ruleCodes(each, 'restore'))
      const taken = deletedToo.some((each) => each.unique.length > 0) ? ['DUPLICATE_VALUE'] : []
      const usual = ['CONFLICT', 'BEING_DELETED', 'NOT_DELETED', 'REFERENCE_DELETED', 'TEXT_TOO_LONG']
      return [...stored, ...keyed, 'NOT_FOUND', 'PRECONDITION_FAILED', ...usual, ...taken, ...rules]
    }
    case 'create-key':
      return [...stored, ...keyed, ...bodied, 'KEY_SHOWN_ONCE', 'KEY_QUOTA']
    case 'revoke-key':
      return [...stored, 'NOT_FOUND', 'PRECONDITION_FAILED']
    case 'export':
      return [...stored, ...keyed, ...bodied, 'EXPORT_QUOTA']
    case 'delete-job':
      return [...stored, 'NOT_FOUND', 'PRECONDITION_FAILED', 'JOB_NOT_FINISHED']
    case 'export-content':
      return [...stored, ...ranged, 'NOT_FOUND', 'PRECONDITION_FAILED', 'EXPORT_SPACE']
    case 'document':
      return [...always, ...ranged, 'PRECONDITION_FAILED']
    case 'metrics':
      return [...always, ...ranged, 'FORBIDDEN', 'NOT_FOUND']
    case 'live':
      return ['MALFORMED_REQUEST', 'URL_TOO_LONG', 'HEADERS_TOO_LARGE', 'REQUEST_TIMEOUT', ...ranged, ...failures]
    case 'ready':
      return [...codesOf('live'), 'NOT_READY', 'OVERLOADED', 'SHUTTING_DOWN']
  }
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

/** Replaces the codes of business rules that are functions: those codes are not known in advance. */
export const anyCode = '*'

function ruleCodes(resource: Resource | undefined, trigger: RuleTrigger): string[] {
  const rules = resource?.rules.filter((rule) => [rule.on].flat().includes(trigger)) ?? []
  return rules.map((rule) => ('code' in rule ? rule.code : anyCode))
}

/**
 * Starts a collection of error responses.
 *
 * @param everywhere codes that every operation can return to authenticated callers
 */
export function problemResponses(everywhere: readonly FaultCode[] = []): ProblemResponses {
  const components: Record<string, Json> = {}
  const names = new Map<string, string>()

  function nameOf(status: number, codes: readonly string[]): string {
    const key = codes.join()
    const known = names.get(key)
    if (known !== undefined) return known
    const plain = titles[status] as string
    let name = plain
    for (let number = 2; name in components; number++) name = `${plain}${number}`
    components[name] = response(status, codes)
    names.set(key, name)
    return name
  }

  return {
    components,
    of(codes, more = everywhere) {
      const all = codes.includes('UNAUTHENTICATED') ? [...codes, ...more] : codes
      const byStatus = Map.groupBy([...new Set(all)], (code) => statusOf(code))
      const statuses = [...byStatus.keys()].sort()
      return Object.fromEntries(
        statuses.map((status) => [
          String(status),
          refTo('responses', nameOf(status, [...(byStatus.get(status) ?? [])].sort())),
        ]),
      )
    },
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  414: 'UriTooLong',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableContent',
  428: 'PreconditionRequired',
  429: 'TooManyRequests',
  431: 'RequestHeaderFieldsTooLarge',
  500: 'InternalServerError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
}

const extraHeaders: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  415: ['Accept-Encoding', 'Accept-Patch', 'Accept-Post', 'Accept-Query'],
  416: ['Accept-Ranges', 'Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

// These are returned before the caller is authenticated.
const beforeAuthentication = new Set([401, 408, 414, 431])

// These are also returned for requests that could not be read, whose path is unknown.
const unread = new Set([400, 408, 414, 431, 500])

/** The status of a code; codes of business rules are conflicts. */
function statusOf(code: string): number {
  return isFault(code) ? faults[code].status : faults.CONFLICT.status
}

function isFault(code: string): code is FaultCode {
  return Object.hasOwn(faults, code)
}

function response(status: number, codes: readonly string[]): Json {
  const lines = codes.map((code) => {
    if (code === anyCode) return '- any code that a business rule answers with'
    return `- \`${code}\`: ${isFault(code) ? faults[code].title : 'A business rule stands against it'}.`
  })
  const code = codes.includes(anyCode) ? {} : { code: { enum: codes } }
  const required = unread.has(status) ? {} : { required: ['instance'] }
  const properties = { status: { const: status }, ...code }
  const schema = { allOf: [refTo('schemas', 'Problem'), { properties, ...required }] }
  return {
    description: lines.join('\n'),
    headers: (beforeAuthentication.has(status) ? openHeaders : headers)(...(extraHeaders[status] ?? [])),
    content: { 'application/problem+json': { schema } },
  }
}
