/**
 * Reads JSON strictly, from a body or from a file: every reader gets the same value from accepted JSON (RFC 8259, RFC
 * 7493). Some valid JSON is refused too: duplicate keys, inexact numbers, unstorable text.
 */
import { isAscii } from 'node:buffer'
import { type Fault, fault, type Issue, IssueList, issue, type issueCodes } from '../../spec/faults.ts'
import { decimalOf } from '../decimal.ts'
import { findSyntaxProblem, type SyntaxProblem } from './syntax-problem.ts'

/** The bounds of a JSON text. */
interface JsonBounds {
  /** The deepest nesting of containers; the outermost counts 1 (LIM-3: 32). */
  readonly maxDepth: number
  /** The most members of objects and items of arrays, however deep they are (LIM-3); left out: any number. */
  readonly maxMembers?: number
}

/** The deepest nesting of JSON in requests and files; the outermost container counts 1 (LIM-3). */
export const deepestNesting = 32

/** The name of a text in messages, and its beginning in its file. */
interface JsonPlace {
  /** With a capital, because it begins sentences. */
  readonly name: string
  /** Counted from 1. */
  readonly line: number
  /** In characters, counted from 1. */
  readonly column: number
}

const body: JsonPlace = { name: 'The body', line: 1, column: 1 }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a text as JSON. `-0` is read as `0`. It also refuses invalid UTF-8, a byte order mark, an empty text, duplicate
 * keys, the key `__proto__`, too deep nesting, numbers that a double would change, and texts with U+0000 or a lone
 * surrogate.
 *
 * @returns a value as `JSON.parse` makes it
 * @throws Fault TOO_MANY_MEMBERS before any value is built; MALFORMED_JSON, whose `errors` have the JSON Pointer of
 *   each mistake
 *
 * @example
 * readJson(new TextEncoder().encode('{"name":"Tea"}'), { maxDepth: 32 }) // { name: 'Tea' }
 */
export function readJson(
  bytes: Uint8Array,
  { maxDepth, maxMembers = Number.POSITIVE_INFINITY }: JsonBounds,
  place = body,
): unknown {
  const text = decode(bytes, place)
  const glance = glanceAt(text, maxDepth)
  if (glance.members > maxMembers) throw tooManyMembers(glance.members, maxMembers, place)
  if (glance.tooDeep) {
    const problem = findSyntaxProblem(text)
    throw problem === undefined
      ? fault('MALFORMED_JSON', { errors: findIssues(text, maxDepth) })
      : malformed(text, problem, place)
  }
  const value = parse(text, place)
  if (glance.suspicious || countKeys(value) !== glance.colons) {
    const issues = findIssues(text, maxDepth)
    if (issues.length > 0) throw fault('MALFORMED_JSON', { errors: issues })
  }
  return glance.negativeZeros.length === 0 ? value : withoutSigns(text, glance.negativeZeros)
}

function tooManyMembers(members: number, maxMembers: number, { name }: JsonPlace): Fault {
  const detail = `${name} may have ${maxMembers} members of objects and items of arrays, and has ${members}: send less.`
  return fault('TOO_MANY_MEMBERS', { detail })
}

function decode(bytes: Uint8Array, { name }: JsonPlace): string {
  if (bytes.length === 0) throw fault('MALFORMED_JSON', { detail: `${name} is empty: send a JSON value.` })
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw fault('MALFORMED_JSON', {
      detail: `${name} begins with a byte order mark: leave it out (RFC 8259 section 8.1).`,
    })
  }
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  try {
    return utf8.decode(bytes)
  } catch {
    throw fault('MALFORMED_JSON', { detail: `${name} is not valid UTF-8.` })
  }
}

function parse(text: string, place: JsonPlace): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The engine's message would leak the text, and changes between versions.
    throw malformed(text, findSyntaxProblem(text) ?? { offset: 0, message: `${place.name} is not JSON.` }, place)
  }
}

