/**
 * Header fields: texts <-> values, with the RFC of each. `Accept-Encoding` stands apart: it needs a package that the
 * checker, which reads dates, does without.
 */

import { isIP } from 'node:net'
import { type Fault, fault, type Issue, issue } from '../spec/faults.ts'

// Content-Type (RFC 9110 section 8.3): a media type and its parameters.

/** A media type, and its parameters by lower-case name. */
export interface ContentType {
  /** In lower case: `application/merge-patch+json`. */
  readonly mediaType: string
  readonly parameters: ReadonlyMap<string, string>
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const mediaType = new RegExp(`^[ \\t]*(${token}/${token})`)
// Quoted text may hold anything visible, blanks, and escaped characters (section 5.6.4).
const nextParameter = new RegExp(
  `[ \\t]*;[ \\t]*(?:(${token})=(?:(${token})|"((?:[^"\\\\\\0-\\x08\\x0a-\\x1f\\x7f]|\\\\[\\t -~\\x80-\\xff])*)"))?`,
  'y',
)

/**
 * Reads a `Content-Type`.
 *
 * @returns `undefined`: malformed, or with a duplicate parameter
 */
export function parseContentType(text: string): ContentType | undefined {
  if (text === 'application/json') return plainJson
  const start = mediaType.exec(text)
  if (start === null) return undefined
  const parameters = new Map<string, string>()
  let index = start[0].length
  while (index < text.length) {
    nextParameter.lastIndex = index
    const found = nextParameter.exec(text)
    if (found === null) return text.slice(index).trim() === '' ? contentType(start[1]!, parameters) : undefined
    index = nextParameter.lastIndex
    if (found[1] === undefined) continue
    const name = found[1].toLowerCase()
    if (parameters.has(name)) return undefined
    parameters.set(name, found[2] ?? found[3]!.replace(/\\(.)/g, '$1'))
  }
  return contentType(start[1]!, parameters)
}

function contentType(name: string, parameters: ReadonlyMap<string, string>): ContentType {
  return { mediaType: name.toLowerCase(), parameters }
}

const plainJson: ContentType = contentType('application/json', new Map())

/**
 * Whether the media type allows UTF-8, the only encoding of JSON between systems (RFC 8259 section 8.1).
 */
export function isUtf8(type: ContentType): boolean {
  const charset = type.parameters.get('charset')
  return charset === undefined || charset.toLowerCase() === 'utf-8'
}

// Forwarded (RFC 7239), X-Forwarded-Proto and X-Forwarded-For of a trusted proxy: the client behind it.

/** The client of the proxy. */
export interface ForwardedClient {
  /** Whether the client used HTTPS; `false` if the proxy does not say so. */
  readonly secure: boolean
  /** The client's address; `undefined`: the proxy does not send it, hides it, or contradicts itself. */
  readonly address: string | undefined
}

type Headers = Readonly<Record<string, string | undefined>>

/**
 * Reads the element that the nearest proxy added at the end: clients can invent the elements before it. A proxy that
 * writes one of the two families forwards the other as the client sent it. If both are present, `secure` needs both,
 * and different addresses count as none.
 */
export function readForwarded(headers: Headers): ForwardedClient {
  const standard = headers.forwarded === undefined ? undefined : readStandard(headers.forwarded)
  const older =
    headers['x-forwarded-proto'] === undefined && headers['x-forwarded-for'] === undefined
      ? undefined
      : {
          secure: lastOf(headers['x-forwarded-proto'] ?? '').toLowerCase() === 'https',
          address: nodeAddress(lastOf(headers['x-forwarded-for'] ?? '')),
        }
  if (standard === undefined || older === undefined) return standard ?? older ?? { secure: false, address: undefined }
  return {
    secure: standard.secure && older.secure,
    address: standard.address === older.address ? standard.address : undefined,
  }
}

function lastOf(list: string): string {
  return list.slice(list.lastIndexOf(',') + 1).trim()
}

const pair =
  /[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z:[\]-]+)|"((?:[^"\\]|\\.)*)")[ \t]*([;,]|$)/y

