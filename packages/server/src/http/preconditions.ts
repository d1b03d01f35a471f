/**
 * The conditions of a request (RFC 9110 section 13): reads and decides them. Each step of the decision is one function.
 * Entity tags (section 8.8.3), which most conditions compare, are read, compared and written here too.
 */

import { uncompressedTag } from 'resourced-contract/fields/accept-encoding'
import { parseHttpDate } from 'resourced-contract/fields/http-date'
import { type Fault, fault, issue } from 'resourced-contract/spec/faults'

/** The conditions of a request, parsed. `any` is `*`. */
export interface Conditions {
  readonly ifMatch?: 'any' | readonly EntityTag[]
  readonly ifNoneMatch?: 'any' | readonly EntityTag[]
  /** Seconds since 1970. */
  readonly ifModifiedSince?: number
  /** Seconds since 1970. */
  readonly ifUnmodifiedSince?: number
}

/** The state that conditions are compared with. */
export interface CurrentState {
  /** Strong. */
  readonly tag: EntityTag
  /** The opaque tags that `If-Match` accepts; default: only the tag's own. */
  readonly matchTags?: readonly string[]
  /** Seconds since 1970; `undefined`: the representation has no date, and conditions on dates are ignored. */
  readonly lastModified?: number
}

/** The method and conditions of a request, and the current state; `undefined`: nothing exists at its address. */
interface ConditionalRequest {
  readonly method: string
  readonly conditions: Conditions
  readonly current: CurrentState | undefined
}

/** The result of the conditions: proceed, 304, or 412. */
export type Verdict =
  | 'proceed'
  | 'not-modified'
  | { readonly failed: 'If-Match' | 'If-None-Match' | 'If-Unmodified-Since' }

type Question = (request: ConditionalRequest) => Verdict | Question

/** Decides the conditions in the order of RFC 9110 section 13.2.2. (`If-Range` belongs to ranges.) */
export function decidePreconditions(request: ConditionalRequest): Verdict {
  let step: Verdict | Question = hasIfMatch
  while (typeof step === 'function') step = step(request)
  return step
}

const hasIfMatch: Question = ({ conditions }) => (conditions.ifMatch === undefined ? hasIfUnmodifiedSince : matches)

const matches: Question = ({ conditions, current }) => {
  if (current === undefined) return { failed: 'If-Match' }
  if (conditions.ifMatch === 'any') return hasIfNoneMatch
  const acceptable = current.matchTags ?? [current.tag.opaque]
  const found = conditions.ifMatch!.some((tag) => acceptable.some((opaque) => namesRecord(tag, opaque)))
  return found ? hasIfNoneMatch : { failed: 'If-Match' }
}

const hasIfUnmodifiedSince: Question = ({ conditions }) =>
  conditions.ifUnmodifiedSince === undefined ? hasIfNoneMatch : isUnmodified

// Without a date the field is ignored (section 13.1.4).
const isUnmodified: Question = ({ conditions, current }) =>
  current?.lastModified === undefined || current.lastModified <= conditions.ifUnmodifiedSince!
    ? hasIfNoneMatch
    : { failed: 'If-Unmodified-Since' }

const hasIfNoneMatch: Question = ({ conditions }) =>
  conditions.ifNoneMatch === undefined ? hasIfModifiedSince : noneMatches

const noneMatches: Question = ({ conditions, current }) => {
  if (current === undefined) return 'proceed'
  const { opaque } = current.tag
  const known = conditions.ifNoneMatch === 'any' || conditions.ifNoneMatch!.some((tag) => namesState(tag, opaque))
  return known ? isRead : 'proceed'
}

const isRead: Question = ({ method }) => (reads(method) ? 'not-modified' : { failed: 'If-None-Match' })

// Only for GET and HEAD, and never beside If-None-Match (section 13.1.3).
const hasIfModifiedSince: Question = ({ method, conditions }) =>
  conditions.ifModifiedSince === undefined || !reads(method) ? 'proceed' : isModified

const isModified: Question = ({ conditions, current }) =>
  current?.lastModified === undefined || current.lastModified > conditions.ifModifiedSince! ? 'proceed' : 'not-modified'

