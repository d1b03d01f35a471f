/**
 * The findings of a comparison, and every kind of difference in one table: whether it breaks clients (spec 9.3) or not
 * (spec 9.4), its message, and what to do about it. Decision 023 has the reasons for the judgements.
 */

/** Whether clients of the old interface break. `review`: the two interfaces alone do not say. */
export type Severity = 'breaking' | 'review' | 'compatible'

/** Whether requests or responses differ. */
export type Direction = 'request' | 'response'

/** Where in one of the two interfaces something is. */
export interface Place {
  readonly in: 'old' | 'new'
  /** The OpenAPI document (of a declaration: the document generated from it), or the declaration itself. */
  readonly of: 'openapi' | 'declaration'
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string
}

/** One difference, before it is judged. */
export interface Difference {
  readonly kind: Kind
  /** The version of the interface, such as `v1`; empty where the interface has none. */
  readonly version?: string
  /** Left out where both directions differ, or neither in particular. */
  readonly direction?: Direction
  /** The resources concerned: tags of the document. */
  readonly resources: readonly string[]
  /** `GET /v1/tasks/{id}`; operations of the old interface, or of the new one where they are new. */
  readonly operations: readonly string[]
  /** The path to the field: `currencies[].code`. Empty: the whole body or value. */
  readonly field?: string
  /** The parameters, header fields, media types, statuses, codes or values that differ. */
  readonly names?: readonly string[]
  /** The parameter or header field that holds the field, if the body does not. Of a parameter: where it is sent. */
  readonly within?: string
  /** The keyword, of a limit. */
  readonly keyword?: string
  readonly before?: unknown
  readonly after?: unknown
  readonly places: readonly Place[]
}

/** A difference, judged and in words. */
export interface Finding extends Difference {
  readonly severity: Severity
  /**
   * The rule that judges it: an item of the specification (`spec 9.3` lists breaking changes, `spec 9.4` the others),
   * and VER-5.
   */
  readonly rule: string
  /** What differs, as a clause: "the field priority is gone from responses". */
  readonly message: string
  /** What to do about it; empty for compatible differences. */
  readonly remedy: string
}

type Words = (difference: Difference) => string

interface KindEntry {
  readonly severity: Severity | Readonly<Record<Direction, Severity>>
  readonly words: Words
  readonly remedy: string
  /** The rule, where it is another than spec 9.3 or 9.4. */
  readonly rule?: string
}

const bringBack = 'Bring it back, or make a new version.'
const acceptAsBefore = 'Keep accepting what was accepted before, or make a new version.'
const returnAsBefore = 'Return only what was declared before, or make a new version.'
const makeOptional = 'Make it optional.'
const leaveOptional = 'Leave it optional.'
const giveDefault = 'Make it optional, or give it a default.'

const breaking = (words: Words, remedy = bringBack): KindEntry => ({ severity: 'breaking', words, remedy })
const review = (words: Words, remedy: string): KindEntry => ({ severity: 'review', words, remedy })
const compatible = (words: Words, rule?: string): KindEntry => ({ severity: 'compatible', words, remedy: '', rule })
/** Breaks requests: the server must go on accepting all that it accepted. */
const narrowed = (words: Words, remedy = acceptAsBefore): KindEntry => ({
  severity: { request: 'breaking', response: 'compatible' },
  words,
  remedy,
})
/** Breaks responses: clients must go on understanding all that they get. */
const widened = (words: Words, remedy = returnAsBefore): KindEntry => ({
  severity: { request: 'compatible', response: 'breaking' },
  words,
  remedy,
})

