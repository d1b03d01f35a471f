/**
 * Byte ranges on GET and HEAD (HED-3, RFC 9110 section 14): reads `Range`, decides it with `If-Range`, and cuts the
 * response. Preconditions come first (section 13.2.2).
 */

import { parseHttpDate } from 'resourced-contract/fields/http-date'
import { fault } from 'resourced-contract/spec/faults'
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
import { type EntityTag, formatEntityTag, parseEntityTags } from './preconditions.ts'

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
