/**
 * Every error code that the interface can answer with: the only place where a code is born.
 * Codes are stable: clients branch on them (ERR-2).
 */

/** What a fault says by itself: its status, its title, and the rule it comes from. */
export interface FaultEntry {
  readonly status: number
  readonly title: string
  readonly rule: string
}

/** The faults that end a request, by code. */
export const faults = {
  MALFORMED_REQUEST: { status: 400, title: 'The request is not well-formed HTTP', rule: 'ERR-5' },
  MALFORMED_URL: { status: 400, title: 'The address has an invalid percent-escape', rule: 'RES-10' },
  URL_TOO_LONG: { status: 414, title: 'The address is too long', rule: 'LIM-3' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The request headers are too large', rule: 'LIM-3' },
  HTTPS_REQUIRED: { status: 403, title: 'HTTPS is required', rule: 'SEC-1' },
  CREDENTIAL_IN_QUERY: { status: 400, title: 'A secret was sent in the query string', rule: 'QRY-9' },
  UNAUTHENTICATED: { status: 401, title: 'A valid credential is required', rule: 'AUT-1' },
  RATE_LIMITED: { status: 429, title: 'There were too many requests', rule: 'LIM-1' },
  ANSWERS_UNREAD: { status: 429, title: 'Too many bytes of earlier answers were not read', rule: 'LIM-6' },
  VERSION_MISMATCH: { status: 400, title: 'The request names several versions', rule: 'VER-1' },
  UNKNOWN_VERSION: { status: 400, title: 'There is no such version', rule: 'VER-1' },
  NOT_FOUND: { status: 404, title: 'Nothing is at this address', rule: 'ERR-5' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The address does not support this method', rule: 'MET-6' },
  VERSION_RETIRED: { status: 410, title: 'The version is retired', rule: 'VER-4' },
  NOT_ACCEPTABLE: { status: 406, title: 'No representation fits the Accept header', rule: 'ERR-5' },
  UNKNOWN_PREFERENCE: { status: 400, title: 'A preference is not understood', rule: 'MET-8' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request came too slowly', rule: 'LIM-3' },
  BODY_TOO_LARGE: { status: 413, title: 'The request body is too large', rule: 'LIM-3' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The media type of the body is not supported', rule: 'ERR-5' },
  MALFORMED_JSON: { status: 400, title: 'The body is not acceptable JSON', rule: 'ERR-5' },
  MALFORMED_CONDITION: { status: 400, title: 'A condition header cannot be read', rule: 'CON-3' },
  INVALID_QUERY: { status: 400, title: 'The query parameters are not valid', rule: 'QRY-8' },
  RANGE_NOT_SATISFIABLE: { status: 416, title: 'The range lies beyond the representation', rule: 'HED-3' },
  INVALID_IDEMPOTENCY_KEY: { status: 400, title: 'The Idempotency-Key header cannot be read', rule: 'MET-9' },
  FILTER_REQUIRED: { status: 400, title: 'A deletion by filter needs a filter', rule: 'DEL-10' },
  INVALID_CURSOR: { status: 400, title: 'The cursor is not valid here', rule: 'PAG-5' },
  PAGE_TOO_LARGE: { status: 400, title: 'The records of the page are too large together', rule: 'LIM-6' },
  FORBIDDEN: { status: 403, title: 'You may not do this', rule: 'AUT-4' },
  PRECONDITION_REQUIRED: { status: 428, title: 'This request must be conditional', rule: 'CON-7' },
  PRECONDITION_FAILED: { status: 412, title: 'The record is not in the expected state', rule: 'CON-3' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    title: 'The first request with this Idempotency-Key still runs',
    rule: 'MET-9',
  },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The Idempotency-Key was used for another request', rule: 'MET-9' },
  KEY_SHOWN_ONCE: { status: 409, title: 'The key was made, and is shown only once', rule: 'AUT-2' },
  KEY_QUOTA: { status: 409, title: 'The subject has as many API keys as are allowed', rule: 'AUT-10' },
  VALIDATION_FAILED: { status: 400, title: 'The record is not valid', rule: 'ERR-3' },
  CONFLICT: { status: 409, title: 'The request contradicts the current state', rule: 'ERR-5' },
  DUPLICATE_VALUE: { status: 409, title: 'A value that must be unique is taken', rule: 'DEL-11' },
  INVALID_TRANSITION: { status: 409, title: 'The field cannot change in this way now', rule: 'ERR-5' },
  NOT_DELETED: { status: 409, title: 'The record is not deleted', rule: 'DEL-6' },
  REFERENCE_DELETED: { status: 409, title: 'A record that this one refers to is deleted', rule: 'DEL-6' },
  TEXT_TOO_LONG: { status: 409, title: 'A text has more bytes than records can be found by', rule: 'LIM-3' },
  BEING_DELETED: { status: 409, title: 'The record is being deleted', rule: 'DEL-8' },
  TOO_MANY_AFFECTED: { status: 409, title: 'More records match than may be affected', rule: 'DEL-10' },
  EXPORT_QUOTA: { status: 409, title: 'The caller has as many exports as allowed', rule: 'LIM-8' },
  JOB_NOT_FINISHED: { status: 409, title: 'The job has not ended yet', rule: 'LIM-8' },
  HAS_DEPENDENTS: { status: 409, title: 'Other records depend on this one', rule: 'DEL-4' },
  INTERNAL_ERROR: { status: 500, title: 'The server failed', rule: 'ERR-5' },
  STORAGE_FAILED: { status: 502, title: 'The database failed', rule: 'ERR-6' },
  KEY_SERVER_FAILED: { status: 502, title: 'The server of the token keys failed', rule: 'ERR-6' },
  RATE_LIMIT_FAILED: { status: 502, title: 'The requests cannot be counted', rule: 'ERR-6' },
  EXPORT_SPACE: { status: 503, title: 'There is no room for exports', rule: 'LIM-8' },
  OVERLOADED: { status: 503, title: 'The server is too busy', rule: 'ERR-6' },
  MAINTENANCE: { status: 503, title: 'The service is under maintenance', rule: 'ERR-6' },
  NOT_READY: { status: 503, title: 'The server cannot take requests', rule: 'OPS-5' },
  SHUTTING_DOWN: { status: 503, title: 'The server is shutting down', rule: 'ERR-6' },
} as const satisfies Record<string, FaultEntry>

/** A code of the table above. */
export type FaultCode = keyof typeof faults

/**
 * The codes of the single errors inside `errors` (ERR-3), beside those of `faults`: what is wrong with
 * one field, one parameter or one header. Business rules add codes of their own.
 */
export const issueCodes = {
  REQUIRED: 'A required field is missing or null.',
  UNKNOWN_FIELD: 'The resource has no such field.',
  READ_ONLY: 'The server sets this field.',
  IMMUTABLE: 'The field is fixed once the record exists.',
  INVALID_TYPE: 'The value has the wrong JSON type.',
  INVALID_VALUE: 'The value breaks a rule of its schema.',
  INVALID_FORMAT: 'The text does not have the declared format.',
  NOT_IN_ENUM: 'The value is not one of those allowed.',
  TOO_SHORT: 'The text has too few characters.',
  TOO_LONG: 'The text has too many characters, or more bytes than records can be found by.',
  TOO_SMALL: 'The number is too small.',
  TOO_LARGE: 'The number is too large.',
  TOO_PRECISE: 'The decimal has too many digits after its point.',
  TOO_FEW_ITEMS: 'The array has too few items.',
  TOO_MANY_ITEMS: 'The array has too many items.',
  PATH_NOT_FOUND: 'The JSON Patch names a place that is not there.',
  INVALID_REFERENCE: 'The record referred to does not exist.',
  DUPLICATE_KEY: 'An object has the same key twice.',
  UNSAFE_KEY: 'A key is not allowed in any object.',
  TOO_DEEP: 'The JSON is nested too deeply.',
  NUMBER_NOT_EXACT: 'A number cannot be kept exactly.',
  INVALID_TEXT: 'A text holds U+0000 or half a surrogate pair.',
  UNKNOWN_PARAMETER: 'The address has no such query parameter.',
  DUPLICATE_PARAMETER: 'The query parameter may be given once.',
  INVALID_OPERATOR: 'The filter operator does not exist, or not for this field.',
  INVALID_PAGE: 'The page parameters are out of bounds or do not go together.',
} as const satisfies Record<string, string>

/** A code of one error inside `errors`, a fault's code, or one that a business rule declares. */
export type IssueCode = keyof typeof issueCodes | FaultCode | (string & {})

/** One thing wrong, with its place: a JSON Pointer into the body, a query parameter or a header (ERR-3). */
export interface Issue {
  readonly code: IssueCode
  readonly message: string
  readonly pointer?: string
  readonly parameter?: string
  readonly header?: string
  /** Other records that it is about: of which collection, how many, and a few that the caller may read. */
  readonly collection?: string
  readonly count?: number
  readonly ids?: readonly string[]
}

/** What a fault may add to its table entry. */
export interface FaultDetails {
  /** One sentence for this occurrence: what is wrong, and what to do. */
  readonly detail?: string
  /** Several things wrong at once. */
  readonly errors?: readonly Issue[]
  /** Header fields of the answer, such as `Allow` or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A refusal that ends the request. Its status and title come from the table. */
export class Fault extends Error {
  readonly code: FaultCode
  readonly details: FaultDetails

  constructor(code: FaultCode, details: FaultDetails = {}, cause?: unknown) {
    super(details.detail ?? faults[code].title, { cause })
    this.name = 'Fault'
    this.code = code
    this.details = details
  }

  get status(): number {
    return faults[this.code].status
  }
}

/**
 * Makes the fault that ends a request; throw it.
 *
 * @example
 * throw fault('NOT_FOUND', { detail: 'There is no collection "taks".' })
 */
export function fault(code: FaultCode, details: FaultDetails = {}, cause?: unknown): Fault {
  return new Fault(code, details, cause)
}
