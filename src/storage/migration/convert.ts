/** What becomes of a stored value when its field is declared with another type. */
import { type DecimalForm, decimalKeyOf, decimalText, readDecimal } from '../../model/decimal.ts'
import { decimalFormIn, type Held } from '../sql/table-spec.ts'

/**
 * Converts a value to another type where that is exact; `undefined` where it would not be.
 *
 * @param value what JSON has for it, never `null`; integers beyond 2^53 as `bigint`
 * @param from what it is; left out: what its type in JavaScript says
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

/** The number that a decimal is, where a double has its digits. */
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
  // A text is a number where the number's own text is the same: not "1.50", not " 7", not "1e400".
  if (typeof value !== 'string') return undefined
  const number = Number(value)
  return Number.isFinite(number) && String(number) === value ? number : undefined
}

/** Whether every value of one type is a value of another: nobody who reads it can tell that the type has changed. */
export function isWider(from: Held, to: Held): boolean {
  if (to === 'json' || (from === 'integer' && to === 'number')) return true
  const [before, after] = [decimalFormIn(from), decimalFormIn(to)]
  return before !== undefined && after?.scale === before.scale && after.precision >= before.precision
}
