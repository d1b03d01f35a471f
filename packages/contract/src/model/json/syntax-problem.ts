/** Finds the first syntax error of a text that is not JSON (RFC 8259), and describes it. */

/** The first place at which a text is not JSON. */
export interface SyntaxProblem {
  /** In UTF-16 units; the text's length if the text ends too early. */
  readonly offset: number
  readonly message: string
}

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'after-value'

const mayEnd: readonly Expected[] = ['value-or-end', 'key-or-end', 'after-value']

const blank = /[ \t\n\r]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// Each pattern repeats one character class: a repeated alternation would need memory for each repetition.
const ordinary = /[ !#-[\]-\uffff]*/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const names = ['true', 'false', 'null']

/** Finds the first syntax error; `undefined`: the text is JSON. It needs no stack for any depth. */
export function findSyntaxProblem(text: string): SyntaxProblem | undefined {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  for (let index = skip(blank, text, 0), next = index; index < text.length; index = skip(blank, text, next)) {
    const character = text[index]!
    const inside = open.at(-1)
    const end = inside && (inside === '{' ? '}' : ']')
    next = index + 1
    if (character === end && mayEnd.includes(expected)) {
      open.pop()
      expected = 'after-value'
    } else if (expected === 'after-value') {
      if (end === undefined)
        return { offset: index, message: `After the value nothing may follow, not ${name(text, index)}.` }
      if (character !== ',')
        return { offset: index, message: `A comma or ${end} is missing before ${name(text, index)}.` }
      expected = inside === '{' ? 'key' : 'value'
    } else if (expected === 'colon') {
      if (character !== ':')
        return { offset: index, message: `A colon is missing after a key, before ${name(text, index)}.` }
      expected = 'value'
    } else if (expected === 'key' || expected === 'key-or-end') {
      if (character !== '"') return { offset: index, message: keyMessage(text, index) }
      const after = readString(text, index)
      if (typeof after !== 'number') return after
      next = after
      expected = 'colon'
    } else if (character === '{' || character === '[') {
      open.push(character)
      expected = character === '{' ? 'key-or-end' : 'value-or-end'
    } else {
      const after = readScalar(text, index)
      if (typeof after !== 'number') return after
      next = after
      expected = 'after-value'
    }
  }
  if (expected === 'after-value' && open.length === 0) return undefined
  return { offset: text.length, message: `The text ends too early: ${missing(open, expected)}.` }
}

function readScalar(text: string, index: number): number | SyntaxProblem {
  if (text[index] === '"') return readString(text, index)
  for (const known of names) if (text.startsWith(known, index)) return index + known.length
  const end = skip(number, text, index)
  if (end === index) return { offset: index, message: valueMessage(text, index) }
  if (/[0-9]/.test(text[end] ?? '')) return { offset: index, message: 'A number may not begin with a needless zero.' }
  if (text[end] === '.') return { offset: end, message: 'A digit is missing after the decimal point.' }
  if (/[eE]/.test(text[end] ?? '')) return { offset: end, message: 'A digit is missing in the exponent.' }
  return end
}

function readString(text: string, index: number): number | SyntaxProblem {
  let end = skip(ordinary, text, index + 1)
  while (text[end] === '\\') {
    const after = skip(escaped, text, end)
    if (after === end) break
    end = skip(ordinary, text, after)
  }
  if (text[end] === '"') return end + 1
  if (end >= text.length || (text[end] === '\\' && end === text.length - 1))
    return { offset: text.length, message: 'The text ends within a string.' }
  if (text[end] === '\\') return { offset: end, message: 'A string has an escape that JSON does not have.' }
  return { offset: end, message: 'A string has a control character that is not escaped.' }
}

function keyMessage(text: string, index: number): string {
  if (text[index] === '}') return 'A comma stands before the end of an object.'
  if (text[index] === "'") return 'A key must be in double quotes, not in single ones.'
  return `A key in double quotes is missing before ${name(text, index)}.`
}

function valueMessage(text: string, index: number): string {
  const character = text[index]!
  if (character === "'") return 'A text must be in double quotes, not in single ones.'
  if (character === '/') return 'JSON has no comments.'
  if (/^(?:NaN|[+-]?Infinity|undefined)/.test(text.slice(index, index + 10)))
    return 'JSON has no NaN, Infinity or undefined.'
  if (character === ']') return 'A comma stands before the end of an array.'
  if (character === '-' || character === '+' || character === '.')
    return 'A number must begin with a digit, or - and a digit.'
  return `A value is missing before ${name(text, index)}.`
}

function missing(open: readonly string[], expected: Expected): string {
  const last = open.at(-1)
  if (last === undefined) return 'a value is missing'
  const what = last === '{' ? 'an object' : 'an array'
  return expected === 'value' ? `a value is missing, in ${what} that is not closed` : `${what} is not closed`
}

/** A character for a message. */
function name(text: string, index: number): string {
  const point = text.codePointAt(index)!
  const printable = point > 0x20 && point < 0x7f
  return printable ? String.fromCodePoint(point) : `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
}

function skip(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index
  return pattern.test(text) ? pattern.lastIndex : index
}
