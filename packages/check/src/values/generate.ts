/** Generates values for JSON Schemas: valid ones, other valid ones, unique ones, and invalid ones. */
import type { Ajv } from 'ajv'
import { isObject, isSame, type JsonObject } from './json.ts'
import { countMatching, matches, textMatching } from './pattern.ts'
import { randomInt, randomText, randomUuid } from './random.ts'

/**
 * A schema without references. `x-seen` has values that all records have in turn: probably no others are admitted.
 * `x-unmarked` says that the server refuses texts with the checker's mark, `x-populated` that it shows the whole record
 * to which a member refers, and `x-path` that it shows the path of that record.
 */
export type Schema = JsonObject

export interface Unmade {
  readonly unmade: string
}

export function isUnmade(value: unknown): value is Unmade {
  return isObject(value) && Object.keys(value).join() === 'unmade'
}

/** The deepest level of nested objects and arrays that is generated. */
const deepest = 6

/**
 * A valid value.
 *
 * @param name the member that will hold it: a text for `email` is an address, also if the schema does not say so
 * @param turn 0 for a value that the schema shows (an example, a default), 1 and more for other values
 */
export function generate(schema: Schema, name: string, turn = 0, depth = 0): unknown {
  if ('const' in schema) return schema['const']
  const choices = listOf(schema['enum'] ?? schema['x-seen']).filter((each) => each !== null)
  if (choices.length > 0) return choices[turn % choices.length]
  const type = typeOf(schema)
  if (turn === 0) {
    const shown = [...listOf(schema['examples']), schema['example'], schema['default'], schema['x-default']]
    const fitting = shown.find((each) => each !== undefined && each !== null && isOfType(each, type))
    if (fitting !== undefined) return fitting
  }
  switch (type) {
    case 'integer':
    case 'number':
      return numberFor(schema, name, turn)
    case 'boolean':
      return turn % 2 === 1
    case 'array':
      return arrayFor(schema, name, turn, depth)
    case 'object':
      return objectFor(schema, turn, depth)
    default:
      return textFor(schema, name, turn)
  }
}

/** A valid value that differs from a given one; `undefined` if none was found. */
export function otherValue(value: unknown, schema: Schema, name: string): unknown {
  for (let turn = 1; turn < 6; turn++) {
    const other = generate(schema, name, turn)
    if (!isUnmade(other) && !isSame(other, value)) return other
  }
  return undefined
}

/** An invalid value; `undefined` if none is known. */
export function invalidValue(schema: Schema): unknown {
  if (listOf(schema['enum']).some((each) => typeof each === 'string')) return 'none of those that are admitted'
  switch (typeOf(schema)) {
    case 'integer':
    case 'number':
      return 'no number'
    case 'boolean':
      return 'neither true nor false'
    case 'array':
      return 'no array'
    case 'object':
      return 'no object'
    case 'string':
      if (schema['format'] === 'email') return 'no address'
      if (/^(?:date|date-time|uuid)$/.test(String(schema['format']))) return `no ${schema['format']}`
      return { no: 'text' }
  }
  return undefined
}

/** A value of the right type that breaks a constraint; `undefined` if the schema has none that is known. */
export function brokenValue(schema: Schema): unknown {
  const { minimum, maximum, minLength, maxLength, pattern, format, enum: choices } = schema
  // Enumerations, dates and UUIDs are types of their own in many languages.
  if (Array.isArray(choices) || (format !== undefined && format !== 'email')) return undefined
  if (typeof minimum === 'number') return minimum - 1
  if (typeof maximum === 'number') return maximum + 1
  if (typeOf(schema) !== 'string') return undefined
  const text = 'none of those that are admitted'
  if (format === 'email') return text
  if (typeof pattern === 'string' && !matches(text, pattern)) return text
  if (typeof minLength === 'number' && minLength > 0) return ''
  return typeof maxLength === 'number' && maxLength <= 2_000 ? 'x'.repeat(maxLength + 1) : undefined
}

