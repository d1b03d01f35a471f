/**
 * The schemas of one resource: of responses, and of request bodies with examples. Their names are stable, because
 * clients are generated from them.
 */
import { patternOf } from 'resourced-contract/model/decimal'
import { keywordsOf, serverValueText } from 'resourced-contract/model/keywords'
import { pluralOf } from 'resourced-contract/model/plural'
import {
  type Catalog,
  type Field,
  fieldAccessOf,
  isHistory,
  type Resource,
  recordedNames,
} from 'resourced-contract/model/resource'
import { groupsOf } from 'resourced-contract/model/summary'
import { operatorsOf } from 'resourced-contract/model/tenants'
import { type Json, object, refTo, sharedSchemas, withoutDescriptions } from './components.ts'
import { relatedNames, relatedProperties, relatedSchema } from './related-schemas.ts'

const id: Json = { type: 'string', format: 'uuid', readOnly: true, description: 'Assigned by the server.' }
const stamp = (description: string): Json => ({ type: 'string', format: 'date-time', readOnly: true, description })
const timestamps = {
  created_at: stamp('When it was created.'),
  updated_at: stamp('When it was last changed.'),
}
const deletedAt: Json = { deleted_at: stamp('When it was deleted; only deleted records have it.') }

/**
 * The component schemas of a resource, by name.
 *
 * @param shown `recorded`: the names of the resources that events or revisions show; `hasRelations`: whether responses
 *   may include related records
 */
export function resourceSchemas(
  resource: Resource,
  { one }: ResourceNames,
  { recorded = [], hasRelations = false }: { recorded?: readonly ResourceNames[]; hasRelations?: boolean } = {},
): Json {
  const shown = Object.fromEntries(
    resource.fields
      .filter((field) => !field.writeOnly)
      .map((field) => [
        field.name,
        recorded.length > 0 && field.name === recordedNames(resource).shown
          ? dataSchema(field, recorded)
          : shownField(resource, field),
      ]),
  )
  // A revision never changes.
  const { created_at } = timestamps
  const properties = { id, ...shown, ...(isHistory(resource) ? { created_at } : timestamps) }
  const isKept = resource.deletion.variant === 'soft'
  return {
    [one]: {
      ...(resource.description === undefined ? {} : { description: resource.description }),
      ...object({ ...properties, ...(isKept && deletedAt) }, Object.keys(properties)),
    },
    [`${one}Page`]: {
      ...object(
        {
          ...{ data: { type: 'array', items: refTo('schemas', one) }, pagination: refTo('schemas', 'ApiPagination') },
          ...(hasRelations && relatedProperties),
        },
        ['data', 'pagination'],
      ),
    },
    ...(hasRelations && relatedSchema({ one })),
    ...(resource.made === 'by-clients' && {
      ...bodySchemas(resource, one),
      [`${one}Summaries`]: summaries(resource, properties),
      [`${one}Many`]: manySchema(one),
    }),
  }
}

/** The schema of the response to an array (BLK-1, BLK-2). */
function manySchema(one: string): Json {
  const items = { anyOf: [refTo('schemas', one), { type: 'null' }] }
  return object({ data: { type: 'array', 'x-repeats': true, items } }, ['data'])
}

/** The schema of a page of groups (SUM-1). */
function summaries(resource: Resource, properties: Readonly<Record<string, Json>>): Json {
  const groups = [...groupsOf(resource).values()].map(({ name, part }) => [
    name,
    part === undefined ? orNull(withoutAnnotations(properties[name] as Json)) : refTo('schemas', 'ApiPeriod'),
  ])
  // `x-collection` names the fields: those of every figure have one type.
  const map = (name: string) => ({ type: 'object', additionalProperties: refTo('schemas', name) })
  const [exact, least] = [map('ApiExactNumber'), map('ApiFigure')]
  const figures = { sum: exact, avg: exact, min: least, max: least }
  const count = { type: 'integer', minimum: 0 }
  // What changes about a field is found in its records.
  const group = { ...object(Object.fromEntries(groups), []), 'x-repeats': true }
  const row = object({ group, count, ...figures }, ['group', 'count'])
  const data = { type: 'array', items: row }
  return object({ data, pagination: refTo('schemas', 'ApiPagination') }, ['data', 'pagination'])
}

/** A schema without what is said of the field of a record. */
function withoutAnnotations({ description: _, readOnly: __, default: ___, examples: ____, ...schema }: Json): Json {
  return schema
}