const table = {
  'version-removed': breaking(({ version, names = [] }) => {
    const others = names.length === 0 ? 'no other version is served' : `${listed(names)} is served`
    return `${version} is gone with all its endpoints; ${others}`
  }, 'Serve it beside the new one until its sunset. If it is served, check `servers` in the document.'),
  'version-retired': compatible(({ version }) => `${version} is gone, after its sunset`, 'spec 9.7'),
  'version-added': compatible(({ version }) => `${version} is new`),
  'resource-removed': breaking(({ resources }) => `${listed(resources)} is gone, with every endpoint`),
  'resource-added': compatible(({ resources }) => `${listed(resources)} is new`),
  'operation-removed': breaking(({ operations }) => `${listed(operations)} ${isOrAre(operations)} gone`),
  'operation-added': compatible(({ operations }) => `${listed(operations)} ${isOrAre(operations)} new`),
  'operation-deprecated': compatible(() => 'the operation is deprecated', 'spec 9.6'),
  'security-added': breaking((each) => `authentication is stricter or different: ${change(each)}`, acceptAsBefore),
  'security-relaxed': compatible((each) => `there is another way to authenticate: ${change(each)}`),

  'parameter-removed': breaking((each) => `${parameters(each)} gone`),
  'parameter-added': compatible((each) => `${parameters(each)} new, and optional`),
  'parameter-added-required': breaking((each) => `${parameters(each)} new, and required`, makeOptional),
  'parameter-required': breaking((each) => `${parameters(each)} required, and was optional`, leaveOptional),
  'parameter-optional': compatible((each) => `${parameters(each, 'may be left out')}`),
  'parameter-written': breaking((each) => `${parameters(each)} serialized differently: ${change(each)}`),
  'body-removed': breaking(() => 'the request body is no longer accepted'),
  'body-added': compatible(() => 'a request body may be sent'),
  'body-added-required': breaking(() => 'a request body is required, and none was accepted before', makeOptional),
  'body-required': breaking(() => 'the request body is required, and was optional', leaveOptional),
  'body-optional': compatible(() => 'the request body may be left out'),
  'media-type-removed': breaking(
    (each) => `${listed(each.names)} is no longer ${each.direction === 'request' ? 'accepted' : 'returned'}`,
  ),
  'media-type-added': compatible(
    (each) => `${listed(each.names)} is ${each.direction === 'request' ? 'accepted' : 'returned'} too`,
  ),
  'status-removed': breaking(({ names }) => `the status ${listed(names)} is no longer returned`),
  'status-added': review(
    ({ names }) => `the status ${listed(names)} may be returned`,
    'Make sure that clients get it only for requests that were not possible before.',
  ),
  'part-status-added': compatible(({ names }) => `the status ${listed(names)} is returned to clients that ask for it`),
  'condition-required': breaking(
    () => 'a condition is required: requests without If-Match get 428',
    'Leave conditions optional, or make a new version.',
  ),
  'condition-optional': compatible(() => 'a condition is no longer required'),
  'code-removed': breaking(
    ({ names }) => `the error code ${listed(names)} is gone`,
    'Clients may check for it. Keep returning it, or make a new version.',
  ),
  'code-added': review(
    ({ names = [] }) => `${names.length === 0 ? 'any error code' : `the error code ${listed(names)}`} may be returned`,
    'Make sure that it is returned only for requests that were refused before too.',
  ),
  'header-removed': breaking(({ names }) => `the header ${listed(names)} is gone from responses`),
  'header-added': compatible(({ names }) => `the header ${listed(names)} is new in responses`),

  'field-removed': breaking(
    (each) => `${subject(each)} is gone${side(each).replace(' in ', ' from ')}`,
    'Bring it back (a field renamed is one gone and another one new), or make a new version.',
  ),
  'field-added': compatible((each) => `${subject(each)} is new${side(each)}`),
  'field-added-required': breaking((each) => `${subject(each)} is new${side(each)}, and required`, giveDefault),
  'field-required': narrowed(
    (each) => `${subject(each)} ${each.direction === 'request' ? 'is required, and was optional' : 'is always there'}`,
    giveDefault,
  ),
  'field-optional': widened(
    (each) => `${subject(each)} may be ${each.direction === 'request' ? 'left out' : 'absent from responses'}`,
    'Always return it, or make a new version.',
  ),
  'field-read-only': breaking((each) => `${subject(each)} is read-only, and could be sent`, acceptAsBefore),
  'field-deprecated': compatible((each) => `${subject(each)} is deprecated${side(each)}`, 'spec 9.6'),
  'type-changed': breaking(
    (each) => `the type of ${subject(each)} changed${side(each)} ${change(each)}`,
    'Give the new type a field of its own, or make a new version.',
  ),
  'type-narrowed': narrowed((each) => `the type of ${subject(each)} is narrower${side(each)}: ${change(each)}`),
  'type-widened': widened((each) => `the type of ${subject(each)} is wider${side(each)}: ${change(each)}`),
  'null-added': widened(
    (each) => `${subject(each)} may be null${side(each)}`,
    'Always return a value, or make a new version.',
  ),
  'null-removed': narrowed((each) => `${subject(each)} is never null${side(each)}`),
  'values-removed': narrowed((each) => `${subject(each)} no longer ${takes(each)} ${values(each)}${side(each)}`),
  'values-added': widened((each) => `${subject(each)} ${takes(each)} ${values(each)} too${side(each)}`),
  'values-listed': narrowed(
    (each) => `${subject(each)} ${takes(each)} only ${values(each)}${side(each)}, and any value before`,
  ),
  'values-unlisted': widened(
    (each) => `${subject(each)} ${takes(each)} any value${side(each)}, and only listed values before`,
  ),
  'limit-narrowed': narrowed((each) => `${subject(each)} is narrower${side(each)}: ${limit(each)}`),
  'limit-widened': widened((each) => `${subject(each)} is wider${side(each)}: ${limit(each)}`),
  'format-changed': breaking(
    (each) => `the format of ${subject(each)} changed${side(each)} ${change(each)}`,
    'Give the new format a field of its own, or make a new version.',
  ),
  'pattern-changed': review(
    (each) => `the pattern of ${subject(each)} changed${side(each)} ${change(each)}`,
    'Make sure that every value that was sent still matches, and that responses have no other values.',
  ),
  'keyword-changed': review(
    (each) => `${each.keyword} of ${subject(each)} changed${side(each)}`,
    'Compare it by hand: programs cannot compare this keyword.',
  ),
  'default-changed': review(
    (each) => `the default of ${subject(each)} changed ${change(each)}`,
    'No request is refused, but clients that leave it out get another value. Tell them.',
  ),
  'object-closed': breaking(
    (each) => `${subject(each)} no longer accepts fields other than those listed`,
    acceptAsBefore,
  ),
  'object-opened': compatible((each) => `${subject(each)} accepts fields other than those listed`),
  'others-widened': breaking(
    (each) => `other fields of ${subject(each)} may have any type in responses`,
    returnAsBefore,
  ),

  'access-narrowed': breaking(
    (each) => `${each.keyword} is allowed to fewer callers: ${arrow(each)}`,
    'Keep allowing them, or tell those who lose access: they get 403, or no longer see the records.',
  ),
  'access-widened': compatible((each) => `${each.keyword} is allowed to more callers: ${arrow(each)}`),
  'access-changed': review(
    ({ keyword }) => `the access rule of ${keyword} changed`,
    'Compare the rules by hand: callers that were allowed must still be allowed.',
  ),
  'deletion-hard': breaking(
    () => 'deletion is permanent, and was soft',
    'Keep it soft, or make a new version: deleted records can no longer be restored or read.',
  ),
  'deletion-soft': compatible(() => 'deletion is soft, and was permanent'),
  'grace-shortened': breaking(gracePeriod, 'Keep the longer time, or tell callers that delete records.'),
  'grace-lengthened': compatible(gracePeriod),
  'deletion-answer': breaking(
    ({ after }) =>
      after === 'summary'
        ? 'a deletion returns 200 and a summary instead of 204'
        : 'a deletion returns 204 without a body instead of 200',
    'Keep the response as it was, or make a new version.',
  ),
  'deletion-always-later': breaking(
    () => 'every deletion returns 202 and runs as a job',
    'Keep completing deletions at once, or make a new version.',
  ),
  'deletion-sooner-later': review(
    ({ before, after }) => `more deletions run as jobs (202): above ${after} records, ${before} before`,
    'Make sure that clients follow Location on 202.',
  ),
  'unique-added': breaking(
    ({ names = [] }) => `${listed(names)} must be unique${names.length > 1 ? ' together' : ''} (409 DUPLICATE_VALUE)`,
    'Leave it out, or make a new version: values that were accepted are refused. Check the data for duplicates.',
  ),
  'immutable-added': breaking((each) => `${subject(each)} can no longer be changed after creation`, acceptAsBefore),
  'immutable-removed': compatible((each) => `${subject(each)} can be changed after creation`),
  'transitions-removed': breaking(
    (each) => `${subject(each)} can no longer change ${listed(each.names)} (409 INVALID_TRANSITION)`,
    acceptAsBefore,
  ),
  'transitions-added': compatible((each) => `${subject(each)} can also change ${listed(each.names)}`),
  'reference-changed': breaking(
    (each) => `${subject(each)} refers to ${shown(each.after)}, and referred to ${shown(each.before)}`,
  ),
  'on-delete-stricter': breaking(
    (each) => `${subject(each)} now prevents the deletion of the record it refers to: onDelete ${change(each)}`,
  ),
  'on-delete-changed': review(
    (each) => `deleting the record that ${subject(each)} refers to has another effect: onDelete ${change(each)}`,
    'Tell clients: a deletion now deletes or changes other records than before.',
  ),
  'owner-changed': breaking(
    ({ before, after }) => `the owner field is ${shown(after)}, and was ${shown(before)}: callers cannot set it`,
    acceptAsBefore,
  ),
  'search-removed': breaking(
    ({ names }) => `q no longer searches ${listed(names)}`,
    'Keep searching it, or make a new version: q finds fewer records.',
  ),
  'search-added': compatible(({ names }) => `q searches ${listed(names)} too`),
  'rule-added': breaking(
    ({ names }) => `there is a new business rule: ${listed(names)} (409)`,
    'Make sure that it refuses only requests that were refused before, or make a new version.',
  ),
  'rule-changed': review(
    ({ names }) => `the business rule ${listed(names)} changed`,
    'Compare the rules by hand: requests that were allowed should still be.',
  ),
  'body-limit-lowered': breaking(
    (each) => `the limit of request bodies is lower: ${change(each)} bytes (413)`,
    acceptAsBefore,
  ),
  'export-limit-lowered': breaking(
    (each) =>
      each.keyword === 'count'
        ? `a caller may have fewer exports: ${change(each)} (409)`
        : `the exports of a caller may have fewer bytes: ${change(each)} (409)`,
    acceptAsBefore,
  ),
  'rate-lowered': review(
    (each) => `the rate limit is lower (${each.keyword}): ${change(each)}`,
    'Make sure that clients wait on 429 (Retry-After).',
  ),
  'cached-longer': review(
    (each) => `caches may keep responses longer: ${change(each)} seconds`,
    'Make sure that clients can live with older responses.',
  ),
} as const satisfies Readonly<Record<string, KindEntry>>

