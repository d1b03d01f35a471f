/**
 * Exact decimals: arithmetic on the digits of numbers, and fields of type `decimal`. No value passes through a binary
 * fraction.
 */
import type { Issue } from '../spec/faults.ts'
import { escapeStep } from './place.ts'

/** A decimal value: `0.<digits> × 10^exponent`, digits without zeros at either end. Zero has no digits, and no sign. */
export interface Decimal {
  readonly negative: boolean
  readonly digits: string
  readonly exponent: number
}

/** How many digits a decimal field has at most, and how many of them stand after the point. */
export interface DecimalForm {
  readonly precision: number
  readonly scale: number
}

/** The most digits of a decimal field: what DECIMAL columns of most databases and exchange formats hold. */
export const mostDigits = 38

/**
 * Reads a number as RFC 8259 section 6 writes it. The work is bounded by the length of the text, whatever its exponent.
 *
 * @param literal a JSON number, or the text that JavaScript has for a finite number
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
 * Whether a number is a multiple of another one, decided on their decimal digits: 19.99 is a multiple of 0.01.
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
  // Both as integers times a power of ten: neither integer ends with a zero.
  const power = whole.exponent - whole.digits.length - (part.exponent - part.digits.length)
  if (power < 0) return false
  const divisor = BigInt(part.digits)
  // An integer of n digits has fewer than 4n factors of two or five: further zeros of the value change nothing.
  return (BigInt(whole.digits) * 10n ** BigInt(Math.min(power, 4 * part.digits.length))) % divisor === 0n
}

// As JSON writes numbers, without an exponent: one spelling of the digits before the point.
const plain = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/**
 * Reads a decimal as clients send it: a text of digits (`"19.99"`), or a number.
 *
 * @returns `undefined` where the value is neither
 */
export function readDecimal(value: unknown): Decimal | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? decimalOf(String(value)) : undefined
  return typeof value === 'string' && plain.test(value) ? decimalOf(value) : undefined
}

/** How many digits stand after the point of a decimal as it is written: `"19.90"` has two, the number 19.9 has one. */
export function decimalsIn(value: string | number, { digits, exponent }: Decimal): number {
  if (typeof value === 'number') return Math.max(0, digits.length - exponent)
  const point = value.indexOf('.')
  return point === -1 ? 0 : value.length - point - 1
}

/**
 * The one text that a decimal field has for a value: exactly `scale` digits after the point, no needless zero before
 * it, no minus before zero. `undefined` where the value has more digits than the form.
 */
export function decimalText(value: Decimal, { precision, scale }: DecimalForm): string | undefined {
  const { negative, digits, exponent } = value
  if (exponent > precision - scale || digits.length - exponent > scale) return undefined
  const padded = exponent > 0 ? digits.padEnd(exponent, '0') : '0'.repeat(-exponent) + digits
  const whole = padded.slice(0, Math.max(0, exponent))
  const fraction = padded.slice(Math.max(0, exponent)).padEnd(scale, '0')
  return `${negative ? '-' : ''}${whole === '' ? '0' : whole}${scale === 0 ? '' : `.${fraction}`}`
}

// Two digits say how many stand before the point.
const mostBeforePoint = 99

/**
 * The comparison key of a decimal: a text whose order, by code units, is the order of numbers, whatever their
 * precision. `1`, how many digits stand before the point, then the digits; for negative numbers `0`, the same with each
 * digit taken from 9, and a character that sorts after digits. `undefined` where more than 99 digits stand before the
 * point.
 */
export function decimalKey({ negative, digits, exponent }: Decimal): string | undefined {
  if (exponent > mostBeforePoint || exponent - digits.length < -mostBeforePoint) return undefined
  const before = Math.max(0, exponent)
  const whole = exponent > 0 ? digits.padEnd(exponent, '0') : '0'.repeat(-exponent) + digits
  const key = String(before).padStart(2, '0') + whole
  return negative ? `0${complement(key)}~` : `1${key}`
}

/** The decimal that has a comparison key. */
export function decimalOfKey(key: string): Decimal {
  const negative = key.startsWith('0')
  const text = negative ? complement(key.slice(1, -1)) : key.slice(1)
  const before = Number(text.slice(0, 2))
  return decimalOf(`${negative ? '-' : ''}${text.slice(2, 2 + before) || '0'}.${text.slice(2 + before) || '0'}`)
}

function complement(digits: string): string {
  return digits.replaceAll(/\d/g, (digit) => String(9 - Number(digit)))
}

/** The comparison key of what a client or a condition sent: a text of digits, or a number. */
export function decimalKeyOf(value: unknown): string | undefined {
  const read = readDecimal(value)
  return read && decimalKey(read)
}

type Schema = Readonly<Record<string, unknown>>

/** The bounds of a decimal field, each a text of digits or a number, with its words and whether a value keeps to it. */
const bounds = {
  minimum: { code: 'TOO_SMALL', words: 'at least', keeps: (order: number) => order >= 0 },
  exclusiveMinimum: { code: 'TOO_SMALL', words: 'greater than', keeps: (order: number) => order > 0 },
  maximum: { code: 'TOO_LARGE', words: 'at most', keeps: (order: number) => order <= 0 },
  exclusiveMaximum: { code: 'TOO_LARGE', words: 'less than', keeps: (order: number) => order < 0 },
} as const

