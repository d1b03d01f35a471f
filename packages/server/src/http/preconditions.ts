/**
 * The conditions of a request (RFC 9110 section 13): reads and decides them.
 * Entity tags (section 8.8.3), which most conditions compare, are read, compared and written here too.
 *
 * Byte ranges on GET and HEAD (HED-3, section 14): reads `Range`, decides it with `If-Range`, and cuts the response.
 * Preconditions come first (section 13.2.2).
 */

import { uncompressedTag } from 'resourced-contract/fields/accept-encoding'
import { parseHttpDate } from 'resourced-contract/fields/header-fields'
import { type Fault, fault, issue } from 'resourced-contract/spec/faults'
import {
  type HttpRequest,
  type HttpResponse,
  isFile,
  isStream,
  lengthOfBody,
  type ResponseBody,
  type ResponseHeaders,
  type StreamBody,
} from './message.ts'

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

/** Decides the conditions in the order of RFC 9110 section 13.2.2. (`If-Range` belongs to ranges.) */
export function decidePreconditions({ method, conditions, current }: ConditionalRequest): Verdict {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions
  const { lastModified } = current ?? {}
  if (ifMatch !== undefined) {
    if (current === undefined || !isMatched(ifMatch, current)) return { failed: 'If-Match' }
    // Without a date the field is ignored (section 13.1.4).
  } else if (ifUnmodifiedSince !== undefined && lastModified !== undefined && lastModified > ifUnmodifiedSince) {
    return { failed: 'If-Unmodified-Since' }
  }
  if (ifNoneMatch !== undefined) {
    const isKnown = current !== undefined && (ifNoneMatch === 'any' || isNamed(ifNoneMatch, current))
    if (!isKnown) return 'proceed'
    return reads(method) ? 'not-modified' : { failed: 'If-None-Match' }
  }
  // Only for GET and HEAD, and never beside If-None-Match (section 13.1.3).
  const isUnmodified = ifModifiedSince !== undefined && lastModified !== undefined && lastModified <= ifModifiedSince
  return isUnmodified && reads(method) ? 'not-modified' : 'proceed'
}

function isMatched(tags: NonNullable<Conditions['ifMatch']>, { tag, matchTags = [tag.opaque] }: CurrentState): boolean {
  return tags === 'any' || tags.some((each) => matchTags.some((opaque) => namesRecord(each, opaque)))
}

function isNamed(tags: readonly EntityTag[], { tag }: CurrentState): boolean {
  return tags.some((each) => namesState(each, tag.opaque))
}

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

/** The representation that a range selects from. */
interface Representation {
  /** In bytes. */
  readonly length: number
  /** A weak tag never matches `If-Range`. */
  readonly tag?: EntityTag
  /** Seconds since 1970. */
  readonly lastModified?: number
}

/** Positions in bytes, counted from 0, both included. */
interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The result of a range: 200, 416, or 206 with these bytes. */
export type RangeVerdict = 'whole' | 'unsatisfiable' | ByteRange

/**
 * Decides `Range` and `If-Range` by their lower-case header names. If more than one range is satisfiable, the whole
 * representation is sent, as RFC 9110 allows.
 *
 * @param now the clock: milliseconds since 1970
 */
export function decideRange(headers: HttpRequest['headers'], current: Representation, now: number): RangeVerdict {
  const range = headers['range']
  if (range === undefined) return 'whole'
  const ifRange = headers['if-range']
  if (ifRange !== undefined && !isCurrent(ifRange, current, now)) return 'whole'
  const asked = parseByteRanges(range)
  if (asked === undefined) return 'whole'
  const { length } = current
  const [satisfiable, ...others] = asked.filter((each) => isSatisfiable(each, length))
  if (satisfiable === undefined) return 'unsatisfiable'
  // A suffix of an empty representation is satisfiable, but Content-Range cannot express it.
  return others.length > 0 || length === 0 ? 'whole' : toByteRange(satisfiable, length)
}

/** Whether `If-Range` matches (section 13.1.5): the client already has bytes of the same representation. */
function isCurrent(ifRange: string, { tag, lastModified }: Representation, now: number): boolean {
  const validator = ifRange.trim()
  // One strong tag matches if it is identical; the field takes no list.
  if (tag !== undefined && !tag.weak && validator === formatEntityTag(tag)) return true
  if (lastModified === undefined) return false
  const second = Math.floor(lastModified)
  // A date is not a strong validator within its own second (section 8.8.2.2).
  return Math.floor(now / 1000) > second && parseHttpDate(validator, now) === second
}

