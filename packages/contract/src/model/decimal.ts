/**
 * Exact decimals: arithmetic on the digits of numbers, and fields of type `decimal`. No value passes through a binary
 * fraction.
 */
import { type Issue, issue } from '../spec/faults.ts'
import { escapeStep } from './place.ts'

/** A decimal value: `0.<digits> × 10^exponent`, digits without zeros at either end. Zero has no digits, and no sign. */
export interface Decimal {
  readonly negative: boolean
  readonly digits: string
  readonly exponent: number
}

/** The most digits of a decimal field, and how many of them are after the decimal point. */
export interface DecimalForm {
  readonly precision: number
  readonly scale: number
}

/** The most digits of a decimal field, as in the DECIMAL columns of most databases. */
export const mostDigits = 38

/**
 * Reads a number as RFC 8259 section 6 writes it. The work depends on the length of the text only, not on its exponent.
 *
 * @param literal a JSON number, or JavaScript's text of a finite number
 */
export function decimalOf(literal: string): Decimal {
  const negative = literal.startsWith('-')
  const start = negative ? 1 : 0
  const mark = literal.search(/[eE]/)
  const mantissa = mark === -1 ? literal.slice(start) : literal.slice(start, mark)
  const point = mantissa.indexOf('.')
  const digits = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1)
  let first = 0
  let last = digits.length
  while (first < last && digits[first] === '0') first++
  while (last > first && digits[last - 1] === '0') last--
  if (first === last) return zero
  const shift = (point === -1 ? mantissa.length : point) - first
  const exponent = shift + (mark === -1 ? 0 : Number(literal.slice(mark + 1)))
  return { negative, digits: digits.slice(first, last), exponent }
}

const zero: Decimal = { negative: false, digits: '', exponent: 0 }

/**
 * Whether a number is a multiple of another one, by their decimal digits: 19.99 is a multiple of 0.01.
 *
 * @param step not zero
 */
export function isMultipleOf(value: number | Decimal, step: number | Decimal): boolean {
  if (typeof value === 'number' && typeof step === 'number') {
    if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return value % step === 0
    if (!Number.isFinite(value)) return false
  }
  const whole = typeof value === 'number' ? decimalOf(String(value)) : value
  const part = typeof step === 'number' ? decimalOf(String(step)) : step
  if (whole.digits === '') return true
  // Both are integers times a power of ten, and neither integer ends with a zero.
  const power = whole.exponent - whole.digits.length - (part.exponent - part.digits.length)
  if (power < 0) return false
  const divisor = BigInt(part.digits)
  // An integer of n digits has fewer than 4n factors of two or five: more zeros change nothing.
  return (BigInt(whole.digits) * 10n ** BigInt(Math.min(power, 4 * part.digits.length))) % divisor === 0n
}

// A JSON number without an exponent: its integer part has one spelling.
const plain = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/**
 * Reads a decimal as clients send it: a text of digits (`"19.99"`), or a number.
 *
 * @returns `undefined`: the value is neither
 */
export function readDecimal(value: unknown): Decimal | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? decimalOf(String(value)) : undefined
  return typeof value === 'string' && plain.test(value) ? decimalOf(value) : undefined
}

/** The number of written digits after the decimal point: `"19.90"` has two, the number 19.9 has one. */
export function decimalsIn(value: string | number, { digits, exponent }: Decimal): number {
  if (typeof value === 'number') return Math.max(0, digits.length - exponent)
  const point = value.indexOf('.')
  return point === -1 ? 0 : value.length - point - 1
}

/**
 * The text of a value in a decimal field: exactly `scale` digits after the decimal point, no leading zeros, no negative
 * zero. `undefined`: the value has too many digits.
 */
export function decimalText(value: Decimal, { precision, scale }: DecimalForm): string | undefined {
  const { negative, digits, exponent } = value
  if (exponent > precision - scale || digits.length - exponent > scale) return undefined
  const padded = exponent > 0 ? digits.padEnd(exponent, '0') : '0'.repeat(-exponent) + digits
  const whole = padded.slice(0, Math.max(0, exponent))
  const fraction = padded.slice(Math.max(0, exponent)).padEnd(scale, '0')
  return `${negative ? '-' : ''}${whole === '' ? '0' : whole}${scale === 0 ? '' : `.${fraction}`}`
}

// Two digits of the key count the digits before the decimal point.
const mostBeforePoint = 99
// Far more than the smallest number of JavaScript has, and few enough to be written.
const mostAfterPoint = 20_000

/**
 * The comparison key of a decimal: texts that sort, by code units, like the numbers, for any precision. It is `1`, the
 * number of digits before the decimal point, and the digits. For negative numbers it is `0`, the same with each digit
 * subtracted from 9, and a character that sorts after digits. `undefined`: more than 99 digits before the decimal
 * point, or 20,000 after it.
 */
export function decimalKey({ negative, digits, exponent }: Decimal): string | undefined {
  if (exponent > mostBeforePoint || digits.length - exponent > mostAfterPoint) return undefined
  const before = Math.max(0, exponent)
  const whole = exponent > 0 ? digits.padEnd(exponent, '0') : '0'.repeat(-exponent) + digits
  const key = String(before).padStart(2, '0') + whole
  return negative ? `0${complement(key)}~` : `1${key}`
}