function readStandard(text: string): ForwardedClient {
  const nothing = { secure: false, address: undefined }
  let element = new Map<string, string>()
  let index = 0
  while (index < text.length) {
    pair.lastIndex = index
    const found = pair.exec(text)
    if (found === null) return nothing
    element.set(found[1]!.toLowerCase(), found[2] ?? found[3]!.replace(/\\(.)/g, '$1'))
    index = pair.lastIndex
    if (found[4] === ',') element = new Map()
  }
  return { secure: element.get('proto')?.toLowerCase() === 'https', address: nodeAddress(element.get('for') ?? '') }
}

const withPort = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::[0-9]+)?$/i

/**
 * The address of a node (RFC 7239 section 6): with or without brackets and port, and not `unknown` or a made-up name.
 */
function nodeAddress(text: string): string | undefined {
  if (isIP(text) !== 0) return text.toLowerCase()
  const found = withPort.exec(text)
  const address = found?.[1] ?? found?.[2]
  return address !== undefined && isIP(address) !== 0 ? address.toLowerCase() : undefined
}

// HTTP dates (RFC 9110 section 5.6.7): whole seconds since 1970, in the three forms that a recipient must read.

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const shortDay = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const longDay = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
const monthName = `(${months.join('|')})`
const timeOfDay = '(\\d\\d):(\\d\\d):(\\d\\d)'

const fixedDate = new RegExp(`^${shortDay}, (\\d\\d) ${monthName} (\\d{4}) ${timeOfDay} GMT$`)
const rfc850Date = new RegExp(`^${longDay}, (\\d\\d)-${monthName}-(\\d\\d) ${timeOfDay} GMT$`)
const asctimeDate = new RegExp(`^${shortDay} ${monthName} ([ \\d]\\d) ${timeOfDay} (\\d{4})$`)

/**
 * Reads an HTTP date. The day must be in the calendar and the time on the clock (a leap second is one more second);
 * the name of the day is not compared, since ignoring `If-Unmodified-Since` for it would let a stale write through.
 *
 * @param now the moment, in milliseconds since 1970, from which a year of two digits is understood
 * @returns seconds since 1970, or `undefined`: the text is not an HTTP date
 */
export function parseHttpDate(text: string, now = Date.now()): number | undefined {
  const trimmed = text.trim()
  const fixed = fixedDate.exec(trimmed)
  if (fixed !== null) return secondsOf(Number(fixed[3]), fixed[2]!, fixed[1]!, fixed[4]!, fixed[5]!, fixed[6]!)
  const asctime = asctimeDate.exec(trimmed)
  if (asctime !== null)
    return secondsOf(Number(asctime[6]), asctime[1]!, asctime[2]!, asctime[3]!, asctime[4]!, asctime[5]!)
  const short = rfc850Date.exec(trimmed)
  if (short === null) return undefined
  const rest = [short[2]!, short[1]!, short[4]!, short[5]!, short[6]!] as const
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(short[3])
  // "more than 50 years in the future" is the past: the most recent year with these digits.
  const limit = new Date(now).setUTCFullYear(thisYear + 50) / 1000
  const found = secondsOf(year + 100, ...rest)
  if (found !== undefined && found <= limit) return found
  const nearer = secondsOf(year, ...rest)
  return nearer !== undefined && nearer > limit ? secondsOf(year - 100, ...rest) : nearer
}

function secondsOf(year: number, name: string, day: string, hour: string, minute: string, second: string) {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, months.indexOf(name), Number(day))
  if (date.getUTCMonth() !== months.indexOf(name) || date.getUTCDate() !== Number(day)) return undefined
  return date.setUTCHours(Number(hour), Number(minute), Number(second)) / 1000
}

// Many responses have one of the same few dates.
const formatted = new Map<number, string>()
const mostFormatted = 1000

/**
 * Writes the preferred form, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
 *
 * @param moment seconds since 1970; a fraction is cut off
 */