function reads(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

const none: Conditions = {}

/**
 * Reads the conditions of a request by lower-case header names. A malformed `If-None-Match` or date is ignored, as RFC
 * 9110 allows. A malformed `If-Match` is refused: otherwise an unconditional write would follow.
 *
 * @throws Fault MALFORMED_CONDITION if `If-Match` is empty or malformed
 */
export function readConditions(headers: Readonly<Record<string, string | undefined>>): Conditions {
  const match = headers['if-match']
  const noneMatch = headers['if-none-match']
  const modified = headers['if-modified-since']
  const unmodified = headers['if-unmodified-since']
  if (match === undefined && noneMatch === undefined && modified === undefined && unmodified === undefined) return none
  const ifMatch = match === undefined ? undefined : parseEntityTags(match)
  if (match !== undefined && ifMatch === undefined) throw malformed(match)
  return {
    ifMatch,
    // Malformed: it matches nothing, but its presence still disables If-Modified-Since (section 13.1.3).
    ifNoneMatch: noneMatch === undefined ? undefined : (parseEntityTags(noneMatch) ?? []),
    ifModifiedSince: modified === undefined ? undefined : parseHttpDate(modified),
    ifUnmodifiedSince: unmodified === undefined ? undefined : parseHttpDate(unmodified),
  }
}

function malformed(value: string): Fault {
  const reason = value.trim() === '' ? 'emptyCondition' : 'malformedCondition'
  return fault('MALFORMED_CONDITION', { errors: [issue(reason, { header: 'If-Match' })] })
}

/** An entity tag: the text between the quotes, and whether it begins with `W/`. */
export interface EntityTag {
  readonly opaque: string
  readonly weak: boolean
}

// etagc: visible characters without the double quote, and obs-text. Quotes may contain commas.
const oneStrong = /^"[\x21\x23-\x7e\x80-\xff]*"$/
const entityTag = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/y
// A recipient accepts empty list elements (section 5.6.1.2).
const separators = /[ \t,]*/y
const end = /[ \t]*(?:,|$)/y

/**
 * Reads the value of `If-Match` or `If-None-Match` (RFC 9110 sections 13.1.1 and 13.1.2).
 *
 * @returns `any` for `*`, the tags in their order, or `undefined`: the value is empty or malformed
 */
export function parseEntityTags(text: string): 'any' | EntityTag[] | undefined {
  // Most clients send one tag.
  if (oneStrong.test(text)) return [{ opaque: text.slice(1, -1), weak: false }]
  if (text.trim() === '*') return 'any'
  const tags: EntityTag[] = []
  let index = skip(separators, text, 0)
  while (index < text.length) {
    entityTag.lastIndex = index
    const found = entityTag.exec(text)
    if (found === null) return undefined
    index = entityTag.lastIndex
    end.lastIndex = index
    if (!end.test(text)) return undefined
    tags.push({ opaque: found[2]!, weak: found[1] !== undefined })
    index = skip(separators, text, index)
  }
  return tags.length === 0 ? undefined : tags
}

function skip(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index
  pattern.test(text)
  return pattern.lastIndex
}

/** Writes a tag as in `ETag`: `"7"` or `W/"7"`. */
export function formatEntityTag(tag: EntityTag): string {
  return tag.weak ? `W/"${tag.opaque}"` : `"${tag.opaque}"`
}

/**
 * Whether a tag in `If-Match` or `If-None-Match` names a state. Our tags name a revision, not bytes, so neither `W/`,
 * which proxies that compress add, nor the name of a compression makes another tag of it. RFC 9110 section 13.1.1 would
 * compare `If-Match` strongly.
 */
export function namesState({ opaque }: EntityTag, current: string): boolean {
  return opaque === current || uncompressedTag(opaque) === current
}

/** The opaque tag of a record's response with its related records (REL-6). */
export function tagWithRelated(record: string, digest: string): string {
  return `${record}+${digest}`
}

/** As `namesState`, also for the tag of a response with related records: a change is about the record alone. */
function namesRecord(tag: EntityTag, current: string): boolean {
  return namesState(tag, current) || uncompressedTag(tag.opaque).replace(/\+[\w-]{22}$/, '') === current
}
