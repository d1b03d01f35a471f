/** Makes a field from a column: its type, limits, values and default, and comments for what does not fit. */
import { mostDigits } from 'resourced-contract/model/decimal'
import type {
  CheckDescription,
  ColumnDescription,
  ColumnTypeDescription,
  ForeignKeyDescription,
} from '../../storage/table-description.ts'
import { parsedJson } from '../../storage/transaction.ts'

export interface ProposedField {
  readonly name: string
  /** The words of the field; `repair` may remove some. */
  readonly schema: Record<string, unknown>
  readonly comments: string[]
}

/** The reference of a column. */
export interface ProposedReference {
  readonly collection: string
  readonly key: ForeignKeyDescription
  /** What is different in a reference, for a comment. */
  readonly remarks: readonly string[]
}

/** Whether an index serves filters by a column, and lists in its order. */
export interface IndexUse {
  readonly filter: boolean
  readonly sort: boolean
}

/** What the table says about a column. */
interface ColumnUse {
  /** The name of the field. */
  readonly name: string
  readonly unique: boolean
  readonly immutable: boolean
  readonly reference: ProposedReference | undefined
  readonly indexed: IndexUse | undefined
  /** The check constraints that are about this column only. */
  readonly checks: readonly CheckDescription[]
}

/** Proposes the field of a column. */
export function proposeField(column: ColumnDescription, use: ColumnUse): ProposedField {
  const comments: string[] = []
  if (use.name !== column.name) comments.push(`The column ${JSON.stringify(column.name)}.`)
  const schema = use.reference === undefined ? typed(column.type, comments) : referring(column, use.reference, comments)
  applyChecks(schema, column, use, comments)
  const isNumbered = column.numbered && schema['type'] === 'integer'
  // Every record gets a number of its own, once, from the server alone.
  if (isNumbered) schema['sequence'] = {}
  else if (!column.required) schema['optional'] = true
  if (use.unique && !isNumbered) schema['unique'] = true
  if (use.immutable && !isNumbered) schema['immutable'] = true
  applyIndexes(schema, use.indexed)
  const description = column.comment === undefined ? '' : textOfComment(column.comment)
  if (description !== '') schema['description'] = description
  applyDefault(schema, column, comments)
  return { name: use.name, schema, comments }
}

const longestDescription = 1_000

/** A comment of the database as a description; longer ones are cut. */
export function textOfComment(comment: string): string {
  const text = comment.trim()
  const characters = [...text]
  return characters.length > longestDescription ? `${characters.slice(0, longestDescription - 1).join('')}…` : text
}

function referring(
  { required }: ColumnDescription,
  reference: ProposedReference,
  comments: string[],
): Record<string, unknown> {
  const { key, collection, remarks } = reference
  comments.push(...remarks)
  const wanted = key.onDelete === 'set null' ? 'clear' : key.onDelete === 'cascade' ? 'cascade' : 'restrict'
  if (key.onDelete === 'set default') comments.push('ON DELETE SET DEFAULT has no equivalent: deletion is restricted.')
  if (wanted !== 'clear' || !required) return { reference: collection, onDelete: wanted }
  comments.push('ON DELETE SET NULL contradicts NOT NULL: deletion is restricted.')
  return { reference: collection, onDelete: 'restrict' }
}

const plainTypes: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  int2: { type: 'integer' },
  int4: { type: 'integer' },
  int8: { type: 'integer' },
  float4: { type: 'number' },
  float8: { type: 'number' },
  bool: { type: 'boolean' },
  text: { type: 'string' },
  varchar: { type: 'string' },
  bpchar: { type: 'string' },
  name: { type: 'string' },
  date: { type: 'string', format: 'date' },
  timestamptz: { type: 'string', format: 'date-time' },
  uuid: { type: 'string', format: 'uuid' },
  timetz: { type: 'string', format: 'time' },
  json: {},
  jsonb: {},
}