/** The type that a schema demands; `undefined` if it admits any. */
export function typeOf(schema: Schema): string | undefined {
  const [type] = listOf(schema['type']).filter((each) => each !== 'null')
  if (typeof type === 'string') return type
  if ('properties' in schema) return 'object'
  if ('items' in schema) return 'array'
  if ('minimum' in schema || 'maximum' in schema) return 'number'
  return 'pattern' in schema || 'format' in schema || 'minLength' in schema ? 'string' : undefined
}

/** The values of a keyword that may have one value or several. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}

/** A schema that fits a value: its types, and the formats of its texts. */
export function schemaOf(value: unknown): Schema {
  if (value === null || value === undefined) return {}
  if (Array.isArray(value)) return { type: 'array', items: value.length > 0 ? schemaOf(value[0]) : {} }
  if (isObject(value)) {
    const properties = Object.entries(value).map(([name, each]) => [name, schemaOf(each)])
    return { type: 'object', properties: Object.fromEntries(properties) }
  }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' }
  if (typeof value !== 'string') return { type: typeof value }
  const formats = {
    uuid: /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i,
    'date-time': /^\d{4}-\d\d-\d\dT/,
    date: /^\d{4}-\d\d-\d\d$/,
    email: /^[^\s@]+@[^\s@]+\.\w+$/,
  }
  const format = Object.entries(formats).find(([, pattern]) => pattern.test(value))?.[0]
  return { type: 'string', ...(format && { format }) }
}

function isOfType(value: unknown, type: string | undefined): boolean {
  if (type === undefined) return true
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type && !Array.isArray(value)
}

function numberFor(schema: Schema, name: string, turn: number): number {
  const of = (key: string) => (typeof schema[key] === 'number' ? (schema[key] as number) : undefined)
  const step = of('multipleOf') || (typeOf(schema) === 'integer' ? 1 : undefined)
  // In OpenAPI 3.0 the exclusive bounds are flags.
  const above = of('exclusiveMinimum') ?? (schema['exclusiveMinimum'] === true ? of('minimum') : undefined)
  const below = of('exclusiveMaximum') ?? (schema['exclusiveMaximum'] === true ? of('maximum') : undefined)
  const usual = /year/i.test(name) ? 2020 : 1
  const most = Math.min(of('maximum') ?? Number.POSITIVE_INFINITY, below ?? Number.POSITIVE_INFINITY)
  const least = Math.max(of('minimum') ?? above ?? Math.min(usual, most), above ?? Number.NEGATIVE_INFINITY)
  // Between two close bounds only fractions are valid.
  const next = step ?? (most - least <= 1 ? (most - least) / 8 : 1)
  const isOpen = above !== undefined && least <= above
  const first = step === undefined ? least + (isOpen ? next : 0) : times(Math.floor(least / step) + 1, step)
  const start = step !== undefined && !isOpen && isMultiple(least, step) ? least : first
  const value = step === undefined ? start + turn * next : times(Math.round(start / step) + turn, step)
  return value > most || value === below ? start : value
}

function arrayFor(schema: Schema, name: string, turn: number, depth: number): unknown {
  if (depth >= deepest) return []
  const length = Math.max(Number(schema['minItems'] ?? 0), turn > 0 && schema['maxItems'] !== 0 ? 1 : 0)
  const items = Array.from({ length: Math.min(length, 20) }, (_, index) =>
    generate((schema['items'] ?? {}) as Schema, name, turn + (schema['uniqueItems'] === true ? index : 0), depth + 1),
  )
  return items.find(isUnmade) ?? items
}

function objectFor(schema: Schema, turn: number, depth: number): unknown {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>
  if (Object.keys(properties).length === 0 && schema['additionalProperties'] !== false) {
    return { one: 1 + turn, two: 2 + turn }
  }
  const required = listOf(schema['required'])
  const wanted = new Set(required.length > 0 || depth > 2 ? required : Object.keys(properties))
  const made = Object.entries(properties)
    .filter(([name, each]) => wanted.has(name) && each['readOnly'] !== true)
    .map(([name, each]) => [name, depth >= deepest ? null : generate(each, name, turn, depth + 1)] as const)
  return made.map(([, value]) => value).find(isUnmade) ?? Object.fromEntries(made)
}

