/** Converts stored values to the type that a field is declared with now. */
import { type DecimalForm, decimalKeyOf, decimalText, readDecimal } from 'resourced-contract/model/decimal'
import type { Dialect } from '../sql/dialect.ts'
import type { Held } from '../sql/tables.ts'

/** A stored value as an engine gives it to JavaScript: PostgreSQL as its text, SQLite as its own type. */
export type Stored = string | number | bigint

/** A stored value as JSON has it. Integers beyond 2^53 become `bigint`, so that no digit is lost. */
export function readStored(stored: Stored, holds: Held): unknown {
  switch (holds) {
    case 'integer':
      return Number.isSafeInteger(Number(stored)) ? Number(stored) : BigInt(stored)
    case 'number':
      return Number(stored)
    case 'boolean':
      return stored === 'true' || (typeof stored !== 'string' && Number(stored) !== 0)
    case 'array':
    case 'object':
    case 'json':
      return JSON.parse(String(stored))
    default:
      // Strings, and decimals: the text that they have in JSON.
      return stored
  }
}

/** A value as an engine stores it. */
export function writeStored(value: unknown, holds: Held, { store }: Pick<Dialect, 'store'>): Stored | null {
  return store(value, holds) as Stored | null
}

/** Converts a stored value to another type; `null` where that is not exact. */
export function convertStored(stored: Stored, from: Held, to: Held, dialect: Pick<Dialect, 'store'>): Stored | null {
  const converted = convertValue(readStored(stored, from), to, from)
  if (converted === undefined) return null
  // JSON text stays as it is: printing it again could change how its numbers are written.
  return isJson(from) && isJson(to) ? stored : writeStored(converted, to, dialect)
}

function isJson(holds: Held): boolean {
  return holds === 'array' || holds === 'object' || holds === 'json'
}

/**
 * Converts a value to another type where that is exact; `undefined` where it would not be.
 *
 * @param value as JSON has it, never `null`; integers beyond 2^53 as `bigint`
 * @param from what it holds; left out: what its type in JavaScript says
 */
export function convertValue(value: unknown, to: Held, from?: Held): unknown {
  const form = decimalFormIn(to)
  if (form !== undefined) return toDecimal(value, form)
  const isDecimal = from !== undefined && decimalFormIn(from) !== undefined
  if (isDecimal && (to === 'integer' || to === 'number')) return fromDecimal(String(value), to)
  switch (to) {
    case 'json':
      // JSON numbers beyond 2^53 would be read back changed.
      return typeof value === 'bigint' ? undefined : value
    case 'array':
      return Array.isArray(value) ? value : undefined
    case 'object':
      return typeof value === 'object' && !Array.isArray(value) ? value : undefined
    case 'string':
      return typeof value === 'object' ? undefined : String(value)
    case 'boolean':
      return toBoolean(value)
    case 'integer':
      return toInteger(value)
    case 'number':
      return toNumber(value)
  }
}

function toDecimal(value: unknown, form: DecimalForm): string | undefined {
  const read = readDecimal(typeof value === 'bigint' ? String(value) : value)
  return read && decimalText(read, form)
}

/** The number of a decimal, where a double can represent all of its digits. */
function fromDecimal(text: string, to: 'integer' | 'number'): number | undefined {
  const number = Number(text) + 0
  if (decimalKeyOf(number) !== decimalKeyOf(text)) return undefined
  return to === 'number' || Number.isSafeInteger(number) ? number : undefined
}

function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (value === 1 || value === 'true') return true
  return value === 0 || value === 'false' ? false : undefined
}

function toInteger(value: unknown): number | bigint | undefined {
  if (typeof value === 'bigint') return value
  const number = toNumber(value)
  return Number.isSafeInteger(number) ? number : undefined
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : undefined
  // A text converts if it is how JavaScript prints the number: not "1.50", not " 7", not "1e400".
  if (typeof value !== 'string') return undefined
  const number = Number(value)
  return Number.isFinite(number) && String(number) === value ? number : undefined
}

/** Whether every value of one type is a value of another, so that no reader notices the change. */
export function isWider(from: Held, to: Held): boolean {
  if (to === 'json' || (from === 'integer' && to === 'number')) return true
  const [before, after] = [decimalFormIn(from), decimalFormIn(to)]
  return before !== undefined && after?.scale === before.scale && after.precision >= before.precision
}

/** The precision and scale of the decimals in a column; `undefined` where its values are no decimals. */
function decimalFormIn(holds: Held): DecimalForm | undefined {
  const [, precision, scale] = /^decimal\((\d+),(\d+)\)$/.exec(holds) ?? []
  return precision === undefined ? undefined : { precision: Number(precision), scale: Number(scale) }
}
