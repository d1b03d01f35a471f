/**
 * Generates texts that match the regular expressions of JSON Schemas, as far as their syntax is common. Every text is
 * tested.
 */
import { random } from './random.ts'

/** Generates the text of a part of an expression. Parts that may repeat do so more often if `more` is larger. */
type Part = (more: number) => string

const mostTries = 60

/** A text of so many characters that matches a pattern; `undefined` if none was found. */
export function textMatching(pattern: string, { least = 0, most = 10_000 } = {}): string | undefined {
  const [test, make] = [testOf(pattern), partOf(pattern)]
  if (test === undefined || make === undefined) return undefined
  for (let turn = 0; turn < mostTries; turn++) {
    const text = make(turn === 0 && least > 0 ? Math.min(least, 200) : turn % 12)
    if (text.length >= least && text.length <= most && test.test(text)) return text
  }
  return undefined
}

/** The approximate number of texts that match a pattern; infinite if there are more than a few hundred. */
export function countMatching(pattern: string): number {
  const known = counts.get(pattern)
  if (known !== undefined) return known
  const seen = new Set<string>()
  for (let turn = 0; turn < 400; turn++) {
    const text = textMatching(pattern)
    if (text === undefined) break
    seen.add(text)
  }
  // If there are a thousand texts or fewer, four hundred random ones repeat each other.
  const count = seen.size > 330 ? Number.POSITIVE_INFINITY : seen.size
  counts.set(pattern, count)
  return count
}

const counts = new Map<string, number>()

/** Whether a text matches the pattern of a schema. */
export function matches(text: string, pattern: string): boolean {
  return testOf(pattern)?.test(text) === true
}

function testOf(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags)
    } catch {
      // Many patterns are invalid with the flag for Unicode.
    }
  }
  return undefined
}

/** The pattern has syntax that cannot be generated. */
class Unsupported extends Error {}

function partOf(pattern: string): Part | undefined {
  try {
    const reader = { pattern, at: 0 }
    const part = alternatives(reader, 0)
    return reader.at === pattern.length ? part : undefined
  } catch (error) {
    if (error instanceof Unsupported) return undefined
    throw error
  }
}

interface Reader {
  readonly pattern: string
  at: number
}

function alternatives(reader: Reader, depth: number): Part {
  if (depth > 40) throw new Unsupported()
  const all: Part[] = [sequence(reader, depth)]
  while (reader.pattern[reader.at] === '|') {
    reader.at++
    all.push(sequence(reader, depth))
  }
  return (more) => pick(all)(more)
}

function sequence(reader: Reader, depth: number): Part {
  const parts: Part[] = []
  while (reader.at < reader.pattern.length && !'|)'.includes(reader.pattern[reader.at] as string)) {
    const one = atom(reader, depth)
    parts.push(repeated(reader, one))
  }
  return (more) => parts.map((part) => part(more)).join('')
}

function repeated(reader: Reader, part: Part): Part {
  const found = /^(?:([?*+])|\{(\d+)(?:(,)(\d*))?\})[?+]?/.exec(reader.pattern.slice(reader.at))
  if (found === null) return part
  reader.at += found[0].length
  const [, sign, low, comma, high] = found
  const least = sign === undefined ? Number(low) : sign === '+' ? 1 : 0
  const most =
    sign === '?' ? 1 : sign !== undefined || (comma !== undefined && high === '') ? 1_000 : Number(high ?? low)
  return (more) => {
    const count = Math.min(most, least + Math.round(random() * more * 0.5 + more * 0.5))
    return Array.from({ length: Math.max(least, count) }, () => part(more)).join('')
  }
}

function atom(reader: Reader, depth: number): Part {
  const { pattern } = reader
  const char = pattern[reader.at++] as string
  if (char === '^' || char === '$') return () => ''
  if (char === '.') return choice(letters)
  if (char === '[') return choice(setOf(reader))
  if (char === '\\') return escaped(reader)
  if (char !== '(') return () => char
  const opening = /^\?(?::|<[a-z_]\w*>)/i.exec(pattern.slice(reader.at))
  // Lookarounds generate nothing. The test of the whole text decides.
  const looking = /^\?<?[=!]/.exec(pattern.slice(reader.at))
  reader.at += (looking ?? opening)?.[0].length ?? 0
  if (looking === null && opening === null && pattern[reader.at] === '?') throw new Unsupported()
  const inner = alternatives(reader, depth + 1)
  if (pattern[reader.at++] !== ')') throw new Unsupported()
  return looking === null ? inner : () => ''
}

const letters = 'abcdefghijklmnopqrstuvwxyz'
const capitals = letters.toUpperCase()
const digits = '0123456789'
const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('')
const classes: Readonly<Record<string, string>> = {
  ...{ d: digits, w: letters + capitals + digits, s: ' ' },
  ...{ D: letters, W: '-', S: letters + digits },
}
const controls: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

function escaped(reader: Reader): Part {
  if ('bB'.includes(reader.pattern[reader.at] ?? '.')) {
    reader.at++
    return () => ''
  }
  return choice(escapedSet(reader))
}

/** The characters that an escape matches; the reader is behind its backslash. */
function escapedSet(reader: Reader): string {
  const char = reader.pattern[reader.at++]
  if (char === undefined || /[1-9k]/.test(char)) throw new Unsupported()
  if (classes[char] !== undefined) return classes[char]
  if (controls[char] !== undefined) return controls[char]
  const rest = reader.pattern.slice(reader.at)
  const code =
    char === 'x' ? /^[\da-f]{2}/i.exec(rest) : char === 'u' ? /^(?:[\da-f]{4}|\{[\da-f]+\})/i.exec(rest) : null
  if (code !== null) {
    reader.at += code[0].length
    return String.fromCodePoint(Number.parseInt(code[0].replaceAll(/[{}]/g, ''), 16))
  }
  const property = char === 'p' ? /^\{(?:\w+=)?(\w+)\}/.exec(rest) : null
  if (property !== null) {
    reader.at += property[0].length
    const name = property[1] as string
    return /^(?:N|Nd|Number)/.test(name) ? digits : /^(?:Lu|Uppercase)/.test(name) ? capitals : letters
  }
  if (/[a-z]/i.test(char)) throw new Unsupported()
  return char
}

function setOf(reader: Reader): string {
  const { pattern } = reader
  const isNegated = pattern[reader.at] === '^'
  if (isNegated) reader.at++
  let set = ''
  while (pattern[reader.at] !== ']') {
    if (reader.at >= pattern.length) throw new Unsupported()
    const from = member(reader)
    if (pattern[reader.at] === '-' && pattern[reader.at + 1] !== ']' && from.length === 1) {
      reader.at++
      const to = member(reader)
      const [low, high] = [from.codePointAt(0) as number, to.codePointAt(0) as number]
      for (let code = low; code <= Math.min(high, low + 200); code++) set += String.fromCodePoint(code)
    } else set += from
  }
  reader.at++
  if (!isNegated) return set
  return [...letters, ...digits, ...printable].filter((char) => !set.includes(char)).join('')
}

function member(reader: Reader): string {
  const char = reader.pattern[reader.at++] as string
  return char === '\\' ? escapedSet(reader) : char
}

function choice(set: string): Part {
  const all = [...set]
  if (all.length === 0) throw new Unsupported()
  return () => pick(all)
}

function pick<T>(all: readonly T[]): T {
  return all[Math.floor(random() * all.length)] as T
}