function malformed(text: string, { offset, message }: SyntaxProblem, place: JsonPlace): Fault {
  if (text.trim() === '')
    return fault('MALFORMED_JSON', { detail: `${place.name} holds only white space: send a JSON value.` })
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  let line = place.line
  for (let index = before.indexOf('\n'); index !== -1; index = before.indexOf('\n', index + 1)) line++
  // A column counts characters, not UTF-16 units.
  const column = [...before.slice(lineStart)].length + (lineStart === 0 ? place.column : 1)
  return fault('MALFORMED_JSON', { detail: `${message} (line ${line}, column ${column})` })
}

/** The result of a quick scan of a text, which may not be JSON. */
interface Glance {
  readonly tooDeep: boolean
  /** The text may have something to refuse: it needs the thorough scan. */
  readonly suspicious: boolean
  /** The offsets of the signs of negative zeros. */
  readonly negativeZeros: readonly number[]
  /** Colons outside of strings: the number of written keys. If the value has fewer keys, one is a duplicate. */
  readonly colons: number
  /** The members of objects and items of arrays, as far as the scan came. */
  readonly members: number
}

// Every double keeps 15 digits, and fewer characters without an exponent cannot have more.
const alwaysExact = 15

function glanceAt(text: string, maxDepth: number): Glance {
  const negativeZeros: number[] = []
  let suspicious = text.includes('\\u') || text.includes('"__proto__"')
  let depth = 0
  let colons = 0
  let members = 0
  // A container has a member for each comma, and one more unless it is empty: its first value counts when it begins.
  let opened = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code <= 0x20) continue
    const isFirst = opened
    opened = false
    if (isFirst && code !== 0x7d && code !== 0x5d) members++
    if (code === 0x22) {
      index = closingQuote(text, index)
      if (index === -1) break
    } else if (code === 0x3a) colons++
    else if (code === 0x2c) members++
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return { tooDeep: true, suspicious: true, negativeZeros, colons, members }
      opened = true
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const start = index
      let exponent = false
      for (let next = text.charCodeAt(index + 1); isNumberPart(next); next = text.charCodeAt(++index + 1)) {
        if ((next | 0x20) === 0x65) exponent = true
      }
      const long = exponent || index - start >= alwaysExact
      if (long && !isKeptExactly(text.slice(start, index + 1))) suspicious = true
      if (code === 0x2d && text.charCodeAt(start + 1) === 0x30 && Number(text.slice(start, index + 1)) === 0)
        negativeZeros.push(start)
    }
  }
  return { tooDeep: false, suspicious, negativeZeros, colons, members }
}

/** The members of all objects and the items of all arrays in a JSON text. */
export function countMembers(text: string): number {
  return glanceAt(text, Number.POSITIVE_INFINITY).members
}

/** The number of keys of all objects in a value. */
function countKeys(value: unknown): number {
  let count = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object' && item !== null) waiting.push(item)
    } else if (typeof next === 'object' && next !== null) {
      const keys = Object.keys(next)
      count += keys.length
      for (const key of keys) {
        const item = (next as Record<string, unknown>)[key]
        if (typeof item === 'object' && item !== null) waiting.push(item)
      }
    }
  }
  return count
}

// JSON.parse keeps the sign, which databases and responses do not.
function withoutSigns(text: string, places: readonly number[]): unknown {
  const parts = places.map((place, index) => text.slice(index === 0 ? 0 : places[index - 1]! + 1, place))
  return JSON.parse(parts.join('') + text.slice(places.at(-1)! + 1))
}

/** An open object or array, and the position of the scan in it. */
interface Container {
  /** The keys so far, decoded; `undefined` in an array. */
  readonly keys: Set<string> | undefined
  key: string
  index: number
}

/**
 * Finds nesting beyond `maxDepth` (the outermost container counts 1), duplicate keys (however they are escaped),
 * `__proto__`, numbers that would change, and texts that cannot be stored. It does not search below `maxDepth`, and
 * needs no stack.
 *
 * @param text a JSON text whose syntax was already checked
 */