/** Types that become another one, which a comment must explain. */
const similarTypes: Readonly<Record<string, { readonly schema: Readonly<Record<string, unknown>>; why: string }>> = {
  citext: { schema: { type: 'string' }, why: 'citext compares without case; a text here compares with case.' },
  timestamp: {
    schema: { type: 'string', format: 'date-time' },
    why: 'timestamp without time zone: a date-time here has one. Import the values as UTC, with a Z at the end.',
  },
  time: { schema: { type: 'string' }, why: 'time without time zone becomes a text.' },
  interval: { schema: { type: 'string', format: 'duration' }, why: 'interval becomes an ISO 8601 duration.' },
  money: { schema: { type: 'decimal', precision: 19, scale: 2 }, why: 'money becomes a decimal with two places.' },
  bytea: { schema: { type: 'string', contentEncoding: 'base64' }, why: 'bytea becomes a text in base64.' },
  oid: { schema: { type: 'integer' }, why: 'oid becomes an integer.' },
}

function typed(type: ColumnTypeDescription, comments: string[]): Record<string, unknown> {
  const { name, label, length, values, element } = type
  if (values !== undefined) {
    if (values.length > 0) return { type: 'string', enum: [...values] }
    comments.push(`The enumeration ${label} has no values, so it becomes a text.`)
    return { type: 'string' }
  }
  if (element !== undefined) {
    const items = element.name === 'numeric' ? { type: 'number' } : typed(element, comments)
    if (element.name === 'numeric') comments.push('Decimals within an array become numbers, which are not exact.')
    return { type: 'array', items }
  }
  if (name === 'numeric') return decimal(type, comments)
  const plain = plainTypes[name]
  if (plain !== undefined) {
    if (name === 'int8') comments.push('bigint: values beyond 9007199254740991 do not fit.')
    return { ...plain, ...(length === undefined ? {} : { maxLength: length }) }
  }
  const similar = similarTypes[name]
  comments.push(similar?.why ?? `The type ${label} has no equivalent, so it becomes a text.`)
  return { ...(similar?.schema ?? { type: 'string' }) }
}

function decimal({ digits }: ColumnTypeDescription, comments: string[]): Record<string, unknown> {
  if (digits === undefined) {
    comments.push('numeric without a precision: choose how many digits values have.')
    return { type: 'decimal', precision: mostDigits, scale: 10 }
  }
  // PostgreSQL allows a negative scale, and one above the precision.
  const scale = Math.max(0, digits.scale)
  const precision = Math.max(digits.precision - Math.min(0, digits.scale), scale)
  if (precision <= mostDigits) return { type: 'decimal', precision, scale }
  comments.push(`numeric(${digits.precision},${digits.scale}): a decimal has at most ${mostDigits} digits.`)
  return { type: 'decimal', precision: mostDigits, scale: Math.min(scale, mostDigits) }
}

function applyChecks(
  schema: Record<string, unknown>,
  { name, domainChecks }: ColumnDescription,
  { checks, reference }: ColumnUse,
  comments: string[],
): void {
  const all = [
    ...domainChecks.map((condition) => ({ condition, column: 'VALUE', label: 'the check of its domain' })),
    ...checks.map((each) => ({ condition: each.condition, column: name, label: `the check ${each.name}` })),
  ]
  for (const { condition, column, label } of all) {
    const comparisons = reference === undefined ? comparisonsOf(condition, column) : undefined
    const words = comparisons?.map((comparison) => wordsOf(comparison, schema))
    if (words?.every((each) => each !== undefined) === true) for (const each of words) Object.assign(schema, each)
    else comments.push(`Does not fit: ${label}: ${condition}`)
  }
}

/** Types of fields that requests can sort by. References, enums and booleans are filters by default. */
const sortable: readonly unknown[] = ['string', 'integer', 'number', 'decimal']

function applyIndexes(
  schema: Record<string, unknown>,
  { filter, sort }: IndexUse = { filter: false, sort: false },
): void {
  const { type, enum: values } = schema
  if (!sortable.includes(type)) return
  if (filter && values === undefined) schema['filter'] = true
  if (sort) schema['sort'] = true
}