/** The keywords that take one decimal, and those that take a list of them. */
export const decimalWords = [...Object.keys(bounds), 'multipleOf', 'const', 'default'] as const
export const decimalLists = ['enum', 'examples'] as const

/** The form of a decimal field. What is wrong with it is for the check of the declaration to say. */
export function decimalFormOf({ type, precision, scale }: Schema): DecimalForm | undefined {
  return type === 'decimal' ? { precision: Number(precision), scale: Number(scale) } : undefined
}

/**
 * The JSON Schema of a decimal field as it is answered: a text of digits. Bounds stay in it: on texts they say nothing,
 * beside the numbers that a body may hold they do (`documents/openapi/schemas.ts`).
 */
export function decimalSchema({ precision: _, scale: __, ...declared }: Schema, form: DecimalForm): Schema {
  const text = (value: unknown) => writtenBy(form, value)
  const schema: Record<string, unknown> = { ...declared, type: 'string', format: 'decimal', pattern: patternOf(form) }
  for (const word of ['const', 'default']) if (word in schema) schema[word] = text(schema[word])
  for (const word of decimalLists) if (Array.isArray(schema[word])) schema[word] = schema[word].map(text)
  return schema
}

/** What the texts of a decimal field look like. `sent`: in a body, where zeros at the end may be left out. */
export function patternOf({ precision, scale }: DecimalForm, sent = false): string {
  const before = precision - scale
  const whole = before === 0 ? '0' : before === 1 ? '\\d' : `(?:0|[1-9]\\d{0,${before - 1}})`
  if (scale === 0) return `^-?${whole}$`
  return sent ? `^-?${whole}(?:\\.\\d{1,${scale}})?$` : `^-?${whole}\\.\\d{${scale}}$`
}

/** A value as a field of that form writes it; what does not fit the form stays as it is. */
function writtenBy(form: DecimalForm, value: unknown): unknown {
  const read = readDecimal(value)
  if (read === undefined || decimalsIn(value as string | number, read) > form.scale) return value
  return decimalText(read, form) ?? value
}

/** A value of a field in the one form in which it is stored and answered: only decimals have several. */
export function canonicalValue({ decimal }: { readonly decimal: DecimalForm | undefined }, value: unknown): unknown {
  return decimal === undefined ? value : writtenBy(decimal, value)
}

/** Which of two decimals is larger: below 0 the second one. */
function compareDecimals(left: Decimal, right: Decimal): number {
  const [one, other] = [decimalKey(left) ?? '', decimalKey(right) ?? '']
  return one === other ? 0 : one < other ? -1 : 1
}

/**
 * Compiles a decimal field: every issue of a value, with the pointer of the field.
 *
 * @param schema as declared, sound
 */
export function compileDecimal(name: string, schema: Schema): (value: unknown) => Issue[] {
  const form = decimalFormOf(schema) as DecimalForm
  const pointer = `/${escapeStep(name)}`
  const limits = Object.entries(bounds).flatMap(([word, bound]) => {
    const limit = readDecimal(schema[word])
    return limit === undefined ? [] : [{ ...bound, limit, shown: String(writtenBy(form, schema[word])) }]
  })
  const step = readDecimal(schema['multipleOf'])
  const listed = 'const' in schema ? [schema['const']] : (schema['enum'] as readonly unknown[] | undefined)
  const allowed = listed?.map((value) => String(writtenBy(form, value)))
  return (value) => {
    const read = readDecimal(value)
    if (read === undefined) {
      const wrongType = typeof value !== 'string' && typeof value !== 'number'
      const code = wrongType ? 'INVALID_TYPE' : 'INVALID_FORMAT'
      return [{ code, message: 'must be a decimal: a string of digits such as "19.99", or a number', pointer }]
    }
    const issues: Issue[] = []
    const report = (code: Issue['code'], message: string) => void issues.push({ code, message, pointer })
    if (decimalsIn(value as string | number, read) > form.scale) {
      report('TOO_PRECISE', `must have at most ${form.scale} digits after the decimal point`)
    }
    if (read.exponent > form.precision - form.scale) {
      const most = `must have at most ${form.precision - form.scale} digits before the decimal point`
      report(read.negative ? 'TOO_SMALL' : 'TOO_LARGE', most)
    }
    if (issues.length > 0) return issues
    for (const { code, words, keeps, limit, shown } of limits) {
      if (!keeps(compareDecimals(read, limit))) report(code, `must be ${words} ${shown}`)
    }
    if (step !== undefined && !isMultipleOf(read, step)) {
      report('INVALID_VALUE', `must be a multiple of ${schema['multipleOf']}`)
    }
    if (allowed !== undefined && !allowed.includes(decimalText(read, form) ?? '')) {
      report('NOT_IN_ENUM', `must be ${allowed.length === 1 ? '' : 'one of '}${allowed.join(', ')}`)
    }
    return issues
  }
}
