/**
 * Declared fields: what the JSON Schema of a field means (type, enum, optional), and the complete field made from it.
 */

import { type DecimalForm, decimalFormOf, decimalSchema, mostDigits } from './decimal.ts'
import type { FieldDeclaration, ServerValue } from './declaration.ts'
import { completeKeywords, isServers, keywordRows } from './keywords.ts'
import { memberPaths } from './members.ts'
import { isObject, optionalMark } from './plain-copy.ts'
import { nameRelations, type RelationSource } from './relations.ts'
import { type Field, type FieldType, isComparable } from './resource.ts'
import { compileField } from './schema.ts'

/** A JSON Schema, or a declared field, as an object. */
export type Schema = Readonly<Record<string, unknown>>

/** What the schema of a field means. */
export interface FieldShape {
  readonly type: FieldType
  /** JSON Schema without other words, and without `null`, which `optional` expresses. */
  readonly schema: Schema
  readonly format: string | undefined
  /** The precision and scale of a decimal field. */
  readonly decimal: DecimalForm | undefined
  readonly enum: readonly string[] | undefined
  readonly optional: boolean
  /** The default that the server finds when it creates a record; the schema does not have it. */
  readonly serverDefault: ServerValue | undefined
}

/**
 * Reads a declared field. It never throws: a field without a known type is `json`.
 *
 * @param declared the field, copied by `plainCopy`
 */
export function shapeOf(declared: Schema): FieldShape {
  const schema: Record<string, unknown> = {}
  for (const [word, value] of Object.entries(declared)) if (!isFieldWord(word)) schema[word] = value
  if (declared.reference !== undefined) {
    // A reference is the id of a record: a lower-case UUID (RES-4).
    Object.assign(schema, { type: 'string', format: 'uuid' })
  }
  if (declared.sequence !== undefined) Object.assign(schema, { type: 'integer', minimum: 1 })
  const { schema: bare, nullable } = withoutNull(schema)
  const type = typeOf(bare)
  const serverDefault = serverDefaultOf(bare, type)
  if (serverDefault !== undefined) delete bare['default']
  return {
    type,
    serverDefault,
    schema: bare,
    decimal: decimalFormOf(bare),
    format: typeof bare.format === 'string' ? bare.format : undefined,
    enum: type === 'string' && declared.reference === undefined ? textsOf(bare) : undefined,
    optional: nullable || declared.optional === true || declared[optionalMark] === true,
  }
}

/** A default with the form of a `ServerValue`. A field that may hold objects has such an object as a plain default. */
function serverDefaultOf({ default: value }: Schema, type: FieldType): ServerValue | undefined {
  if (!isObject(value) || type === 'object' || type === 'json') return undefined
  return Object.hasOwn(value, 'caller') || Object.hasOwn(value, 'now') ? (value as ServerValue) : undefined
}

// A decimal's precision and scale are in its schema, as if JSON Schema had decimals.
const fieldWords = new Set<string>(keywordRows.flatMap(([word, { partOf }]) => (partOf === 'decimal' ? [] : [word])))

/** Whether a keyword is no part of the schema of a field. */
export function isFieldWord(word: string): boolean {
  return fieldWords.has(word)
}

/** The schema without the alternative `null`, and whether there was one. */
function withoutNull(schema: Schema): { schema: Record<string, unknown>; nullable: boolean } {
  const kept: Record<string, unknown> = { ...schema }
  let nullable = false
  for (const word of ['type', 'enum', 'anyOf', 'oneOf']) {
    const list = kept[word]
    if (!Array.isArray(list)) continue
    const rest = list.filter((each) => !isNull(word, each))
    if (rest.length === list.length || rest.length === 0) continue
    nullable = true
    kept[word] = word === 'type' && rest.length === 1 ? rest[0] : rest
  }
  for (const word of ['anyOf', 'oneOf']) {
    const [only, ...others] = Array.isArray(kept[word]) ? (kept[word] as unknown[]) : []
    if (!nullable || others.length > 0 || !isObject(only) || Object.keys(only).some((key) => key in kept)) continue
    delete kept[word]
    Object.assign(kept, only)
  }
  if (kept.default === null) delete kept.default
  return { schema: kept, nullable }
}

function isNull(word: string, value: unknown): boolean {
  if (word === 'type') return value === 'null'
  if (word === 'enum') return value === null
  return isObject(value) && (value.type === 'null' || ('const' in value && value.const === null))
}

const primitives: readonly unknown[] = ['string', 'integer', 'number', 'decimal', 'boolean', 'array', 'object']

function typeOf(schema: Schema): FieldType {
  if (primitives.includes(schema.type)) return schema.type as FieldType
  if (Array.isArray(schema.type)) return common(schema.type.map((each) => (primitives.includes(each) ? each : 'json')))
  if (schema.type !== undefined) return 'json'
  if (Array.isArray(schema.enum)) return common(schema.enum.map(typeOfValue))
  if ('const' in schema) return typeOfValue(schema.const)
  for (const word of ['anyOf', 'oneOf']) {
    const branches = schema[word]
    if (Array.isArray(branches)) return common(branches.map((branch) => (isObject(branch) ? typeOf(branch) : 'json')))
  }
  if (!Array.isArray(schema.allOf)) return 'json'
  // All parts must match, so the type of one part is the type of all.
  return common(schema.allOf.map((part) => (isObject(part) ? typeOf(part) : 'json')).filter((type) => type !== 'json'))
}

