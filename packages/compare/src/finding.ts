/**
 * The findings of a comparison, and every kind of difference in one table: whether it breaks clients (spec 9.3) or not
 * (spec 9.4), its message, and what to do about it.
 */
import { keywordRows, type keywords } from 'resourced-contract/model/keywords'

/** Whether clients of the old interface break, the worst first. `review`: the two interfaces alone do not say. */
export const severities = ['breaking', 'review', 'compatible'] as const
export type Severity = (typeof severities)[number]

export type Direction = 'request' | 'response'

export interface Place {
  readonly in: 'old' | 'new'
  /** The OpenAPI document (of a declaration: the document generated from it), or the declaration itself. */
  readonly of: 'openapi' | 'declaration'
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string
}

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

/** A message with placeholders in braces, or a function that chooses one of several such messages. */
type Words = string | ((difference: Difference) => string)

interface KindEntry {
  readonly severity: Severity | Readonly<Record<Direction, Severity>>
  readonly words: Words
  readonly remedy: string
  /** The rule, where it is another than spec 9.3 or 9.4. */
  readonly rule?: string
}

const gracePeriod = 'deleted records can be restored for {after} instead of {before}'

const bringBack = 'Bring it back, or make a new version.'
const acceptAsBefore = 'Keep accepting what was accepted before, or make a new version.'
const returnAsBefore = 'Return only what was declared before, or make a new version.'
const makeOptional = 'Make it optional.'
const leaveOptional = 'Leave it optional.'
const onlyNewRequests = 'Make sure that clients get it only for requests that were not possible before.'
const leaveConditionsOptional = 'Leave conditions optional, or make a new version.'
const keepCode = 'Clients may check for it. Keep returning it, or make a new version.'
const bringFieldBack = 'Bring it back (a field renamed is one gone and another one new), or make a new version.'
const addFieldOfType = 'Give the new type a field of its own, or make a new version.'
const addFieldOfFormat = 'Give the new format a field of its own, or make a new version.'
const checkValues = 'Make sure that every value that was sent still matches, and that responses have no other values.'
const compareKeyword = 'Compare it by hand: programs cannot compare this keyword.'
const tellOfDefault = 'No request is refused, but clients that leave it out get another value. Tell them.'
const keepAllowing = 'Keep allowing them, or tell those who lose access: they get 403, or no longer see the records.'
const compareAccess = 'Compare the rules by hand: callers that were allowed must still be allowed.'
const keepSoft = 'Keep it soft, or make a new version: deleted records can no longer be restored or read.'
const keepImmediate = 'Keep completing deletions at once, or make a new version.'
const keepSearching = 'Keep searching it, or make a new version: q finds fewer records.'
const refuseAsBefore = 'Make sure that it refuses only requests that were refused before, or make a new version.'
const compareRules = 'Compare the rules by hand: requests that were allowed should still be.'
const waitAsAsked = 'Make sure that clients wait on 429 (Retry-After).'
const bearOlder = 'Make sure that clients can live with older responses.'
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

type Rows = typeof keywords
type ComparedKeyword = {
  [Word in keyof Rows]: Rows[Word]['changes'] extends { added: unknown } ? Word : never
}[keyof Rows]

const compared = keywordRows.flatMap(([word, { changes }]) =>
  typeof changes === 'object' && 'added' in changes ? [{ word: word as ComparedKeyword, ...changes }] : [],
)

/** The keywords that fields are compared by, each by itself. */
export const comparedKeywords = compared.map(({ word }) => word)

const ofComparedKeywords = Object.fromEntries(
  compared.flatMap(({ word, added, removed }) => [[`${word}-added`, added] as const, [`${word}-removed`, removed]]),
) as Readonly<Record<`${ComparedKeyword}-${'added' | 'removed'}`, KindEntry>>

/** The kinds that the rows of keywords name. */
type NamedKind = Extract<Rows[keyof Rows]['changes'], readonly string[]>[number]

