/** Values for JSON Schemas, as far as those of interfaces are common: good ones, other good ones, and bad ones. */

import { randomUUID } from 'node:crypto'
import { isObject, isSame, type JsonObject } from './json.ts'
import { isMultiple, times } from './multiples.ts'
import { textMatching } from './pattern.ts'

/** A schema without references: see `expanded`. */
export type Schema = JsonObject

/** The value that a schema says for it cannot be made. */
export interface Unmade {
  readonly unmade: string
}

/** Whether something could not be made, and why. */
export function isUnmade(value: unknown): value is Unmade {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'unmade'
}

const deepest = 6

/**
 * A value that fits a schema.
 *
 * @param name of the member that it is for: it says what the schema may not, as `email` does
 * @param turn 0 gives what the schema itself shows (an example, a default); others give other values
 */
export function generate(schema: Schema, name: string, turn = 0, depth = 0): unknown {
  if ('const' in schema) return schema['const']
  const choices = listOf(schema['enum']).filter((each) => each !== null)
  if (choices.length > 0) return choices[turn % choices.length]
  if (turn === 0) {
    const shown = [...listOf(schema['examples']), schema['example'], schema['default']]
    const fitting = shown.find((each) => each !== undefined && each !== null && fits(each, schema))
    if (fitting !== undefined) return fitting
  }
  switch (typeOf(schema)) {
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

/** A good value that is another than this one; `undefined` where there is none. */
export function another(value: unknown, schema: Schema, name: string): unknown {
  for (let turn = 1; turn < 6; turn++) {
    const other = generate(schema, name, turn)
    if (!isUnmade(other) && !isSame(other, value)) return other
  }
  return undefined
}

/** A value that the schema does not admit; `undefined` where nobody knows one. */
export function unfit(schema: Schema): unknown {
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

/** The one type that a value is to have; `undefined` where any will do. */
export function typeOf(schema: Schema): string | undefined {
  const types = listOf(schema['type']).filter((each) => each !== 'null')
  if (typeof types[0] === 'string') return types[0]
  if ('properties' in schema) return 'object'
  if ('items' in schema) return 'array'
  if ('minimum' in schema || 'maximum' in schema) return 'number'
  return 'pattern' in schema || 'format' in schema || 'minLength' in schema ? 'string' : undefined
}

/** A list; a value alone is a list of one, and none is empty. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}

/** Whether a value is of the kind that a schema wants: its type, roughly. */
export function fits(value: unknown, schema: Schema): boolean {
  const type = typeOf(schema)
  if (type === undefined) return true
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type && !Array.isArray(value)
}

function numberFor(schema: Schema, name: string, turn: number): number {
  const of = (key: string) => (typeof schema[key] === 'number' ? (schema[key] as number) : undefined)
  const step = of('multipleOf') || (typeOf(schema) === 'integer' ? 1 : undefined)
  const above = of('exclusiveMinimum') ?? (schema['exclusiveMinimum'] === true ? of('minimum') : undefined)
  const below = of('exclusiveMaximum') ?? (schema['exclusiveMaximum'] === true ? of('maximum') : undefined)
  const usual = /year/i.test(name) ? 2020 : 1
  const most = Math.min(of('maximum') ?? Number.POSITIVE_INFINITY, below ?? Number.POSITIVE_INFINITY)
  const least = Math.max(of('minimum') ?? above ?? Math.min(usual, most), above ?? Number.NEGATIVE_INFINITY)
  // Between two bounds that are no values themselves there is room for fractions alone.
  const next = step ?? (most - least <= 1 ? (most - least) / 8 : 1)
  const isOpen = above !== undefined && least <= above
  const first = step === undefined ? least + (isOpen ? next : 0) : times(Math.floor(least / step) + 1, step)
  const start = step !== undefined && !isOpen && isMultiple(least, step) ? least : first
  const value = step === undefined ? start + turn * next : times(Math.round(start / step) + turn, step)
  return value > most || value === below ? start : value
}

function arrayFor(schema: Schema, name: string, turn: number, depth: number): unknown {
  const length = Math.max(Number(schema['minItems'] ?? 0), turn > 0 && schema['maxItems'] !== 0 ? 1 : 0)
  if (depth >= deepest) return []
  const items = Array.from({ length: Math.min(length, 20) }, (_, index) =>
    generate((schema['items'] ?? {}) as Schema, name, turn + (schema['uniqueItems'] === true ? index : 0), depth + 1),
  )
  return items.find(isUnmade) ?? items
}

function objectFor(schema: Schema, turn: number, depth: number): unknown {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>
  if (Object.keys(properties).length === 0 && schema['additionalProperties'] !== false)
    return { one: 1 + turn, two: 2 + turn }
  const needed = listOf(schema['required'])
  const required = new Set(needed.length > 0 || depth > 2 ? needed : Object.keys(properties))
  const made: [string, unknown][] = []
  for (const [name, each] of Object.entries(properties)) {
    if (!required.has(name) || each['readOnly'] === true) continue
    const value = depth >= deepest ? null : generate(each, name, turn, depth + 1)
    if (isUnmade(value)) return value
    made.push([name, value])
  }
  return Object.fromEntries(made)
}

const formats: Readonly<Record<string, (turn: number) => string>> = {
  'date-time': (turn) => `2026-01-${day(turn)}T12:00:00Z`,
  date: (turn) => `2026-01-${day(turn)}`,
  time: (turn) => `12:${day(turn)}:00Z`,
  duration: (turn) => `P${turn + 1}D`,
  email: (turn) => `someone${turn || ''}@example.org`,
  'idn-email': (turn) => `someone${turn || ''}@example.org`,
  uuid: () => randomUUID(),
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

// What a text is for is in its name, where the schema does not say.
const guesses: readonly (readonly [name: RegExp, format: string])[] = [
  [/e-?mail$/i, 'email'],
  [/(?:^|_)(?:url|uri|website|homepage|link)$|Url$|Uri$/i, 'uri'],
  [/(?:_at|_time|At|timestamp)$/, 'date-time'],
  [/(?:_on|_date|Date|^date|birthday)$/, 'date'],
  [/(?:uuid|guid)$/i, 'uuid'],
  [/phone|mobile/i, 'phone'],
  [/^password$/i, 'password'],
  [/^colou?r$/i, 'color'],
]

function day(turn: number): string {
  return String((turn % 28) + 1).padStart(2, '0')
}

const boundsOfNumbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

/** A decimal within the bounds that stand beside its text for those who send a number; `undefined`: none was found. */
function decimalFor(schema: Schema, name: string, turn: number): string | undefined {
  const isBounded = boundsOfNumbers.some((bound) => bound in schema)
  const pattern = String(schema['pattern'] ?? '')
  const text = isBounded ? String(numberFor(schema, name, turn)) : textMatching(pattern, Math.random, {})
  const whole = text === undefined ? undefined : withAllDigits(text, schema)
  return whole !== undefined && new RegExp(pattern, 'u').test(whole) ? whole : undefined
}

/** A decimal as servers answer it: with all digits that its pattern has room for behind the point, and zero without a sign. */
export function withAllDigits(text: string, { pattern }: Schema): string {
  const [, scale = '0'] = /\\\.\\d\{1,(\d+)\}\)\?\$$/.exec(String(pattern ?? '')) ?? []
  const [before = '0', after = ''] = text.split('.')
  const digits = after.padEnd(Number(scale), '0')
  const whole = digits === '' ? before : `${before}.${digits}`
  return /^-[0.]+$/.test(whole) ? whole.slice(1) : whole
}

function textFor(schema: Schema, name: string, turn: number): unknown {
  const least = Number(schema['minLength'] ?? 0)
  const most = Number(schema['maxLength'] ?? 10_000)
  if (schema['format'] === 'decimal') {
    const decimal = decimalFor(schema, name, turn)
    if (decimal !== undefined) return decimal
  }
  if (typeof schema['pattern'] === 'string') {
    const text = textMatching(schema['pattern'], Math.random, { least, most })
    return text ?? { unmade: `no text was found for the pattern ${schema['pattern']}` }
  }
  const isPlain = typeof schema['format'] !== 'string'
  const guessed = isPlain ? guesses.find(([pattern]) => pattern.test(name))?.[1] : String(schema['format'])
  const formatted = formats[guessed ?? '']?.(turn)
  if (formatted !== undefined && formatted.length <= most) return formatted.padEnd(least, 'x')
  const words = name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  const text = turn === 0 ? `Some ${words}` : `Other ${words} ${turn}`
  const fitted = text.length <= most ? text : `${turn || ''}${words}`.replaceAll(' ', '').slice(0, most)
  return fitted.padEnd(Math.min(least, 10_000), 'x')
}

/** A schema that fits a value: its types, and the formats of its texts. */
export function schemaOf(value: unknown): Schema {
  if (value === null || value === undefined) return {}
  if (Array.isArray(value)) return { type: 'array', items: value.length > 0 ? schemaOf(value[0]) : {} }
  if (isObject(value)) {
    return {
      type: 'object',
      properties: Object.fromEntries(Object.entries(value).map(([name, each]) => [name, schemaOf(each)])),
    }
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