const bounds = { '>=': 'minimum', '>': 'exclusiveMinimum', '<=': 'maximum', '<': 'exclusiveMaximum' } as const

/** The words that mean the same as a comparison; `undefined`: none do. */
function wordsOf(comparison: Comparison, { type, format, maxLength = Infinity }: Record<string, unknown>) {
  switch (comparison.kind) {
    case 'one of': {
      const areTexts = comparison.values.every((value) => typeof value === 'string')
      if (areTexts && type === 'string' && format === undefined) return { enum: [...new Set(comparison.values)] }
      const numbers = [...new Set(comparison.values.map(Number))]
      const isNumber = type === 'integer' || type === 'number'
      return isNumber && numbers.every(Number.isFinite) ? { enum: numbers } : undefined
    }
    case 'number': {
      const { operator, value } = comparison
      const word = bounds[operator]
      if (type === 'decimal') return { [word]: value }
      const number = Number(value)
      const isExact = type === 'number' || (type === 'integer' && Number.isSafeInteger(number))
      return isExact ? { [word]: number } : undefined
    }
    case 'length': {
      const { least, most } = comparison
      if (type !== 'string') return undefined
      return {
        ...(least === undefined ? {} : { minLength: least }),
        ...(most === undefined ? {} : { maxLength: Math.min(most, Number(maxLength)) }),
      }
    }
  }
}

function applyDefault(schema: Record<string, unknown>, column: ColumnDescription, comments: string[]): void {
  const { default: sql, numbered, required } = column
  const must = required ? ' Clients must send the value.' : ''
  if (schema['sequence'] !== undefined) comments.push('The server numbers records from 1: an import numbers them anew.')
  else if (numbered) comments.push(`The database numbers it; the server numbers whole numbers only.${must}`)
  if (sql === undefined || numbered) return
  if (isTime(schema['format']) && isNow(sql)) {
    schema['default'] = { now: true }
    return
  }
  const value = schema['reference'] === undefined ? defaultOf(sql, schema) : undefined
  if (value === undefined) comments.push(`Does not fit: the default ${sql}.${must}`)
  else if (value !== null) schema['default'] = value
}

function isTime(format: unknown): boolean {
  return format === 'date-time' || format === 'date'
}

const calls = String.raw`(?:now|(?:transaction|statement|clock)_timestamp)\(\)`
const clock = String.raw`(?:${calls}|(?:current_(?:timestamp|date)|localtimestamp)(?:\(\d\))?)`
const cast = String.raw`(?:::[a-z]+(?:\(\d\))?(?: with(?:out)? time zone)?)`
const utc = "'utc'(?:::text)?"
const nowForm = new RegExp(
  `^\\(*(?:timezone\\(${utc}, \\(*${clock}\\)*|${clock})(?:\\)*(?: at time zone ${utc}|${cast}))*\\)*$`,
  'i',
)

/** Whether an expression is the present time, or its day in UTC. */
export function isNow(sql: string): boolean {
  return nowForm.test(sql)
}

function defaultOf(sql: string, { type, format }: Record<string, unknown>): unknown {
  if (type === 'array') return emptyArray(sql) ? [] : undefined
  const constant = constantOf(sql)
  if (constant === undefined || constant.value === null) return constant?.value
  const { value } = constant
  if (typeof value === 'boolean') return type === 'boolean' ? value : undefined
  // A timestamp as PostgreSQL prints it in UTC.
  if (format === 'date-time') return String(value).replace(/^(\S+) (\S+?)(?:\+00)?$/, '$1T$2Z')
  if (type === 'string') return String(value)
  if (type === 'decimal') return /^-?\d+(?:\.\d+)?$/.test(String(value)) ? String(value) : undefined
  if (type === 'integer' || type === 'number') return value === '' ? undefined : finite(Number(value))
  return type === undefined ? (parsedJson(String(value)) ?? undefined) : undefined
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

// The SQL that a database prints for defaults and check constraints: constants, and comparisons of one column with
// constants. Any other expression is `undefined`, never an error: it comes from people.

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
