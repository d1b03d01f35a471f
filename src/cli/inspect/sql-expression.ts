/**
 * Reads the SQL that a database prints for defaults and check constraints: constants, and comparisons of one column
 * with constants. Any other expression is `undefined`, never an error: it comes from people.
 */

/** A constant; `null` is SQL's null. */
export type Constant = string | number | boolean | null

/** What a check constraint says about its column. */
export type Comparison =
  | { readonly kind: 'one of'; readonly values: readonly Constant[] }
  | { readonly kind: 'number'; readonly operator: '<' | '<=' | '>' | '>='; readonly value: string }
  | { readonly kind: 'length'; readonly least?: number; readonly most?: number }

/** Reads a constant, such as `'open'::character varying`. Numbers stay texts, so that no digit is lost. */
export function constantOf(sql: string): { readonly value: Constant; readonly isNumber: boolean } | undefined {
  const text = withoutCast(sql)
  if (/^null$/i.test(text)) return { value: null, isNumber: false }
  if (/^(?:true|false)$/.test(text)) return { value: text === 'true', isNumber: false }
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return { value: text, isNumber: true }
  const quoted = /^(E?)'((?:[^']|'')*)'$/.exec(text)
  if (quoted === null) return undefined
  const [, escaped, inner = ''] = quoted
  const value = inner.replaceAll("''", "'")
  return { value: escaped === 'E' ? value.replaceAll(String.raw`\\`, '\\') : value, isNumber: false }
}

/** Reads the elements of `ARRAY['a'::text, 'b'::text]`. */
function elementsOf(sql: string): Constant[] | undefined {
  const list = /^ARRAY\[(.*)\]$/s.exec(withoutCast(sql))?.[1]
  if (list === undefined) return undefined
  const constants = list.trim() === '' ? [] : split(list, ', ').map(constantOf)
  return constants.every((each) => each !== undefined) ? constants.map(({ value }) => value) : undefined
}

/** The default of an array column, such as `'{}'::text[]`. */
export function emptyArray(sql: string): boolean {
  return constantOf(sql)?.value === '{}' || elementsOf(sql)?.length === 0
}

/**
 * Reads a condition on one column.
 *
 * @param column its name, as the catalog has it, or `VALUE` of a domain
 * @returns `undefined` where a part of the condition is anything else
 */
export function comparisonsOf(condition: string, column: string): Comparison[] | undefined {
  const found: Comparison[] = []
  for (const part of split(bare(condition), ' AND ').map(bare)) {
    // The parts of a conjunction within another one are in parentheses.
    const inner = split(part, ' AND ').length > 1 ? comparisonsOf(part, column) : undefined
    const each = inner ?? one(comparisonOf(part, column) ?? alternatives(part, column))
    if (each === undefined) return undefined
    found.push(...each)
  }
  return found
}

function one<T>(value: T | undefined): T[] | undefined {
  return value === undefined ? undefined : [value]
}

/** `a = 'x' OR a = 'y'`. */
function alternatives(condition: string, column: string): Comparison | undefined {
  const parts = split(condition, ' OR ')
  const values: Constant[] = []
  for (const part of parts.length > 1 ? parts : []) {
    const found = comparisonOf(bare(part), column)
    if (found?.kind !== 'one of') return undefined
    values.push(...found.values)
  }
  return values.length > 0 ? { kind: 'one of', values } : undefined
}

const operators = [' >= ', ' <= ', ' <> ', ' = ', ' > ', ' < ']

function comparisonOf(condition: string, column: string): Comparison | undefined {
  for (const operator of operators) {
    const [left, right, ...more] = split(condition, operator)
    if (left === undefined || right === undefined || more.length > 0) continue
    const sign = operator.trim()
    const length = /^(?:char_length|character_length|length)(\(.*\))$/s.exec(withoutCast(left))?.[1]
    if (length !== undefined) return isColumn(length, column) ? lengthOf(sign, right) : undefined
    if (!isColumn(left, column)) return undefined
    if (sign === '=') return equalityOf(right)
    const constant = constantOf(right)
    if (sign === '<>' || constant === undefined) return undefined
    const value = String(constant.value)
    // Negative numbers are in quotes.
    return /^-?\d+(?:\.\d+)?$/.test(value)
      ? { kind: 'number', operator: sign as '<' | '<=' | '>' | '>=', value }
      : undefined
  }
  return undefined
}

function equalityOf(right: string): Comparison | undefined {
  const any = /^ANY (\(.*\))$/s.exec(right.trim())?.[1]
  const values = any === undefined ? one(constantOf(right)?.value) : elementsOf(any)
  return values === undefined || values.length === 0 ? undefined : { kind: 'one of', values }
}

function lengthOf(sign: string, right: string): Comparison | undefined {
  const number = Number(constantOf(right)?.value)
  if (!Number.isSafeInteger(number) || number < 0) return undefined
  if (sign === '<=' || (sign === '<' && number > 0)) {
    return { kind: 'length', most: sign === '<' ? number - 1 : number }
  }
  if (sign === '>=' || sign === '>') return { kind: 'length', least: sign === '>' ? number + 1 : number }
  return sign === '=' ? { kind: 'length', least: number, most: number } : undefined
}

function isColumn(sql: string, column: string): boolean {
  const text = withoutCast(sql)
  return text === column || text === `"${column.replaceAll('"', '""')}"`
}

/** An expression without casts and without the parentheses around it. */
function withoutCast(sql: string): string {
  let text = bare(sql)
  for (let at = text.lastIndexOf('::'); at > 0; at = text.lastIndexOf('::')) {
    // An apostrophe after the colons: they are a part of a text.
    if (text.includes("'", at)) return text
    // A closing parenthesis that opens before the colons: the cast is a part of a larger expression.
    if (split(text, '::').length === 1) return text
    text = bare(text.slice(0, at))
  }
  return text
}

/** An expression without the parentheses around all of it. */
function bare(sql: string): string {
  let text = sql.trim()
  while (text.startsWith('(') && closing(text) === text.length - 1) text = text.slice(1, -1).trim()
  return text
}

/** The index of the parenthesis that closes the first one; -1: none. */
function closing(text: string): number {
  let depth = 0
  for (const [character, index] of unquoted(text)) {
    if (character === '(' || character === '[') depth++
    else if (character === ')' || character === ']') depth--
    if (depth === 0) return index
  }
  return -1
}

/** Splits an expression where a separator is outside of quotes and parentheses. */
function split(text: string, separator: string): string[] {
  const parts: string[] = []
  let [depth, start] = [0, 0]
  for (const [character, index] of unquoted(text)) {
    if (character === '(' || character === '[') depth++
    else if (character === ')' || character === ']') depth--
    if (depth > 0 || index < start || !text.startsWith(separator, index)) continue
    parts.push(text.slice(start, index))
    start = index + separator.length
  }
  return [...parts, text.slice(start)]
}

/** The characters outside of quotes, with their places. */
function* unquoted(text: string): Generator<[string, number]> {
  let quote: string | undefined
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string
    if (quote !== undefined) {
      if (character === quote) quote = undefined
    } else if (character === "'" || character === '"') quote = character
    else yield [character, index]
  }
}
