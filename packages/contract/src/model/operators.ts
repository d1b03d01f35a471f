/**
 * The operators of conditions and queries, one row each. Parsers, checks, `matches`, types and documents read this
 * table. `storage/sql/operators.ts` of the server has their SQL: see docs/contributing/adding-a-query-operator.md.
 */
import { oneOf } from '../spec/words.ts'
import { compareText, fold } from './text.ts'

// In this order queries and documents list operators.
const operands = ['value', 'values', 'list', 'text', 'flag'] as const

export interface Operator {
  /** Its name in conditions. */
  readonly name: string
  /** Its name in queries: `title[starts_with]=x`. */
  readonly query: string
  /** What it takes. If a parameter repeats, any `value` or `text` may match, and `values` are taken together. */
  readonly operand: (typeof operands)[number]
  /** The fields that it is for: all that can be compared, those with an order, free texts, or arrays of scalars. */
  readonly fits: 'all' | 'ordered' | 'texts' | 'arrays'
  /** What a day means for a date-time: its first instant, or all its instants. Left out: a day is refused. */
  readonly day?: 'start' | 'whole'
  /** Its description in the schema of declarations. */
  readonly condition: string
  /** Its description in documents for clients. */
  readonly meaning: string
}

/** A comparison with one other value of the same type. */
interface Comparing {
  /** Its result in memory. Instants and decimals are comparison keys, and texts are compared without case. */
  readonly holds: (value: Value, other: Value) => boolean
  /** The index that finds its records as one range: of the field, or by a prefix, of the folded text. */
  readonly index?: 'field' | 'prefix'
  /** The side of the other value on which it holds. */
  readonly side?: 'above' | 'below'
}

type Value = string | number | boolean

const ordered = { operand: 'value', fits: 'ordered', index: 'field' } as const
const textual = { operand: 'text', fits: 'texts' } as const

// biome-ignore format: a row for each operator
const rows = {
  gt: { query: 'gt', ...ordered, side: 'above', holds: (value, other) => order(value, other) > 0,
    condition: 'Greater than this.', meaning: 'greater than this' },
  gte: { query: 'gte', ...ordered, side: 'above', day: 'start', holds: (value, other) => order(value, other) >= 0,
    condition: 'Greater than this, or equal.', meaning: 'this or greater' },
  lt: { query: 'lt', ...ordered, side: 'below', day: 'start', holds: (value, other) => order(value, other) < 0,
    condition: 'Less than this.', meaning: 'less than this' },
  lte: { query: 'lte', ...ordered, side: 'below', holds: (value, other) => order(value, other) <= 0,
    condition: 'Less than this, or equal.', meaning: 'this or less' },
  in: { query: 'in', operand: 'list', fits: 'all', day: 'whole',
    condition: 'One of these values.', meaning: 'one of these' },
  not: { query: 'not', operand: 'values', fits: 'all', day: 'whole',
    condition: 'Another value than this, or no value.', meaning: 'none of these, or no value' },
  contains: { query: 'contains', ...textual, holds: (text, part) => fold(String(text)).includes(fold(String(part))),
    condition: 'A text that contains this text.', meaning: 'contains this text, in upper or lower case' },
  startsWith: { query: 'starts_with', ...textual, index: 'prefix',
    holds: (text, part) => fold(String(text)).startsWith(fold(String(part))),
    condition: 'A text that begins with this text.', meaning: 'begins with this text, in upper or lower case' },
  has: { query: 'has', operand: 'value', fits: 'arrays',
    condition: 'An array with this item.', meaning: 'has this item' },
  hasAny: { query: 'has_any', operand: 'list', fits: 'arrays',
    condition: 'An array with one of these items at least.', meaning: 'has one of these' },
  hasAll: { query: 'has_all', operand: 'list', fits: 'arrays',
    condition: 'An array with all of these items.', meaning: 'has all of these' },
  null: { query: 'null', operand: 'flag', fits: 'all',
    condition: '`true`: the field has no value. `false`: the field has a value.',
    meaning: '`true` for no value, `false` for any value' },
} as const satisfies Readonly<Record<string, Omit<Operator, 'name'> & Partial<Comparing>>>

function order(value: Value, other: Value): number {
  return typeof value === 'string' ? compareText(value, other as string) : Number(value) - Number(other)
}

type Rows = typeof rows

/** The names in conditions of the operators whose rows extend a type. */
type OperatorsWith<Part> = { [Name in keyof Rows]: Rows[Name] extends Part ? Name : never }[keyof Rows]

/** How one value is compared with another. `eq` is equality, which is written without an operator. */
export type Comparison = 'eq' | OperatorsWith<Pick<Comparing, 'holds'>>

/** The names in queries of the operators for some fields. */
export type FilterOperator<Fits = Operator['fits']> = Rows[OperatorsWith<{ readonly fits: Fits }>]['query']

/** The operators for some fields in a condition, each with what it takes. */
export type Comparisons<Type extends keyof Operands, One, Part = One> = {
  readonly [Name in keyof Operands[Type]]?: Operands[Type][Name] extends 'value' | 'values'
    ? One
    : Operands[Type][Name] extends 'text'
      ? Part
      : Operands[Type][Name] extends 'list'
        ? readonly One[]
        : boolean
}

/** What each operator takes, by the type of the field: once for all declarations, which the compiler checks sooner. */
interface Operands {
  boolean: OperandsFor<'all'>
  number: OperandsFor<'all' | 'ordered'>
  string: OperandsFor<'all' | 'ordered' | 'texts'>
  array: OperandsFor<'arrays'> & { readonly null: 'flag' }
}

type OperandsFor<Fits> = { [Name in OperatorsWith<{ readonly fits: Fits }>]: Rows[Name]['operand'] }

const named: readonly Operator[] = Object.entries(rows).map(([name, row]) => ({ name, ...row }))

/** The operators by name in conditions. */
export const operators: ReadonlyMap<string, Operator> = new Map(named.map((row) => [row.name, row]))

/** The operators by name in queries. */
export const filterOperators: ReadonlyMap<string, Operator> = new Map(
  operands.flatMap((operand) => named.filter((row) => row.operand === operand)).map((row) => [row.query, row]),
)

/** A value without an operator. */
export const equality: Pick<Operator, 'name' | 'operand' | 'day'> = { name: 'eq', operand: 'value', day: 'whole' }

/** The comparisons with one value, by name. */
export const comparisons: Readonly<Record<Comparison, Comparing>> = {
  eq: { holds: (value, other) => value === other, index: 'field' },
  ...rows,
}

/** The operators for some fields, for a sentence: `gt, gte, lt or lte`. */
export function listOperators(fits: Operator['fits'], spelling: 'name' | 'query', conjunction?: 'and'): string {
  const names = named.flatMap((row) => (row.fits === fits ? [row[spelling]] : []))
  return oneOf(names, conjunction)
}