/** The schemas of the bodies of a resource, by name. */
export function bodySchemas(resource: Resource, one: string): Json {
  return {
    [`${one}Create`]: creation(resource, undefined),
    ...(resource.within !== undefined && {
      [`${one}CreateNested`]: creation(resource, resource.within.field),
    }),
    [`${one}Replace`]: replacement(resource),
    [`${one}Patch`]: patch(resource),
  }
}

/** The record that an event shows. */
function dataSchema(field: Field, recorded: readonly ResourceNames[]): Json {
  const any = [...recorded.map(({ one }) => refTo('schemas', one)), { type: 'null' }]
  return { 'x-repeats': true, anyOf: any, ...described(field) }
}

function inAnswer(field: Field): Json {
  return {
    ...(field.required ? answered(field) : orNull(answered(field))),
    ...described(field),
    ...(field.readOnly && { readOnly: true }),
  }
}

/** Whether some callers see `null` in place of the value (AUT-13). */
function isMasked(resource: Resource, { name }: Field): boolean {
  return fieldAccessOf(resource, name)?.read !== undefined
}

function shownField(resource: Resource, field: Field): Json {
  return isMasked(resource, field) ? masked(field) : inAnswer(field)
}

function masked(field: Field): Json {
  return { ...inAnswer(field), ...orNull(answered(field)), ...described(field) }
}

// Generators make a property with a `default` required, or send the default themselves.
const defaultWord = 'x-default'
const schemaMaps = ['properties', 'patternProperties', '$defs', 'dependentSchemas']
const notSchemas = ['const', 'enum', 'examples', 'default', 'required', 'dependentRequired']

/** A schema whose defaults, also those of values inside, are for people (`x-default`). */
function withoutDefaults(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDefaults)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([word, value]) => {
    if (schemaMaps.includes(word) && typeof value === 'object' && value !== null) {
      return [word, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutDefaults(each)]))]
    }
    return [word === 'default' ? defaultWord : word, notSchemas.includes(word) ? value : withoutDefaults(value)]
  })
  return Object.fromEntries(entries)
}

/** The schema of a field in requests: `null` clears the field, or resets it to its default. */
function inBody(field: Field): Json {
  const { required, default: standIn, serverDefault, writeOnly } = field
  const schema = sent(field)
  return {
    ...(required && standIn === undefined && serverDefault === undefined ? schema : orNull(schema)),
    ...described(field),
    ...(standIn !== undefined && { [defaultWord]: standIn }),
    ...(writeOnly && { writeOnly: true }),
  }
}

// Bounds of numbers have no meaning for decimals, which are texts.
const numeric = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

function answered(field: Field): Json {
  const { [defaultWord]: _, ...schema } = withoutDefaults(field.schema) as Json
  if (field.decimal === undefined) return schema
  return Object.fromEntries(Object.entries(schema).filter(([word]) => !numeric.includes(word)))
}

/** A decimal may also be sent as a number, and without trailing zeros. Listed decimals are described as texts only. */
function sent(field: Field): Json {
  const { schema, decimal } = field
  if (decimal === undefined) return answered(field)
  const bounds = numeric.flatMap((word) => (word in schema ? [[word, Number(schema[word])]] : []))
  const isListed = 'enum' in schema || 'const' in schema
  const type = isListed ? 'string' : ['string', 'number']
  return { ...answered(field), type, pattern: patternOf(decimal, true), ...(!isListed && Object.fromEntries(bounds)) }
}

function described(field: Field): Json {
  const { schema, decimal, serverDefault } = field
  const keywords = keywordsOf(field)
  const notesOf = (isServers: true | undefined) =>
    keywords.filter(({ row }) => row.isServers === isServers).map(({ row, value }) => row.note?.(value))
  const notes = [
    schema.description,
    decimal && decimalNote(field),
    ...notesOf(undefined),
    serverDefault && `Default: ${serverValueText(serverDefault)}.`,
    ...notesOf(true),
  ].filter((note) => typeof note === 'string')
  const extensions = keywords.flatMap(({ row, value }) => (row.extension === undefined ? [] : [[row.extension, value]]))
  return { ...(notes.length > 0 && { description: notes.join(' ') }), ...Object.fromEntries(extensions) }
}

function decimalNote({ schema, decimal }: Field): string {
  const words = {
    minimum: 'at least',
    exclusiveMinimum: 'more than',
    maximum: 'at most',
    exclusiveMaximum: 'less than',
  }
  const bounds = Object.entries(words).flatMap(([word, words]) => (word in schema ? [`${words} ${schema[word]}`] : []))
  if ('multipleOf' in schema) bounds.push(`a multiple of ${schema['multipleOf']}`)
  const form = `A decimal of at most ${decimal?.precision} digits, ${decimal?.scale} of them after the point`
  return `${[form, ...bounds].join(', ')}.`
}