/** A kind of difference. Stable: programs may branch on it. */
export type Kind = keyof typeof table

/** Every kind. */
export const kinds = Object.keys(table) as Kind[]

/** Whether a difference breaks clients. */
export function severityOf({ kind, direction }: Pick<Difference, 'kind' | 'direction'>): Severity {
  const { severity } = table[kind]
  if (typeof severity === 'string') return severity
  // A difference in both directions breaks if it breaks in one.
  return direction === undefined ? 'breaking' : severity[direction]
}

/** Judges a difference, and says it in words. */
export function judge(difference: Difference): Finding {
  const severity = severityOf(difference)
  const entry: KindEntry = table[difference.kind]
  return {
    severity,
    rule: entry.rule ?? (severity === 'compatible' ? 'spec 9.4' : 'spec 9.3, VER-5'),
    ...difference,
    message: entry.words(difference),
    remedy: severity === 'compatible' ? '' : entry.remedy,
  }
}

const mostNames = 6
const mostLength = 60

/** Some of several names, and how many more there are. */
export function listed(names: readonly string[] = [], most = mostNames): string {
  const cut = names.map((name) => clean(name, mostLength))
  if (names.length > most + 1) return `${cut.slice(0, most).join(', ')} and ${names.length - most} more`
  return [cut.slice(0, -1).join(', '), cut.at(-1) ?? ''].filter((each) => each !== '').join(' and ')
}

