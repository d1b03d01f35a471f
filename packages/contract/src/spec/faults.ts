/**
 * Faults, which end a request, and the issues that they list. Clients branch on the codes, so a code is stable: its
 * name and meaning never change (ERR-2).
 */
import { faults } from './fault-entries.ts'
import { sentences } from './sentences.ts'
import { filled } from './words.ts'

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
  UNKNOWN_RELATION: 'The resource has no such relation.',
  UNKNOWN_PARAMETER: 'The address has no such query parameter.',
  DUPLICATE_PARAMETER: 'The query parameter may be given once.',
  INVALID_OPERATOR: 'The filter operator does not exist, or not for this field.',
  INVALID_PAGE: 'The page parameters are out of bounds or do not go together.',
} as const satisfies Record<string, string>

/** A code of one error inside `errors`, a fault's code, or one that a business rule declares. */
export type IssueCode = keyof typeof issueCodes | FaultCode | (string & {})

type Texts = typeof sentences

/** The reason of an issue: the name of its text, or a code that says enough. */
export type Reason = { [Code in keyof Texts]: keyof Texts[Code] }[keyof Texts] | keyof typeof issueCodes | FaultCode

const all: Partial<Record<keyof typeof issueCodes | FaultCode, Readonly<Record<string, string>>>> = sentences
const known = new Map(
  Object.entries(all).flatMap(([code, texts]) =>
    Object.entries(texts).map(([reason, text]) => [reason, { code, text }] as const),
  ),
)

/** The place of an issue: a JSON Pointer into the body, a query parameter or a header (ERR-3). */
export type Place = {
  readonly pointer?: string | undefined
  /** The field of the record, to which or below which the pointer leads. */
  readonly field?: string | undefined
  readonly parameter?: string | undefined
  readonly header?: string | undefined
}

/** Data of an issue: of its text, and for the response. None of it is secret from the caller. */
export type IssueParams = {
  /** Further fields of the record, and the collections of the record and of the target of a reference. */
  readonly fields?: readonly string[]
  readonly resource?: string
  readonly target?: string
  /** The collection and the id of the record, if that is another one than the request asks for. */
  readonly other?: string
  readonly id?: string
  /** The records that cause the error, as far as the caller may read them, and the field by which they refer. */
  readonly collection?: string
  readonly count?: number | undefined
  readonly ids?: readonly string[]
  readonly by?: string
  /** The value of the field before and after, and what may follow. */
  readonly from?: string
  readonly to?: unknown
  readonly allowed?: readonly unknown[]
  /** The operation of a JSON Patch. */
  readonly operation?: string
  /** The issue stands for so many further errors, which are counted and not listed (`IssueList`). */
  readonly more?: number
  readonly [name: string]: unknown
}

/** What is wrong: an entry of `errors` before its sentence is made. */
export interface Issue extends Place {
  readonly code: IssueCode
  readonly reason: Reason
  readonly params: IssueParams
  /** The place of the record in a body of several, as a JSON Pointer: `/3`; `pointer` begins there. */
  readonly within?: string
  /** The same in the terms of the older version that the request uses, if it was found in these terms. */
  readonly own?: Issue
}

type Text<R> = { [Code in keyof Texts]: R extends keyof Texts[Code] ? Texts[Code][R] : never }[keyof Texts]
type Names<T> = T extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer N}:${string}` ? N : Name) | Names<Rest>
  : never
type Data<R> = Place & IssueParams & { readonly code?: IssueCode } & { readonly [Name in Names<Text<R>>]: unknown }

/**
 * Makes an issue.
 *
 * @param data its place, the data of its text, and its code if that is not the code of the reason
 *
 * @example
 * issue('maxLength', { field: 'title', limit: 80 }) // { code: 'TOO_LONG', pointer: '/title', … }
 */
export function issue<R extends Reason>(
  reason: R,
  ...[data]: [Names<Text<R>>] extends [never] ? [data?: Data<R>] : [data: Data<R>]
): Issue {
  const { code = known.get(reason)?.code ?? reason, ...rest } = (data ?? {}) as Place &
    IssueParams & { readonly code?: IssueCode }
  const { field, parameter, header, pointer = field === undefined ? undefined : `/${escaped(field)}`, ...params } = rest
  return { code, reason, field, pointer, parameter, header, params }
}

/** A step of a JSON Pointer (RFC 6901 section 3). */
function escaped(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The same issue at another place. */
export function movedTo(place: Place, issue: Issue, params: IssueParams = {}): Issue {
  return { ...issue, field: undefined, pointer: undefined, ...place, params: { ...issue.params, ...params } }
}

/** The same issues about a record that stands at a place of the body. */
export function within(place: string, issues: readonly Issue[]): Issue[] {
  return issues.map(({ own, ...issue }) => ({
    ...issue,
    within: place,
    ...(own && { own: { ...own, within: place } }),
  }))
}

/** The text of an issue, without the name that it follows. */
export function textOf({ reason, params }: Pick<Issue, 'reason' | 'params'>): string {
  const meanings: Readonly<Record<string, string>> = issueCodes
  return filled(known.get(reason)?.text ?? meanings[reason] ?? `${faults[reason as FaultCode].title}.`, params)
}

/** The sentences of an issue, by the names in it. */
export function sentenceOf(issue: Issue): string {
  const { reason, params } = issue
  const { other, id } = params
  const text = textOf(issue)
  const isPredicate = /^[a-z]/.test(known.get(reason)?.text ?? '')
  const said = isPredicate ? `${subjectOf(issue)} ${text}${/[.?]$/.test(text) ? '' : '.'}` : text
  if (other === undefined) return said
  return `${other}${id === undefined ? '' : ` ${id}`}: ${said}`
}

function subjectOf({ pointer = '', parameter, field, header, params: { operation } }: Issue): string {
  const place = pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
  if (operation === undefined) return parameter ?? (place || (field ?? header ?? 'The body'))
  const [, ...steps] = place.split('/')
  return `Operation ${operation}${steps.length === 0 ? '' : `: ${steps.join('/')}`}`
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
    return [...this.#listed, issue('more', { pointer, more: this.#unlisted })]
  }
}

/** An issue for each member of a body that has no meaning there. */
export function unknownMembers(
  body: object,
  isKnown: (name: string) => boolean,
  issueOf: (name: string) => Issue,
): Issue[] {
  const issues = new IssueList()
  for (const name of Object.keys(body)) if (!isKnown(name)) issues.add(() => issueOf(name))
  return issues.all()
}

/** The number of errors for which issues stand. */
export function countErrors(issues: readonly Issue[]): number {
  return issues.reduce((sum, { params: { more = 1 } }) => sum + more, 0)
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