const table = {
  ...ofComparedKeywords,
  'version-removed': breaking(({ names = [] }) => {
    const others = names.length === 0 ? 'no other version is served' : '{names} is served'
    return `{version} is gone with all its endpoints; ${others}`
  }, 'Serve it beside the new one until its sunset. If it is served, check `servers` in the document.'),
  'version-retired': compatible('{version} is gone, after its sunset', 'spec 9.7'),
  'version-added': compatible('{version} is new'),
  'resource-removed': breaking('{resources} is gone, with every endpoint'),
  'resource-added': compatible('{resources} is new'),
  'operation-removed': breaking('{operations} {is} gone'),
  'operation-added': compatible('{operations} {is} new'),
  'operation-deprecated': compatible('the operation is deprecated', 'spec 9.6'),
  'security-added': breaking('authentication is stricter or different: {change}', acceptAsBefore),
  'security-relaxed': compatible('there is another way to authenticate: {change}'),

  'parameter-removed': breaking('{parameters} {is} gone'),
  'parameter-added': compatible('{parameters} {is} new, and optional'),
  'parameter-added-required': breaking('{parameters} {is} new, and required', makeOptional),
  'parameter-required': breaking('{parameters} {is} required, and was optional', leaveOptional),
  'parameter-optional': compatible('{parameters} may be left out'),
  'parameter-written': breaking('{parameters} {is} serialized differently: {change}'),
  'body-removed': breaking('the request body is no longer accepted'),
  'body-added': compatible('a request body may be sent'),
  'body-added-required': breaking('a request body is required, and none was accepted before', makeOptional),
  'body-required': breaking('the request body is required, and was optional', leaveOptional),
  'body-optional': compatible('the request body may be left out'),
  'media-type-removed': breaking('{names} is no longer {accepted}'),
  'media-type-added': compatible('{names} is {accepted} too'),
  'status-removed': breaking('the status {names} is no longer returned'),
  'status-added': review('the status {names} may be returned', onlyNewRequests),
  'part-status-added': compatible('the status {names} is returned to clients that ask for it'),
  'condition-required': breaking('a condition is required: requests without If-Match get 428', leaveConditionsOptional),
  'condition-optional': compatible('a condition is no longer required'),
  'code-removed': breaking('the error code {names} is gone', keepCode),
  'code-added': review(
    ({ names = [] }) => `${names.length === 0 ? 'any error code' : 'the error code {names}'} may be returned`,
    'Make sure that it is returned only for requests that were refused before too.',
  ),
  'header-removed': breaking('the header {names} is gone from responses'),
  'header-added': compatible('the header {names} is new in responses'),

  'field-removed': breaking('{subject} is gone{from}', bringFieldBack),
  'field-added': compatible('{subject} is new{side}'),
  'field-added-required': breaking('{subject} is new{side}, and required', giveDefault),
  'field-required': narrowed(
    ({ direction }) => `{subject} ${direction === 'request' ? 'is required, and was optional' : 'is always there'}`,
    giveDefault,
  ),
  'field-optional': widened(
    ({ direction }) => `{subject} may be ${direction === 'request' ? 'left out' : 'absent from responses'}`,
    'Always return it, or make a new version.',
  ),
  'field-read-only': breaking('{subject} is read-only, and could be sent', acceptAsBefore),
  'field-deprecated': compatible('{subject} is deprecated{side}', 'spec 9.6'),
  'type-changed': breaking('the type of {subject} changed{side} {change}', addFieldOfType),
  'type-narrowed': narrowed('the type of {subject} is narrower{side}: {change}'),
  'type-widened': widened('the type of {subject} is wider{side}: {change}'),
  'null-added': widened('{subject} may be null{side}', 'Always return a value, or make a new version.'),
  'null-removed': narrowed('{subject} is never null{side}'),
  'values-removed': narrowed('{subject} no longer {takes} {values}{side}'),
  'values-added': widened('{subject} {takes} {values} too{side}'),
  'values-listed': narrowed('{subject} {takes} only {values}{side}, and any value before'),
  'values-unlisted': widened('{subject} {takes} any value{side}, and only listed values before'),
  'limit-narrowed': narrowed('{subject} is narrower{side}: {limit}'),
  'limit-widened': widened('{subject} is wider{side}: {limit}'),
  'format-changed': breaking('the format of {subject} changed{side} {change}', addFieldOfFormat),
  'pattern-changed': review('the pattern of {subject} changed{side} {change}', checkValues),
  'keyword-changed': review('{keyword} of {subject} changed{side}', compareKeyword),
  'default-changed': review('the default of {subject} changed {change}', tellOfDefault),
  'object-closed': breaking('{subject} no longer accepts fields other than those listed', acceptAsBefore),
  'object-opened': compatible('{subject} accepts fields other than those listed'),
  'others-widened': breaking('other fields of {subject} may have any type in responses', returnAsBefore),

  'access-narrowed': breaking('{keyword} is allowed to fewer callers: {arrow}', keepAllowing),
  'access-widened': compatible('{keyword} is allowed to more callers: {arrow}'),
  'access-changed': review('the access rule of {keyword} changed', compareAccess),
  'deletion-hard': breaking('deletion is permanent, and was soft', keepSoft),
  'deletion-soft': compatible('deletion is soft, and was permanent'),
  'grace-shortened': breaking(gracePeriod, 'Keep the longer time, or tell callers that delete records.'),
  'grace-lengthened': compatible(gracePeriod),
  'deletion-answer': breaking(
    ({ after }) =>
      after === 'summary'
        ? 'a deletion returns 200 and a summary instead of 204'
        : 'a deletion returns 204 without a body instead of 200',
    'Keep the response as it was, or make a new version.',
  ),
  'deletion-always-later': breaking('every deletion returns 202 and runs as a job', keepImmediate),
  'deletion-sooner-later': review(
    'more deletions run as jobs (202): above {after} records, {before} before',
    'Make sure that clients follow Location on 202.',
  ),
  'unique-added': breaking(
    ({ names = [] }) => `{names} must be unique${names.length > 1 ? ' together' : ''} (409 DUPLICATE_VALUE)`,
    'Leave it out, or make a new version: values that were accepted are refused. Check the data for duplicates.',
  ),
  'transitions-removed': breaking('{subject} can no longer change {names} (409 INVALID_TRANSITION)', acceptAsBefore),
  'transitions-added': compatible('{subject} can also change {names}'),
  'reference-changed': breaking('{subject} refers to {after}, and referred to {before}'),
  'on-delete-stricter': breaking('{subject} now prevents the deletion of the record it refers to: onDelete {change}'),
  'on-delete-changed': review(
    'deleting the record that {subject} refers to has another effect: onDelete {change}',
    'Tell clients: a deletion now deletes or changes other records than before.',
  ),
  'reference-narrowed': breaking(
    '{subject} now refers only to records that the caller may read (400 INVALID_REFERENCE)',
    acceptAsBefore,
  ),
  'reference-widened': compatible('{subject} can also refer to records that the caller may not read'),
  'owner-changed': breaking('the owner field is {after}, and was {before}: callers cannot set it', acceptAsBefore),
  'search-removed': breaking('q no longer searches {names}', keepSearching),
  'search-added': compatible('q searches {names} too'),
  'rule-added': breaking('there is a new business rule: {names} (409)', refuseAsBefore),
  'rule-changed': review('the business rule {names} changed', compareRules),
  'body-limit-lowered': breaking('the limit of request bodies is lower: {change} bytes (413)', acceptAsBefore),
  'body-members-lowered': breaking('bodies may have fewer members: {change} (400)', acceptAsBefore),
  'patch-operations-lowered': breaking('a JSON Patch may have fewer operations: {change} (400)', acceptAsBefore),
  'export-limit-lowered': breaking(
    ({ keyword }) =>
      keyword === 'count'
        ? 'a caller may have fewer exports: {change} (409)'
        : 'the exports of a caller may have fewer bytes: {change} (409)',
    acceptAsBefore,
  ),
  'rate-lowered': review('the rate limit is lower ({keyword}): {change}', waitAsAsked),
  'cached-longer': review('caches may keep responses longer: {change} seconds', bearOlder),
} as const satisfies Readonly<Record<NamedKind, KindEntry>> & Readonly<Record<string, KindEntry>>