export function findIssues(text: string, maxDepth: number): Issue[] {
  const issues = new IssueList()
  const open: Container[] = []
  let depth = 0
  let expectsKey = false
  const report = (code: keyof typeof issueCodes, path = open) => {
    issues.add(() => issue(code, { pointer: pointerTo(path) }))
  }
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    const inside = open.at(-1)
    if (character === '{' || character === '[') {
      depth++
      if (depth === maxDepth + 1) report('TOO_DEEP')
      if (depth > maxDepth) continue
      expectsKey = character === '{'
      open.push({ keys: expectsKey ? new Set() : undefined, key: '', index: 0 })
    } else if (character === '}' || character === ']') {
      if (depth-- <= maxDepth) open.pop()
      expectsKey = false
    } else if (character === '"') {
      const end = closingQuote(text, index)
      const literal = text.slice(index, end + 1)
      index = end
      if (depth > maxDepth) continue
      if (expectsKey) readKey(inside!, literal, open, report)
      else if (!isStorable(decoded(literal))) report('INVALID_TEXT')
      expectsKey = false
    } else if (depth > maxDepth) {
    } else if (character === ',') {
      inside!.index++
      expectsKey = inside!.keys !== undefined
    } else if (isNumberStart(character)) {
      const start = index
      while (isNumberPart(text.charCodeAt(index + 1))) index++
      if (!isKeptExactly(text.slice(start, index + 1))) report('NUMBER_NOT_EXACT')
    }
  }
  return issues.all()
}

type Report = (code: keyof typeof issueCodes, path?: Container[]) => void

function readKey(inside: Container, literal: string, open: Container[], report: Report): void {
  const key = decoded(literal)
  inside.key = key
  // A key that cannot be stored cannot be written in a pointer either: the place is its object.
  if (!isStorable(key)) report('INVALID_TEXT', open.slice(0, -1))
  else if (key === '__proto__') report('UNSAFE_KEY')
  else if (inside.keys!.has(key)) report('DUPLICATE_KEY')
  inside.keys!.add(key)
}

function decoded(literal: string): string {
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function isNumberStart(character: string): boolean {
  return character === '-' || (character >= '0' && character <= '9')
}

/** The JSON Pointer (RFC 6901) of the scan's position. Lone surrogates in keys become U+FFFD. */
function pointerTo(path: readonly Container[]): string {
  return path.map(({ keys, key, index }) => (keys === undefined ? `/${index}` : `/${escapeName(key)}`)).join('')
}

function escapeName(name: string): string {
  return name.toWellFormed().replaceAll('\0', '\ufffd').replaceAll('~', '~0').replaceAll('/', '~1')
}

/**
 * Whether a double keeps the value of a JSON number. An integer must be within ±(2^53 - 1). Any other number must equal
 * the shortest text of its double, so that responses repeat it. Overflow and underflow are not kept.
 *
 * @param literal a number as RFC 8259 section 6 writes it
 */
export function isKeptExactly(literal: string): boolean {
  const value = Number(literal)
  if (!Number.isFinite(value)) return false
  if (!/[.eE]/.test(literal)) return Number.isSafeInteger(value)
  const shortest = String(value)
  if (shortest === literal) return true
  const written = decimalOf(literal)
  const kept = decimalOf(shortest)
  return written.digits === kept.digits && (written.digits === '' || written.exponent === kept.exponent)
}

const backslash = 0x5c

/** The index of the quote that closes the string whose opening quote is at `start`; -1: none. */
function closingQuote(text: string, start: number): number {
  let found = text.indexOf('"', start + 1)
  while (found !== -1 && text.charCodeAt(found - 1) === backslash) {
    let first = found - 1
    while (first - 1 > start && text.charCodeAt(first - 1) === backslash) first--
    // An even number of backslashes escape each other; an odd one escapes the quote.
    if ((found - first) % 2 === 0) return found
    found = text.indexOf('"', found + 1)
  }
  return found
}

/** Whether a UTF-16 unit can continue a number: a digit, a point, a sign or an exponent's letter. */
function isNumberPart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d || (code | 0x20) === 0x65
}