/** A schema that admits `null` too. */
export function orNull(schema: Json): Json {
  const { type, enum: allowed } = schema
  const composed = ['const', 'anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref'].some((word) => word in schema)
  if (composed || (type === undefined && allowed === undefined)) return { anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(allowed) && { enum: [...new Set([...allowed, null])] }),
  }
}

/** Whether a body must have the field. */
function mustBring(field: Field): boolean {
  return field.required && field.default === undefined && field.serverDefault === undefined && !field.readOnly
}

/** @param given the field whose value the address has, in a nested collection */
function creation(resource: Resource, given: string | undefined): Json {
  const sent = resource.fields.filter((field) => !field.readOnly || field.name === resource.owner)
  const required = sent.filter((field) => mustBring(field) && field.name !== given).map((field) => field.name)
  const schema = (fields: readonly Field[]) =>
    object(Object.fromEntries(fields.map((field) => [field.name, ownerNoted(resource, field)])), required)
  // The example leaves out fields that only administrators may send, and ids of unknown records.
  const shown = sent.filter(
    ({ name, readOnly, reference }) => required.includes(name) || (!readOnly && reference === undefined),
  )
  const { properties, ...rest } = schema(sent)
  if (given !== undefined) return { ...rest, properties: withoutDescriptions(properties as Json) }
  const example = exampleOfObject(schema(shown))
  return { ...schema(sent), ...(example !== undefined && { examples: [example] }) }
}

function ownerNoted(resource: Resource, field: Field): Json {
  if (field.name !== resource.owner) return inBody(field)
  return { ...inBody(field), description: 'Set from the caller; only an administrator may send it.' }
}

/** The body of PUT: everything that GET returns, because read-only fields may be sent back unchanged (RES-9). */
function replacement(resource: Resource): Json {
  const fields = resource.fields.map((field) => {
    if (field.readOnly) return [field.name, isMasked(resource, field) ? masked(field) : inAnswer(field)]
    return [field.name, isMasked(resource, field) ? { ...inBody(field), ...orNull(sent(field)) } : inBody(field)]
  })
  // What a caller may not read or write keeps its value.
  const isKept = ({ name }: Field) => fieldAccessOf(resource, name) !== undefined
  return {
    description: 'The whole record. Fields left out are cleared.',
    ...object(
      withoutDescriptions({ id, ...Object.fromEntries(fields), ...timestamps }),
      resource.fields.filter((field) => mustBring(field) && !isKept(field)).map((field) => field.name),
    ),
  }
}

function patch(resource: Resource): Json {
  const fields = resource.fields.map((field) => {
    if (field.readOnly) return [field.name, inAnswer(field)]
    // RFC 7396 merges objects: only the result must match the schema, not the patch.
    const merged: Json = { type: field.required ? 'object' : ['object', 'null'], ...described(field) }
    return [field.name, field.type === 'object' ? merged : withoutDefault(inBody(field))]
  })
  return {
    description: 'The fields to change (RFC 7396).',
    ...object(withoutDescriptions({ id, ...Object.fromEntries(fields), ...timestamps }), []),
  }
}

// A field left out of a patch stays as it is, so a default would be wrong there.
function withoutDefault({ [defaultWord]: _, ...schema }: Json): Json {
  return schema
}

const formats: Readonly<Record<string, string>> = {
  uuid: '0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11',
  'date-time': '2026-11-21T08:00:00.000Z',
  date: '2026-11-21',
  time: '08:00:00Z',
  email: 'someone@example.org',
  uri: 'https://example.org/',
  duration: 'P1D',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.org',
}

/**
 * A value that matches a schema; `undefined` for schemas with more than a few simple keywords.
 *
 * @param name the name of the value, from which texts are made
 */
export function exampleOf(schema: Json, name: string): unknown {
  if ('const' in schema) return schema.const
  const [given] = listOf(schema.examples)
  if (given !== undefined) return given
  const standIn = schema.default ?? schema[defaultWord]
  if (standIn !== undefined) return standIn
  const [allowed] = listOf(schema.enum)
  if (allowed !== undefined) return allowed
  if (schema.format === 'decimal') {
    const number = 'multipleOf' in schema ? undefined : numberOf(schema, 'number')
    // With all digits, as in responses.
    const [, scale = '0'] = /\{1,(\d+)\}\)\?\$$/.exec(String(schema.pattern)) ?? []
    return number?.toFixed(Number(scale))
  }
  if (['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', 'pattern', 'multipleOf'].some((word) => word in schema))
    return undefined
  const type = listOf(schema.type)[0] ?? schema.type
  switch (type) {
    case 'string':
      return textOf(schema, name)
    case 'integer':
    case 'number':
      return numberOf(schema, type)
    case 'boolean':
      return true
    case 'array':
      return typeof schema.minItems === 'number' && schema.minItems > 0 ? undefined : []
    case 'object':
      return listOf(schema.required).length > 0 || 'minProperties' in schema ? undefined : {}
    default:
      return undefined
  }
}

