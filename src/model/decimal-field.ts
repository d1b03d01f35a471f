/** Fields of type `decimal`: what may be declared of them, which values fit, and what clients see of them. */
import type { Issue } from '../spec/faults.ts'
import {
  type Decimal,
  type DecimalForm,
  decimalKey,
  decimalsIn,
  decimalText,
  isMultipleOf,
  readDecimal,
} from './decimal.ts'
import { escapeStep } from './pointer.ts'

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
 * The JSON Schema of a decimal field as it is answered: a text of digits. Bounds stay in it: on texts they say nothing, beside the
 * numbers that a body may hold they do (`documents/openapi/schemas.ts`).
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