const day = (turn: number) => String((turn % 28) + 1).padStart(2, '0')

const formats: Readonly<Record<string, (turn: number) => string>> = {
  'date-time': (turn) => `2026-01-${day(turn)}T12:00:00Z`,
  date: (turn) => `2026-01-${day(turn)}`,
  time: (turn) => `12:${day(turn)}:00Z`,
  duration: (turn) => `P${turn + 1}D`,
  email: (turn) => `someone${turn || ''}@example.org`,
  'idn-email': (turn) => `someone${turn || ''}@example.org`,
  uuid: () => randomUuid(),
  uri: (turn) => `https://example.org/${turn || ''}`,
  url: (turn) => `https://example.org/${turn || ''}`,
  'uri-reference': (turn) => `/example/${turn || ''}`,
  iri: (turn) => `https://example.org/${turn || ''}`,
  hostname: (turn) => `host${turn || ''}.example.org`,
  ipv4: (turn) => `192.0.2.${turn + 1}`,
  ipv6: (turn) => `2001:db8::${turn + 1}`,
  byte: (turn) => Buffer.from(`some bytes ${turn}`).toString('base64'),
  password: (turn) => `Correct-Horse-${turn + 7}-Battery`,
  phone: (turn) => `+1202555010${turn}`,
  color: (turn) => `#12345${turn}`,
}

/** Formats by the name of a member, for schemas without one. */
const formatsByName: readonly (readonly [name: RegExp, format: string])[] = [
  [/e-?mail$/i, 'email'],
  [/(?:^|_)(?:url|uri|website|homepage|link)$|Url$|Uri$/i, 'uri'],
  [/(?:_at|_time|At|timestamp)$/, 'date-time'],
  [/(?:_on|_date|Date|^date|birthday)$/, 'date'],
  [/(?:uuid|guid)$/i, 'uuid'],
  [/phone|mobile/i, 'phone'],
  [/^password$/i, 'password'],
  [/^colou?r$/i, 'color'],
]

function textFor(schema: Schema, name: string, turn: number): unknown {
  const least = Number(schema['minLength'] ?? 0)
  const most = Number(schema['maxLength'] ?? 10_000)
  const { pattern, format } = schema
  const decimal = format === 'decimal' ? decimalFor(schema, name, turn) : undefined
  if (decimal !== undefined) return decimal
  if (typeof pattern === 'string') {
    const { pattern: _, ...free } = schema
    const usual = textFor(free, name, turn)
    if (typeof usual === 'string' && matches(usual, pattern)) return usual
    return textMatching(pattern, { least, most }) ?? { unmade: `no text matches the pattern ${pattern}` }
  }
  // Some libraries write their own names: naive-date, naive-date-time.
  const named =
    typeof format === 'string'
      ? format.replace(/^(?:naive|local|partial)[-_]/, '').replace(/^datetime$/, 'date-time')
      : undefined
  const guessed = named ?? formatsByName.find(([each]) => each.test(name))?.[1]
  const formatted = formats[guessed ?? '']?.(turn)
  if (formatted !== undefined && formatted.length <= most) return formatted.padEnd(least, 'x')
  const words = name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  const sentence = turn === 0 ? `Some ${words}` : `Other ${words} ${turn}`
  // Such texts stand in addresses.
  const text = /(?:^|_)(?:slug|handle|permalink)$/i.test(name) ? sentence.toLowerCase().replaceAll(' ', '-') : sentence
  const fitted = text.length <= most ? text : `${turn || ''}${words}`.replaceAll(' ', '').slice(0, most)
  return fitted.padEnd(Math.min(least, 10_000), 'x')
}

const numberBounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