export function formatHttpDate(moment: number): string {
  const whole = Math.floor(moment)
  const known = formatted.get(whole)
  if (known !== undefined) return known
  const text = new Date(whole * 1000).toUTCString()
  if (formatted.size >= mostFormatted) formatted.clear()
  formatted.set(whole, text)
  return text
}

// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07): the name that makes a request repeatable (MET-9).

/** The most characters that a key may have, its quotes and escapes not counted. */
export const longestKey = 255

// sf-string (RFC 9651 section 3.3.3): a backslash escapes a double quote or itself, and nothing else.
const quotedKey = /^"((?:[^"\\]|\\["\\])*)"/
const badEscape = /^"(?:[^"\\]|\\["\\])*\\[^"\\]/
// Parameters (section 3.1.2): the draft defines none, so that all are ignored.
const keyParameters = /^(?: *; *[a-z*][a-z0-9_.*-]*(?:=(?:"(?:[^"\\]|\\["\\])*"|[^ ",;]+))?)*$/
// A bare key must not contain characters with a meaning in structured fields: `a, b` may be two fields joined.
const bareKey = /^[^ ",;]+$/

/**
 * Reads the value of `Idempotency-Key`: a String in double quotes, as the draft has it, or the same text without
 * quotes, as many clients send it. Both give the same key.
 *
 * @throws Fault INVALID_IDEMPOTENCY_KEY that says what is wrong with the value
 * @example
 * parseIdempotencyKey('"8e03978e-40d5-43e8-bc93-6894a57f9324"') // 8e03978e-40d5-43e8-bc93-6894a57f9324
 */
export function parseIdempotencyKey(value: string): string {
  const text = value.trim()
  if (/[^\t -~]/.test(value) || text.includes('\t')) {
    throw invalidKey(issue('keyCharacters', keyPlace))
  }
  const key = text.startsWith('"') ? unquoted(text) : text
  if (key === '') throw invalidKey(issue('keyEmpty', keyPlace))
  if (key === text && !bareKey.test(key)) throw invalidKey(issue('keyUnquoted', keyPlace))
  if (key.length > longestKey) throw invalidKey(issue('maxLength', { ...keyPlace, limit: longestKey }))
  return key
}

function unquoted(text: string): string {
  const found = quotedKey.exec(text)
  if (found === null) {
    throw invalidKey(issue(badEscape.test(text) ? 'keyEscape' : 'keyUnclosed', keyPlace))
  }
  if (!keyParameters.test(text.slice(found[0].length))) throw invalidKey(issue('keyRest', keyPlace))
  return found[1]!.replace(/\\(.)/g, '$1')
}

const keyPlace = { code: 'INVALID_IDEMPOTENCY_KEY', header: 'Idempotency-Key' }

function invalidKey(found: Issue): Fault {
  return fault('INVALID_IDEMPOTENCY_KEY', { errors: [found] })
}

// Link (RFC 8288): links of a response.

/** A link: a URI reference and its relation types. */
export interface Link {
  readonly target: string
  /** One relation type, or several separated by spaces: `next`, `deprecation`. */
  readonly rel: string
  /** Further attributes, such as `type` and `datetime`; their values have no quotes. */
  readonly attributes?: Readonly<Record<string, string>>
}

// Characters that could end the angle brackets or the field; the rest of a target is encoded already.
const unsafeInTarget = /[\0-\x20<>"\\^`{|}\x7f-\u{10ffff}]/gu

/** Writes the value of `Link`, for instance `</v1/tasks?page=2>; rel="next"`. An empty list gives an empty text. */
export function formatLinks(links: readonly Link[], separator = ', '): string {
  return links
    .map(({ target, rel, attributes = {} }) => {
      const others = Object.entries(attributes).map(([name, value]) => `; ${name}="${value}"`)
      return `<${target.toWellFormed().replace(unsafeInTarget, encodeURIComponent)}>; rel="${rel}"${others.join('')}`
    })
    .join(separator)
}
