/**
 * Faults, which end a request, and the issues that they list. Clients branch on the codes, so a code is stable: its
 * name and meaning never change (ERR-2).
 */
import { faults } from './fault-entries.ts'

/** A code that ends a request. */
export type FaultCode = keyof typeof faults

/** The `type` of problems (RFC 9457) with a code: of a fault, or of a declared business rule. */
export function problemType(code: string): string {
  return `urn:resourced:problem:${code}`
}

/**
 * The codes of the entries of `errors` (ERR-3): what is wrong with one field, parameter or header. An entry can also
 * have a code of `faults`, or the code of a declared business rule.
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
  TOO_LARGE: 'The number is too large, or a patch makes the value too large.',
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

/** An entry of `errors`, with its place: a JSON Pointer into the body, a query parameter or a header (ERR-3). */
export interface Issue {
  readonly code: IssueCode
  readonly message: string
  readonly pointer?: string
  readonly parameter?: string
  readonly header?: string
  /** The collection of the records that cause the error, their number, and the ids of some that the caller may read. */
  readonly collection?: string
  readonly count?: number
  readonly ids?: readonly string[]
  /** The entry stands for so many further errors, which are counted and not listed (`IssueList`). */
  readonly unlisted?: number
}

/** The most entries of `errors` that a declaration may allow (`limits.errors`). */
export const mostErrors = 1_000

/**
 * Collects issues. It makes as many as a response may list, and counts the others: many errors cost little more than
 * none.
 */
export class IssueList {
  readonly #listed: Issue[] = []
  #unlisted = 0

  add(make: () => Issue): void {
    if (this.#listed.length < mostErrors) this.#listed.push(make())
    else this.#unlisted++
  }

  /**
   * The issues, and one that stands for those that were not made.
   *
   * @param pointer the place of that one
   */
  all(pointer = ''): Issue[] {
    if (this.#unlisted === 0) return this.#listed
    const message = `${pointer === '' ? 'The body has' : 'has'} ${this.#unlisted} more errors`
    return [...this.#listed, { code: 'INVALID_VALUE', message, pointer, unlisted: this.#unlisted }]
  }
}

/** The number of errors for which issues stand. */
export function countErrors(issues: readonly Issue[]): number {
  return issues.reduce((sum, { unlisted = 1 }) => sum + unlisted, 0)
}

/** The additions of one occurrence of a fault to the entry of its code. */
export interface FaultDetails {
  /** One sentence on this occurrence: what is wrong, and what to do. */
  readonly detail?: string
  readonly errors?: readonly Issue[]
  /** The response lists all errors: one for each record that the request names (DEL-9). */
  readonly listsAll?: boolean
  /** Header fields of the response, such as `Allow` or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An error that ends the request. Its status and title come from the entry of its code. */
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