/** A decimal as text, within the bounds that the schema has for numbers; `undefined` if none was found. */
function decimalFor(schema: Schema, name: string, turn: number): string | undefined {
  const isBounded = numberBounds.some((bound) => bound in schema)
  const pattern = String(schema['pattern'] ?? '')
  const texts = [String(numberFor(schema, name, turn)), ...(isBounded ? [] : [textMatching(pattern) ?? ''])]
  return texts.map((text) => withAllDigits(text, schema)).find((text) => isDecimal(text, pattern))
}

/** Patterns of decimals may admit texts without digits: `^-?\\d{0,5}(?:\\.\\d{0,2})?$`. */
function isDecimal(text: string, pattern: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(text) && new RegExp(pattern, 'u').test(text)
}

/** A decimal as servers return it: with all fraction digits of its pattern, and without a sign before zero. */
function withAllDigits(text: string, { pattern }: Schema): string {
  const [, scale = '0'] = /\\\.\\d\{[01],(\d+)\}\)\?\$$/.exec(String(pattern ?? '')) ?? []
  const [before = '0', after = ''] = text.split('.')
  const digits = after.padEnd(Number(scale), '0')
  const whole = digits === '' ? before : `${before}.${digits}`
  return /^-[0.]+$/.test(whole) ? whole.slice(1) : whole
}

/**
 * A value that probably no other record has, as valid as a given one: an e-mail address stays one.
 *
 * @param turn a number that tells values of one case apart
 */
export function uniqueValue(value: unknown, turn: number, schema: Schema = {}): unknown {
  if (typeof value === 'number') return randomNumber(schema)
  const text = String(value)
  const { pattern, format, maxLength } = schema
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY
  if (format === 'decimal') return randomDecimal(schema) ?? text
  if (typeof pattern === 'string') {
    const { pattern: _, ...free } = schema
    const usual = uniqueValue(value, turn, free)
    const isUsual = typeof usual === 'string' && matches(usual, pattern)
    return isUsual ? usual : (textMatching(pattern, { most }) ?? text)
  }
  if (format === 'uuid') return randomUuid()
  if (isCode(text) && format === undefined) return randomCode(text)
  const suffix = `${turn}${randomText()}`
  const at = text.indexOf('@')
  if (at > 0) {
    const kept = Math.min(at, most - (text.length - at) - suffix.length - 1)
    return `${text.slice(0, kept)}+${suffix}${text.slice(at)}`
  }
  if (/^https?:/.test(text)) return `${text.replace(/\/$/, '')}/${suffix}`
  return text.length + suffix.length + 1 <= most
    ? `${text}-${suffix}`
    : `${text.slice(0, Math.max(0, most - suffix.length))}${suffix.slice(-most)}`
}

/** A body with other values of its unique members, so that it can create another record. */
export function withOtherUniqueValues(
  body: JsonObject,
  { unique, schemas = {} }: { readonly unique: readonly string[]; readonly schemas?: Readonly<Record<string, Schema>> },
): JsonObject {
  const values = unique.map((name) => [name, uniqueValue(body[name], 0, schemas[name])] as const)
  return { ...body, ...Object.fromEntries(values) }
}

const usualMark = 'checked-0123456789'

/** Whether a text member takes the checker's mark, alone and after other words. */
export function takesMark(schema: Schema, length = 24): boolean {
  const { format, pattern, maxLength = 99 } = schema
  const isMatching =
    typeof pattern !== 'string' || [usualMark, `Some text ${usualMark}`].every((each) => matches(each, pattern))
  const isFree = ['enum', 'x-unmarked'].every((keyword) => schema[keyword] === undefined)
  return isFree && format === undefined && isMatching && Number(maxLength) >= length
}

/** Whether a text looks like a code whose form counts, of which there are many: `9780060512750`, `AB-1234`. */
function isCode(text: string): boolean {
  const [digits, all] = [/\D/g, /[^A-Z\d]/g].map((others) => text.replaceAll(others, '').length) as [number, number]
  return /^[A-Z\d]+(?:[-._/ ][A-Z\d]+)*$/.test(text) && digits >= 4 && all >= 6
}