/** A kind of difference. Stable: programs may branch on it. */
export type Kind = keyof typeof table

export const kinds = Object.keys(table) as Kind[]

export function severityOf({ kind, direction }: Pick<Difference, 'kind' | 'direction'>): Severity {
  const { severity } = table[kind]
  if (typeof severity === 'string') return severity
  // A difference in both directions breaks if it breaks in one.
  return direction === undefined ? 'breaking' : severity[direction]
}

export function judge(difference: Difference): Finding {
  const severity = severityOf(difference)
  const entry: KindEntry = table[difference.kind]
  return {
    severity,
    rule: entry.rule ?? (severity === 'compatible' ? 'spec 9.4' : 'spec 9.3, VER-5'),
    ...difference,
    message: messageOf(entry.words, difference),
    remedy: severity === 'compatible' ? '' : entry.remedy,
  }
}

function messageOf(words: Words, difference: Difference): string {
  const message = typeof words === 'function' ? words(difference) : words
  return message.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    placeholders[name as keyof typeof placeholders](difference),
  )
}

const placeholders = {
  version: ({ version }) => `${version}`,
  keyword: ({ keyword }) => `${keyword}`,
  resources: ({ resources }) => listed(resources),
  operations: ({ operations }) => listed(operations),
  names: ({ names }) => listed(names),
  /** The verb after `parameters` or `operations`. */
  is: ({ names, operations }) => ((names ?? operations).length === 1 ? 'is' : 'are'),
  parameters({ names = [], within }) {
    const place = within === 'query' || within === undefined ? '' : `${within} `
    return `the ${place}${names.length === 1 ? 'parameter' : 'parameters'} ${listed(names)}`
  },
  values: ({ names = [] }) => `the ${names.length === 1 ? 'value' : 'values'} ${listed(names)}`,
  subject,
  side,
  from: (difference) => side(difference).replace(' in ', ' from '),
  takes: ({ direction }) => (direction === 'request' ? 'accepts' : 'has'),
  accepted: ({ direction }) => (direction === 'request' ? 'accepted' : 'returned'),
  before: ({ before }) => shown(before),
  after: ({ after }) => shown(after),
  change: ({ before, after }) => `from ${shown(before)} to ${shown(after)}`,
  arrow: ({ before, after }) => `${shown(before)} → ${shown(after)}`,
  limit: ({ keyword, before, after }) =>
    before === undefined ? `${keyword} ${shown(after)}, none before` : `${keyword} ${shown(before)} → ${shown(after)}`,
} as const satisfies Readonly<Record<string, (difference: Difference) => string>>

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
