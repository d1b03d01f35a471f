/** Makes a field from a column: its type, limits, values and default, and comments for what does not fit. */
import { mostDigits } from '../../model/decimal.ts'
import type {
  CheckDescription,
  ColumnDescription,
  ColumnTypeDescription,
  ForeignKeyDescription,
} from '../../storage/table-description.ts'
import { type Comparison, comparisonsOf, constantOf, emptyArray } from './sql-expression.ts'

/** A proposed field. */
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

/** What the table says about a column. */
export interface ColumnUse {
  /** The name of the field. */
  readonly name: string
  readonly unique: boolean
  readonly immutable: boolean
  readonly reference: ProposedReference | undefined
  /** The check constraints that are about this column only. */
  readonly checks: readonly CheckDescription[]
}

/** Proposes the field of a column. */
export function proposeField(column: ColumnDescription, use: ColumnUse): ProposedField {
  const comments: string[] = []
  if (use.name !== column.name) comments.push(`The column ${JSON.stringify(column.name)}.`)
  const schema = use.reference === undefined ? typed(column.type, comments) : referring(column, use.reference, comments)
  applyChecks(schema, column, use, comments)
  if (!column.required) schema['optional'] = true
  if (use.unique) schema['unique'] = true
  if (use.immutable) schema['immutable'] = true
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
  if (numbered) comments.push(`The database numbers it; the server does not.${must}`)
  if (sql === undefined || numbered) return
  const value = schema['reference'] === undefined ? defaultOf(sql, schema) : undefined
  if (value === undefined) comments.push(`Does not fit: the default ${sql}.${must}`)
  else if (value !== null) schema['default'] = value
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
  return type === undefined ? parsed(String(value)) : undefined
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) ?? undefined
  } catch {
    return undefined
  }
}