/** The decimal of a comparison key. */
export function decimalOfKey(key: string): Decimal {
  const negative = key.startsWith('0')
  const text = negative ? complement(key.slice(1, -1)) : key.slice(1)
  const before = Number(text.slice(0, 2))
  return decimalOf(`${negative ? '-' : ''}${text.slice(2, 2 + before) || '0'}.${text.slice(2 + before) || '0'}`)
}

function complement(digits: string): string {
  return digits.replaceAll(/\d/g, (digit) => String(9 - Number(digit)))
}

/** The comparison key of a value from a client or a condition: a text of digits, or a number. */
export function decimalKeyOf(value: unknown): string | undefined {
  const read = readDecimal(value)
  return read && decimalKey(read)
}

type Schema = Readonly<Record<string, unknown>>

/** The bounds of a decimal field, with their tests. */
const bounds = {
  minimum: (order: number) => order >= 0,
  exclusiveMinimum: (order: number) => order > 0,
  maximum: (order: number) => order <= 0,
  exclusiveMaximum: (order: number) => order < 0,
} as const

/** The keywords with one decimal, and those with a list of decimals. */
export const decimalWords = [...Object.keys(bounds), 'multipleOf', 'const', 'default'] as const
export const decimalLists = ['enum', 'examples'] as const

/** The precision and scale of a decimal field, unchecked. */
export function decimalFormOf({ type, precision, scale }: Schema): DecimalForm | undefined {
  return type === 'decimal' ? { precision: Number(precision), scale: Number(scale) } : undefined
}

/**
 * The JSON Schema of a decimal field in responses: a text of digits. It keeps the bounds, which apply to the numbers
 * that requests may send (`documents/openapi/schemas.ts`).
 */
export function decimalSchema({ precision: _, scale: __, ...declared }: Schema, form: DecimalForm): Schema {
  const text = (value: unknown) => writtenBy(form, value)
  const schema: Record<string, unknown> = { ...declared, type: 'string', format: 'decimal', pattern: patternOf(form) }
  for (const word of ['const', 'default']) if (word in schema) schema[word] = text(schema[word])
  for (const word of decimalLists) if (Array.isArray(schema[word])) schema[word] = schema[word].map(text)
  return schema
}

/** The pattern of a decimal field's texts. `sent`: in requests, where trailing zeros may be missing. */
export function patternOf({ precision, scale }: DecimalForm, sent = false): string {
  const before = precision - scale
  const whole = before === 0 ? '0' : before === 1 ? '\\d' : `(?:0|[1-9]\\d{0,${before - 1}})`
  if (scale === 0) return `^-?${whole}$`
  return sent ? `^-?${whole}(?:\\.\\d{1,${scale}})?$` : `^-?${whole}\\.\\d{${scale}}$`
}

/** A value in the spelling of a form; a value that does not fit the form is unchanged. */
function writtenBy(form: DecimalForm, value: unknown): unknown {
  const read = readDecimal(value)
  if (read === undefined || decimalsIn(value as string | number, read) > form.scale) return value
  return decimalText(read, form) ?? value
}

/** A value of a field in its stored spelling: only decimals have several spellings. */
export function canonicalValue({ decimal }: { readonly decimal: DecimalForm | undefined }, value: unknown): unknown {
  return decimal === undefined ? value : writtenBy(decimal, value)
}

/** Compares two decimals: negative, zero or positive. */
function compareDecimals(left: Decimal, right: Decimal): number {
  const [one, other] = [decimalKey(left) ?? '', decimalKey(right) ?? '']
  return one === other ? 0 : one < other ? -1 : 1
}

/**
 * Compiles a decimal field to a function that finds all issues of a value.
 *
 * @param schema as declared, without mistakes
 */
export function compileDecimal(name: string, schema: Schema): (value: unknown) => Issue[] {
  const form = decimalFormOf(schema) as DecimalForm
  const pointer = `/${escapeStep(name)}`
  const limits = (Object.keys(bounds) as (keyof typeof bounds)[]).flatMap((word) => {
    const limit = readDecimal(schema[word])
    return limit === undefined ? [] : [{ word, limit, shown: String(writtenBy(form, schema[word])) }]
  })
  const step = readDecimal(schema['multipleOf'])
  const listed = 'const' in schema ? [schema['const']] : (schema['enum'] as readonly unknown[] | undefined)
  const allowed = listed?.map((value) => String(writtenBy(form, value)))
  return (value) => {
    const read = readDecimal(value)
    if (read === undefined) {
      const isType = typeof value === 'string' || typeof value === 'number'
      return [issue('decimal', isType ? { pointer } : { code: 'INVALID_TYPE', pointer })]
    }
    const issues: Issue[] = []
    const { precision, scale } = form
    if (decimalsIn(value as string | number, read) > scale) issues.push(issue('scale', { pointer, limit: scale }))
    if (read.exponent > precision - scale) {
      const code = read.negative ? 'TOO_SMALL' : 'TOO_LARGE'
      issues.push(issue('wholeDigits', { code, pointer, limit: precision - scale }))
    }
    if (issues.length > 0) return issues
    for (const { word, limit, shown } of limits) {
      if (!bounds[word](compareDecimals(read, limit))) issues.push(issue(word, { pointer, limit: shown }))
    }
    if (step !== undefined && !isMultipleOf(read, step)) {
      issues.push(issue('multipleOf', { pointer, limit: String(schema['multipleOf']) }))
    }
    if (allowed !== undefined && !allowed.includes(decimalText(read, form) ?? '')) {
      issues.push(issue('enum', { pointer, allowed }))
    }
    return issues
  }
}