/** A code of the same form with other digits and letters; article numbers (EAN-13, ISBN-13) with their check digit. */
function randomCode(text: string): string {
  const isLong = text.replaceAll(/\D/g, '').length >= 8
  const digits = text.replaceAll(/\d/g, () => String(randomInt(0, 9)))
  const code = isLong ? digits : digits.replaceAll(/[A-Z]/g, () => String.fromCharCode(randomInt(65, 90)))
  if (!/^\d{13}$/.test(text) || checkDigit(text) !== text.at(-1)) return code
  const article = text.slice(0, 3) + code.slice(3)
  return article.slice(0, -1) + checkDigit(article)
}

function checkDigit(article: string): string {
  const sum = [...article.slice(0, 12)].reduce(
    (all, digit, index) => all + Number(digit) * (index % 2 === 0 ? 1 : 3),
    0,
  )
  return String((10 - (sum % 10)) % 10)
}

/** Whether a schema admits so few values that generated ones soon repeat. */
export function isNarrow({ pattern, maxLength, maximum, minimum }: Schema): boolean {
  if (typeof pattern === 'string') {
    const isFree = matches(usualMark, pattern) && Number(maxLength ?? 99) >= usualMark.length
    return !isFree && countMatching(pattern) !== Number.POSITIVE_INFINITY
  }
  if (typeof maxLength === 'number' && maxLength < 8) return true
  return typeof maximum === 'number' && maximum - Number(minimum ?? 0) < 100_000
}

/**
 * A decimal as text that matches the pattern of a schema, within the bounds for numbers; `undefined` if none was found.
 */
function randomDecimal(schema: Schema): string | undefined {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  const pattern = String(schema['pattern'] ?? '')
  for (let turn = 0; turn < 50; turn++) {
    const digits = turn % 2 === 0 ? String(randomNumber(schema)) : textMatching(pattern)
    const text = withAllDigits(digits ?? '', schema)
    const isWithin = Number(text) > Number(minimum) && Number(text) < Number(maximum)
    if (isWithin && isDecimal(text, pattern)) return text
  }
  return undefined
}

function randomNumber({ minimum, maximum, multipleOf }: Schema): number {
  const least = typeof minimum === 'number' ? Math.ceil(minimum) : 1
  // Many servers keep integers in 32 bits.
  const most = typeof maximum === 'number' ? Math.floor(maximum) : Math.max(least + 1, 2 ** 31 - 1)
  const step = typeof multipleOf === 'number' && multipleOf >= 1 ? multipleOf : 1
  const number = least >= most ? least : randomInt(least, Math.min(most, least + 2 ** 47))
  return Math.ceil(number / step) * step
}

/** A number as an integer times a power of ten, by the shortest digits that JavaScript has for it. */
function partsOf(number: number): { readonly integer: bigint; readonly power: number } {
  const [mantissa = '0', exponent = '0'] = String(number).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { integer: BigInt(whole + fraction), power: Number(exponent) - fraction.length }
}

/**
 * Whether a number is a multiple of another one, decided by their decimal digits: 19.99 is a multiple of 0.01, although
 * a binary division denies it. No number is a multiple of zero.
 */
function isMultiple(value: number, step: number): boolean {
  if (step === 0 || !Number.isFinite(value)) return false
  const [left, right] = [partsOf(value), partsOf(step)]
  const power = Math.min(left.power, right.power)
  const scaled = ({ integer, power: own }: typeof left) => integer * 10n ** BigInt(own - power)
  return scaled(left) % scaled(right) === 0n
}

/** A product without the rounding errors of binary fractions: three times 0.1 is 0.3. */
function times(count: number, step: number): number {
  if (!Number.isSafeInteger(count)) return count * step
  const { integer, power } = partsOf(step)
  return Number(`${BigInt(count) * integer}e${power}`)
}

/** Makes a validator decide `multipleOf` by decimal digits. */
export function addDecimalMultiples(ajv: Ajv): void {
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: (step: number) => (value: number) => isMultiple(value, step),
    errors: false,
  })
}