/** The type that covers all types. */
function common(types: readonly FieldType[]): FieldType {
  const [first = 'json', ...rest] = new Set(types)
  if (rest.length === 0) return first
  return [first, ...rest].every((type) => type === 'integer' || type === 'number') ? 'number' : 'json'
}

function typeOfValue(value: unknown): FieldType {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as 'string' | 'boolean'
  if (Array.isArray(value)) return 'array'
  return isObject(value) ? 'object' : 'json'
}

/** The texts that a schema allows, if it allows only certain texts. */
function textsOf(schema: Schema): readonly string[] | undefined {
  if (Array.isArray(schema.enum)) return areTexts(schema.enum) ? [...new Set(schema.enum)] : undefined
  if (typeof schema.const === 'string') return [schema.const]
  for (const word of ['anyOf', 'oneOf']) {
    const branches = schema[word]
    if (!Array.isArray(branches)) continue
    const texts = branches.map((branch) => (isObject(branch) ? textsOf(branch) : undefined))
    return texts.length > 0 && texts.every((each) => each !== undefined) ? [...new Set(texts.flat())] : undefined
  }
  return undefined
}

function areTexts(values: readonly unknown[]): values is readonly string[] {
  return values.length > 0 && values.every((value) => typeof value === 'string')
}

/**
 * Completes a field.
 *
 * @param declared the field as declared, copied by `plainCopy`
 * @param isOwner whether the server sets it to the caller's id (AUT-7)
 * @param isSent whether clients send it: only then a validator is compiled, which takes time
 */
export function completeField(name: string, declared: FieldDeclaration, isOwner: boolean, isSent: boolean): Field {
  const shape = shapeOf(declared)
  const total = declared.sumOf === undefined ? {} : { default: 0 }
  const given = { ...shape.schema, ...total }
  const schema = shape.decimal === undefined ? given : decimalSchema(given, shape.decimal)
  const keywords = completeKeywords(declared, shape)
  return {
    ...keywords,
    name,
    weight: isObject(declared.search) ? declared.search.weight : 1,
    items: keywords.filter && shape.type === 'array' ? completePart(name, shape.schema.items) : undefined,
    members: memberPaths(name, declared).flatMap((each) => completePart(each.name, each.schema) ?? []),
    type: shape.type,
    schema,
    format: shape.format,
    decimal: shape.decimal,
    enum: shape.enum,
    required: !shape.optional,
    default: schema.default,
    serverDefault: shape.serverDefault,
    readOnly: isOwner || isServers(declared),
    writeOnly: declared.writeOnly === true,
    validate: isSent ? compileField(name, shape, declared.reference) : unsent,
  }
}

/** An item or a member that requests may filter by, as a field; `undefined`: its values cannot be compared. */
function completePart(name: string, schema: unknown): Field | undefined {
  if (!isObject(schema)) return undefined
  const field = completeField(name, { ...schema, filter: true, optional: true }, false, false)
  return isComparable(field.type) ? field : undefined
}

function unsent(): never {
  throw new Error('The server alone writes this field.')
}

/**
 * Gives sums without a type that of what they add up, and decimals all the digits that there are. What is declared
 * wrongly stays as it is.
 *
 * @param declaration a copy by `plainCopy`, which is changed
 */
export function formSums<T>(declaration: T): T {
  const fieldsOf = Object.entries(membersOf(isObject(declaration) ? declaration['resources'] : undefined)).map(
    ([name, resource]) => [name, Object.entries(membersOf(membersOf(resource)['fields']))] as const,
  )
  for (const [name, fields] of fieldsOf) {
    for (const [, declared] of fields) {
      const field = membersOf(declared)
      if (typeof field['sumOf'] !== 'string' || field['type'] !== undefined) continue
      const [relation = '', amount = ''] = field['sumOf'].split('.')
      const sources = fieldsOf.map(sourceOf)
      const { collection } = nameRelations(sourceOf([name, fields]), sources).relations.get(relation) ?? {}
      const added = fieldsOf.find(([each]) => each === collection)?.[1].find(([each]) => each === amount)?.[1]
      const { type, decimal } = shapeOf(membersOf(added))
      if (type === 'integer') Object.assign(field, { type })
      if (type === 'decimal') Object.assign(field, { type, precision: mostDigits, scale: decimal?.scale })
    }
  }
  return declaration
}

function membersOf(value: unknown): Schema {
  return isObject(value) ? value : {}
}

function sourceOf([name, fields]: readonly [string, readonly (readonly [string, unknown])[]]): RelationSource {
  const references = fields.flatMap(([field, declared]) => {
    const { reference, as, inverse, writeOnly } = membersOf(declared)
    const isOne = typeof reference === 'string' && writeOnly !== true
    return isOne ? [{ field, collection: reference, as: textOf(as), inverse: textOf(inverse) }] : []
  })
  return { name, fields: new Set(fields.map(([field]) => field)), references }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
