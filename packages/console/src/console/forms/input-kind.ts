/** Which input suits a value: its JSON Schema decides, and the value itself where it does not fit the schema. */
import { type Schema, typesOf } from '../interface/catalog.ts'
import type { JsonValue } from '../interface/records.ts'
import { localTime } from './local-time.ts'

export type InputKind =
  | 'choice'
  | 'text'
  | 'decimal'
  | 'date'
  | 'moment'
  | 'number'
  | 'yes-no'
  | 'list'
  | 'members'
  | 'json'

/**
 * A schema without what says nothing to an input: the alternative `null`, and constants that make an enum. Alternatives
 * that stay become a schema without a type, which any JSON fits.
 */
export function simplified(schema: Schema): Schema {
  if ('const' in schema) return { ...schema, enum: [schema.const] }
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives === undefined || schema.type !== undefined) return schema
  const others = alternatives.filter(({ type }) => type !== 'null').map(simplified)
  const [only] = others
  if (others.length === 1 && only !== undefined) return only
  const values = others.flatMap((each) => each.enum ?? [undefined])
  return values.includes(undefined) ? {} : { enum: values }
}

/** @param schema a simplified one */
export function inputKind(schema: Schema, value: JsonValue | undefined): InputKind {
  const kind = kindOf(schema)
  if (value === undefined || value === null || fits(value, kind, schema)) return kind
  // A date that the calendar of a browser does not have, and a value from before the schema was changed.
  return typeof value === 'string' && (kind === 'date' || kind === 'moment') ? 'text' : 'json'
}

function kindOf(schema: Schema): InputKind {
  const { enum: values, format, items, properties } = schema
  if (values !== undefined) return values.every((each) => each === null || typeof each !== 'object') ? 'choice' : 'json'
  const [type, ...others] = typesOf(schema).filter((each) => each !== 'null')
  // A decimal may be sent as a number too, but its digits are kept only as text.
  if (format === 'decimal') return 'decimal'
  if (others.length > 0) return 'json'
  if (type === 'string') return format === 'date' ? 'date' : format === 'date-time' ? 'moment' : 'text'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'yes-no'
  if (type === 'array' && typeof items === 'object' && schema.prefixItems === undefined) {
    return kindOf(simplified(items)) === 'json' ? 'json' : 'list'
  }
  return type === 'object' && Object.keys(properties ?? {}).length > 0 ? 'members' : 'json'
}

function fits(value: NonNullable<JsonValue>, kind: InputKind, schema: Schema): boolean {
  if (kind === 'choice') return schema.enum?.includes(value) ?? false
  if (kind === 'date') return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)
  if (kind === 'moment') return typeof value === 'string' && localTime(value) !== undefined
  if (kind === 'number') return typeof value === 'number'
  if (kind === 'yes-no') return typeof value === 'boolean'
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'members') return isObject(value)
  return typeof value === 'string'
}

export function isObject(value: JsonValue | undefined): value is Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value that a new entry of a list begins with. */
export function firstValue(schema: Schema): JsonValue {
  const { 'x-default': given, enum: values } = schema
  if (given !== undefined || values !== undefined) return (given ?? values?.[0] ?? null) as JsonValue
  const kind = kindOf(schema)
  if (kind === 'yes-no') return false
  if (kind === 'number') return 0
  if (kind === 'members') return firstMembers(schema)
  return kind === 'list' ? [] : ''
}

/** The members that an object begins with: what has to be sent and may be empty. */
export function firstMembers({ required = [], properties = {} }: Schema): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(required.flatMap((name) => (mayBeEmptyList(properties[name]) ? [[name, []]] : [])))
}

/** Whether a schema allows `[]` and nothing else that is empty. */
export function mayBeEmptyList(schema: Schema = {}): boolean {
  const { minItems = 0 } = simplified(schema)
  return String(typesOf(schema)) === 'array' && minItems === 0
}