/** A text of a document, cut to a length and without control characters, so that a terminal can show it. */
export function clean(text: string, most = 200): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text
  return cut.replaceAll(/\p{C}/gu, '\ufffd')
}

function shown(value: unknown): string {
  if (value === undefined) return 'none'
  return clean(typeof value === 'string' ? value : JSON.stringify(value), mostLength)
}

/** `the field priority`, `the parameter status`, `the request body`. */
function subject({ field = '', within, direction }: Difference): string {
  const part = clean(field.replace(/^\[\]\.?/, '') || field, mostLength)
  if (within !== undefined)
    return `${field === '' || field === '[]' ? '' : `${part} of `}the ${clean(within, mostLength)}`
  if (field === '') return direction === 'request' ? 'the request body' : 'the response body'
  return `the field ${part}`
}

function side({ within, direction, field }: Difference): string {
  if (within !== undefined || field === '') return ''
  return direction === undefined
    ? ' in requests and responses'
    : direction === 'request'
      ? ' in requests'
      : ' in responses'
}

function parameters({ names = [], within }: Difference, verb = isOrAre(names)): string {
  const place = within === 'query' || within === undefined ? '' : `${within} `
  return `the ${place}${names.length === 1 ? 'parameter' : 'parameters'} ${listed(names)} ${verb}`
}

function isOrAre(names: readonly string[]): string {
  return names.length === 1 ? 'is' : 'are'
}

function change({ before, after }: Difference): string {
  return `from ${shown(before)} to ${shown(after)}`
}

function arrow({ before, after }: Difference): string {
  return `${shown(before)} → ${shown(after)}`
}

function limit({ keyword, before, after }: Difference): string {
  return before === undefined
    ? `${keyword} ${shown(after)}, none before`
    : `${keyword} ${shown(before)} → ${shown(after)}`
}

function gracePeriod({ before, after }: Difference): string {
  return `deleted records can be restored for ${shown(after)} instead of ${shown(before)}`
}

function takes({ direction }: Difference): string {
  return direction === 'request' ? 'accepts' : 'has'
}

function values({ names = [] }: Difference): string {
  return `the ${names.length === 1 ? 'value' : 'values'} ${listed(names)}`
}
