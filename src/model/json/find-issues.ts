/** What valid JSON may not contain in a request body: duplicate keys, inexact numbers, unstorable text (RFC 8259). */
import { type Issue, issueCodes } from '../../spec/faults.ts'
import { decimalOf } from '../decimal.ts'

/** The most issues of one response: more of them are one mistake, not many. */
const mostIssues = 100

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
  const issues: Issue[] = []
  const open: Container[] = []
  let depth = 0
  let expectsKey = false
  const report = (code: keyof typeof issueCodes, path = open) => {
    issues.push({ code, message: issueCodes[code], pointer: pointerTo(path) })
  }
  for (let index = 0; index < text.length && issues.length < mostIssues; index++) {
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
  return issues
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
export function closingQuote(text: string, start: number): number {
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
export function isNumberPart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d || (code | 0x20) === 0x65
}