/** An object with an example of each property; `undefined` if a required property has no example. */
export function exampleOfObject(schema: Json): Json | undefined {
  const made: Record<string, unknown> = {}
  const required = listOf(schema.required)
  for (const [name, property] of Object.entries(schema.properties as Record<string, Json>)) {
    const value = exampleOf(property, name)
    if (value !== undefined) made[name] = value
    else if (required.includes(name)) return undefined
  }
  return made
}

function textOf(schema: Json, name: string): string | undefined {
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  if (typeof format === 'string') return formats[format]
  const text = `Some ${name.replaceAll('_', ' ')}`
  const shortened = text.slice(0, Number(maxLength))
  return shortened.length >= Number(minLength) ? shortened : undefined
}

function numberOf(schema: Json, type: 'integer' | 'number'): number | undefined {
  const { minimum = 0, maximum = Number(minimum) + 1 } = schema
  if ('exclusiveMinimum' in schema || 'exclusiveMaximum' in schema) return undefined
  const value = type === 'integer' ? Math.ceil(Number(minimum)) : Number(minimum)
  if (value <= Number(maximum)) return value
  return type === 'integer' ? Math.floor(Number(maximum)) : Number(maximum)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export interface ResourceNames {
  /** `LineItem` */
  readonly one: string
  /** `LineItems` */
  readonly many: string
}

const suffixes = [
  '', 'Page', 'WithRelated', 'Create', 'CreateNested', 'Replace', 'Patch', 'Created', 'Changed',
  'Summaries', 'Many',
] as const // biome-ignore format: one row reads best

/** Types of TypeScript and Python that generated clients use by these names, in the same files as those of records. */
const usedByClients =
  `Any Array Blob Boolean Client Date Enum Error File Function Headers List Literal Map Number Object Omit Partial Pick
  Promise Readonly Record Request RequestInit Response Set String Symbol Type Union Unset Url UUID`.split(/\s+/)

/**
 * The names of all resources, by collection. If the components of a singular would have the names of other components,
 * the plural is used; if that is taken too, the plural followed by `Resource`. Names that differ in case alone are the
 * same, because generators write them in their own case, and name files by them.
 */
export function namesOf(catalog: Catalog): ReadonlyMap<string, ResourceNames> {
  const taken = new Set(
    [...Object.keys(sharedSchemas), ...relatedNames, ...usedByClients].map((name) => name.toLowerCase()),
  )
  const names = new Map<string, ResourceNames>()
  // System resources come first: their names are the same in every document.
  const tenants = operatorsOf(catalog)?.resources.keys() ?? []
  for (const collection of [...catalog.system.keys(), ...tenants, ...catalog.resources.keys()]) {
    const many = pascal(collection)
    const componentsOf = (one: string) => suffixes.map((suffix) => `${one}${suffix}`.toLowerCase())
    const isFree = (one: string) => componentsOf(one).every((name) => !taken.has(name))
    const one = [pascal(singularOf(collection)), many].find(isFree) ?? `${many}Resource`
    for (const name of componentsOf(one)) taken.add(name)
    names.set(collection, { one, many })
  }
  return names
}

function pascal(name: string): string {
  return name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

// Irregular singulars, tried before the endings. Collection names are checked against the same plurals.
const irregular =
  `person child man woman foot tooth mouse leaf knife life shelf bus cache analysis basis crisis thesis axis
  news series species equipment`.split(/\s+/)

/** The singular of a collection name (`line-items`: `line-item`); the name itself if no singular is known. */
export function singularOf(name: string): string {
  const at = name.lastIndexOf('-') + 1
  const word = name.slice(at)
  const candidates = [
    ...irregular,
    ...[word.replace(/ies$/, 'y'), word.replace(/(ss|x|z|ch|sh)es$/, '$1'), word.replace(/s$/, '')].filter(
      (each) => each !== word,
    ),
  ]
  const singular = candidates.find((candidate) => candidate === word || pluralOf(candidate) === word)
  return name.slice(0, at) + (singular ?? word)
}