// Section 14.1.2.
function isSatisfiable(range: IntRange | SuffixRange, length: number): boolean {
  return 'suffix' in range ? range.suffix > 0 : range.first < length
}

function toByteRange(range: IntRange | SuffixRange, length: number): ByteRange {
  if ('suffix' in range) return { start: Math.max(length - range.suffix, 0), end: length - 1 }
  return { start: range.first, end: Math.min(range.last ?? length - 1, length - 1) }
}

/**
 * Applies `Range` to a 200 to GET or HEAD, by its `ETag` and `Last-Modified`; any other response stays as it is. HEAD
 * is treated as GET (HED-3), although RFC 9110 section 14.2 defines ranges for GET only.
 *
 * @param now the moment of the response's `Date`, in milliseconds since 1970
 * @throws Fault RANGE_NOT_SATISFIABLE
 */
export function applyRange(
  { method, headers }: Pick<HttpRequest, 'method' | 'headers'>,
  response: HttpResponse,
  now: () => number,
): HttpResponse {
  const { status, body } = response
  const hasRanges = (method === 'GET' || method === 'HEAD') && status === 200 && body !== undefined
  // A stream has no end, and so no ranges.
  if (!hasRanges || isStream(body)) return response
  response.headers['Accept-Ranges'] = 'bytes'
  if (headers['range'] === undefined) return response
  const length = lengthOfBody(body)
  const verdict = decideRange(headers, { length, ...validatorsIn(response.headers) }, now())
  if (verdict === 'whole') return response
  if (verdict === 'unsatisfiable') {
    const detail = 'The representation ends before the range begins. Content-Range says how long it is.'
    const headers = { 'Content-Range': `bytes */${length}`, 'Accept-Ranges': 'bytes' }
    throw fault('RANGE_NOT_SATISFIABLE', { detail, headers })
  }
  const { start, end } = verdict
  return {
    status: 206,
    headers: { ...response.headers, 'Content-Range': `bytes ${start}-${end}/${length}` },
    body: cut(body, verdict),
  }
}

function cut(body: Exclude<ResponseBody, StreamBody | undefined>, { start, end }: ByteRange): ResponseBody {
  if (isFile(body)) return { ...body, start: body.start + start, length: end - start + 1 }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return bytes.subarray(start, end + 1)
}

function validatorsIn(headers: Readonly<ResponseHeaders>): Pick<Representation, 'tag' | 'lastModified'> {
  const tags = parseEntityTags(headers['ETag'] ?? '')
  const lastModified = headers['Last-Modified']
  return {
    tag: tags === 'any' ? undefined : tags?.[0],
    lastModified: lastModified === undefined ? undefined : parseHttpDate(lastModified),
  }
}

/** An int-range: positions count from 0 and are inclusive; without `last` it extends to the end. */
interface IntRange {
  readonly first: number
  readonly last: number | undefined
}

/** A suffix-range: the number of last bytes. */
interface SuffixRange {
  readonly suffix: number
}

/** More ranges count as an attack (RFC 9110 section 17.15). */
export const mostRanges = 50

const unit = /^bytes=/i
const rangeSpec = /^(\d*)-(\d*)$/

/**
 * Reads the value of `Range`. A number too large for JavaScript is beyond every end, and may be `Infinity`.
 *
 * @returns the ranges in their order, or `undefined` where the field is to be ignored: another unit, anything malformed
 *   (one invalid range spoils them all), or more than `mostRanges`
 */
export function parseByteRanges(text: string): (IntRange | SuffixRange)[] | undefined {
  const value = text.trim()
  if (!unit.test(value)) return undefined
  const ranges: (IntRange | SuffixRange)[] = []
  for (const element of value.slice('bytes='.length).split(',')) {
    const spec = element.trim()
    // A recipient accepts empty list elements (section 5.6.1.2).
    if (spec === '') continue
    const range = readRange(spec)
    if (range === undefined || ranges.length === mostRanges) return undefined
    ranges.push(range)
  }
  return ranges.length === 0 ? undefined : ranges
}

function readRange(spec: string): IntRange | SuffixRange | undefined {
  const found = rangeSpec.exec(spec)
  if (found === null) return undefined
  const [, first, last] = found
  if (first === '') return last === '' ? undefined : { suffix: Number(last) }
  const range = { first: Number(first), last: last === '' ? undefined : Number(last) }
  return range.last !== undefined && range.last < range.first ? undefined : range
}
