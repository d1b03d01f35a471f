/**
 * The types of an interface for the client, made from its OpenAPI document. Collections, filters and sorts come from
 * the extension `x-collection` (DOC-5), and bodies from the schemas that it names. What a type cannot say of a schema,
 * such as bounds and patterns, is left out.
 */
import { filterOperators } from 'resourced-contract/model/operators'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'

interface Traits {
  readonly filter?: readonly string[]
  /** The operators of members of an object, by their path with dots. */
  readonly members?: Readonly<Record<string, readonly string[]>>
  readonly sort?: boolean
  readonly unique?: boolean
}

/** The extension `x-collection`, as far as types depend on it. */
interface Extension {
  readonly made?: string
  readonly schemas: Readonly<Record<'record' | 'create' | 'replace' | 'patch', string>>
  readonly fields: Readonly<Record<string, Traits>>
  readonly relations?: Readonly<Record<string, { readonly to: string; readonly collection: string }>>
  readonly search?: boolean
  readonly summary?: Readonly<Record<'group' | 'sum' | 'min', readonly string[]>>
  readonly within?: { readonly field: string; readonly collection: string }
  readonly deletion?: { readonly variant?: string }
}

interface Collection extends Extension {
  readonly name: string
  readonly description: string
}

/**
 * Prints the types of an interface as a module of TypeScript that imports nothing.
 *
 * @param document an OpenAPI document of Resourced
 * @throws ConfigurationError if it describes no collections
 */
export function interfaceTypes(document: unknown): string {
  const collections = collectionsOf(document)
  if (collections.length === 0) {
    throw new ConfigurationError(
      'The document describes no collections: name an OpenAPI document of Resourced, whose tags have x-collection.',
    )
  }
  const { title, version } = Object(Object(document).info)
  const resolve = resolver(document)
  return [
    `/** The types of ${comment(String(title))}, version ${comment(String(version))}. Made by: resourced types */`,
    'export type Interface = {',
    ...collections.flatMap((each) => collectionLines(each, collections, resolve)),
    '}',
    '',
  ].join('\n')
}

function collectionsOf(document: unknown): readonly Collection[] {
  const { tags } = Object(document)
  return (Array.isArray(tags) ? tags : []).flatMap((tag) => {
    const { name, description = '', 'x-collection': extension } = Object(tag)
    // The client has calls of its own for what every interface has: jobs and API keys.
    return extension?.made === 'by-clients'
      ? [{ ...extension, name: String(name), description: String(description) }]
      : []
  })
}

function collectionLines(collection: Collection, all: readonly Collection[], resolve: Resolve): readonly string[] {
  const { name, description, schemas, within, deletion } = collection
  const schemaOf = (kind: keyof Extension['schemas']) => resolve(`#/components/schemas/${schemas[kind]}`)
  const record = resolved(schemaOf('record'), resolve)
  const properties = Object(record['properties']) as Readonly<Record<string, unknown>>
  const sortable = Object.entries(collection.fields).flatMap(([field, { sort }]) => (sort ? [field] : []))
  const sorts = [...new Set([...sortable, ...(collection.search ? ['relevance'] : [])])].flatMap((each) => [
    each,
    `-${each}`,
  ])
  const unique = Object.keys(properties).filter((field) => collection.fields[field]?.unique)
  const nested = all.filter((each) => each.within?.collection === name).map((each) => each.name)
  const deleted = deletion?.variant === 'soft' && !Object.hasOwn(properties, 'deleted_at') ? ['deleted_at'] : []
  return [
    `  /** ${comment(description)} */`,
    `  readonly ${propertyName(name)}: {`,
    ...['    readonly record: {', ...members(record, resolve)],
    ...deleted.map((field) => `      ${member(field, false, 'string')}`),
    '    }',
    ...(['create', 'replace', 'patch'] as const).flatMap((kind) => [
      `    readonly ${kind}: {`,
      ...members(resolved(schemaOf(kind), resolve), resolve),
      '    }',
    ]),
    ...['    readonly filter: {', ...filters(collection, properties, resolve), '    }'],
    `    readonly sort: ${union(sorts.map(quoted))}`,
    // Only the server decides whether a record has `deleted_at`: `fields` does not select it.
    `    readonly field: ${union(
      Object.keys(properties)
        .filter((each) => each !== 'deleted_at')
        .map(quoted),
    )}`,
    `    readonly nested: ${union(nested.map(quoted))}`,
    `    readonly unique: ${union(unique.map(quoted))}`,
    ...summaryLines(collection, properties, resolve),
    ...(within === undefined ? [] : [`    readonly within: ${quoted(String(within.field))}`]),
    ...['    readonly relations: {', ...relationLines(collection), '    }'],
    '  }',
  ]
}

function relationLines({ relations = {} }: Collection): readonly string[] {
  return Object.entries(relations).map(([name, { to, collection }]) => {
    const type = `{ readonly to: ${quoted(String(to))}; readonly collection: ${quoted(String(collection))} }`
    return `      ${member(name, true, type)}`
  })
}

/** The groups of summaries and their values, the fields that are added up, and those with a least value. */
function summaryLines(
  { summary }: Collection,
  properties: Readonly<Record<string, unknown>>,
  resolve: Resolve,
): readonly string[] {
  if (summary === undefined) return []
  const { group = [], sum = [], min = [] } = summary
  // A part of a date is a text, and only a field can be without one.
  const values = (name: string) => {
    const [field = '', part] = String(name).split(':')
    const type = typeOf(Object.hasOwn(properties, field) ? properties[field] : {}, resolve)
    return part === undefined ? type : type.includes('null') ? 'string | null' : 'string'
  }
  const valuesOf = (names: readonly string[]) => names.map((name) => `        ${member(name, true, values(name))}`)
  return [
    ...['    readonly summary: {', '      readonly group: {', ...valuesOf(group), '      }'],
    `      readonly sum: ${union(sum.map(quoted))}`,
    ...['      readonly min: {', ...valuesOf(min), '      }', '    }'],
  ]
}

/** The members of an object type, each on a line of its own below what its schema says about it. */
function members({ properties, required }: Schema, resolve: Resolve): readonly string[] {
  return Object.entries(Object(properties) as Readonly<Record<string, unknown>>).flatMap(([name, schema]) => {
    const { description } = Object(schema)
    return [
      ...(typeof description === 'string' ? [`      /** ${comment(description)} */`] : []),
      `      ${member(name, Array.isArray(required) && required.includes(name), typeOf(schema, resolve))}`,
    ]
  })
}

function filters(
  { fields, search }: Collection,
  properties: Readonly<Record<string, unknown>>,
  resolve: Resolve,
): readonly string[] {
  const filtersBy = (name: string, schema: unknown, operators: readonly string[]) => {
    const value = valueType(schema, resolve)
    const several = `${value} | readonly (${value})[]`
    const types = { value, values: several, list: several, text: 'string', flag: 'boolean' }
    return operators.map((operator) =>
      operator === 'eq'
        ? member(name, false, several)
        : member(`${name}[${operator}]`, false, types[filterOperators.get(operator)?.operand ?? 'value']),
    )
  }
  const lines = Object.entries(fields).flatMap(([field, { filter = [], members = {} }]) => {
    const schema = Object.hasOwn(properties, field) ? properties[field] : {}
    const { items = schema } = Object(resolved(schema, resolve))
    const below = Object.entries(members).flatMap(([path, operators]) => {
      const at = path
        .split('.')
        .reduce<unknown>((part, step) => Object(Object(resolved(part, resolve)).properties)[step], schema)
      return filtersBy(`${field}.${path}`, at, operators)
    })
    return [...filtersBy(field, items, filter), ...below]
  })
  return [...(search ? [...lines, member('q', false, 'string')] : lines).map((line) => `      ${line}`)]
}

/** The values that a filter compares with: `null` has an operator of its own, and a decimal may be a number. */
function valueType(schema: unknown, resolve: Resolve): string {
  const { format } = resolved(schema, resolve)
  if (format === 'decimal') return 'string | number'
  const types = typeOf(schema, resolve)
    .split(' | ')
    .filter((type) => type !== 'null')
  const plain = types.every((type) =>
    /^(?:string|number|boolean|"(?:[^"\\]|\\.)*"|-?[\d.e+-]+|true|false)$/i.test(type),
  )
  return plain && types.length > 0 ? types.join(' | ') : 'string | number | boolean'
}

/** Finds what a reference within the document names: a JSON Pointer in a fragment (RFC 6901 section 6). */
function resolver(document: unknown): Resolve {
  return (reference) => {
    if (!reference.startsWith('#/')) return undefined
    const names = reference
      .slice(2)
      .split('/')
      .map((name) => decoded(name).replaceAll('~1', '/').replaceAll('~0', '~'))
    return names.reduce<unknown>(
      (found, name) =>
        typeof found === 'object' && found !== null && Object.hasOwn(found, name)
          ? Reflect.get(found, name)
          : undefined,
      document,
    )
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** A text on one line of a comment, which it cannot end. */
function comment(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('*/', '*\\/').trim()
}

/** A JSON Schema, or what stands in the place of one. */
type Schema = Readonly<Record<string, unknown>>

/** Finds what a `$ref` names; `undefined`: there is no such thing. */
type Resolve = (reference: string) => unknown

/** A property name or a text as TypeScript writes it, whatever it contains. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A property name, without quotes if it needs none. */
function propertyName(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : quoted(name)
}

/** Follows `$ref`, several in turn if necessary. A reference to itself is a schema of anything. */
function resolved(schema: unknown, resolve: Resolve): Schema {
  const seen = new Set<unknown>()
  let current = schema
  for (;;) {
    if (typeof current !== 'object' || current === null || seen.has(current))
      return current === false ? { not: {} } : {}
    const { $ref: reference } = current as Schema
    if (typeof reference !== 'string') return current as Schema
    seen.add(current)
    current = resolve(reference)
  }
}

const primitives: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

/**
 * The type of a schema.
 *
 * @param inside the schemas around it, so that one that contains itself ends
 */
function typeOf(given: unknown, resolve: Resolve, inside: ReadonlySet<Schema> = new Set()): string {
  const schema = resolved(given, resolve)
  if (inside.has(schema)) return 'unknown'
  const within = new Set([...inside, schema])
  const { const: only, enum: values, type, anyOf, oneOf, allOf, not } = schema
  if ('const' in schema) return literal(only)
  if (Array.isArray(values)) return union(values.map(literal))
  if (typeof not === 'object' && not !== null && Object.keys(not).length === 0) return 'never'
  const of = (each: unknown) => typeOf(each, resolve, within)
  const parts = [
    ...(Array.isArray(allOf) ? allOf.map(of) : []),
    ...[anyOf, oneOf].flatMap((each) => (Array.isArray(each) ? [union(each.map(of))] : [])),
    ...(type !== undefined || 'properties' in schema
      ? [union(namesOf(type).map((name) => typeNamed(name, schema, of)))]
      : []),
  ].filter((part) => part !== 'unknown')
  if (parts.length === 0) return 'unknown'
  return parts.length === 1 ? (parts[0] as string) : parts.map(grouped).join(' & ')
}

function namesOf(type: unknown): readonly string[] {
  if (type === undefined) return ['object']
  return (Array.isArray(type) ? type : [type]).map(String)
}

function typeNamed(name: string, schema: Schema, of: (schema: unknown) => string): string {
  if (name === 'array') return 'items' in schema ? `readonly ${grouped(of(schema['items']))}[]` : 'readonly unknown[]'
  if (name === 'object') return objectType(schema, of)
  return Object.hasOwn(primitives, name) ? (primitives[name] as string) : 'unknown'
}

function objectType(schema: Schema, of: (schema: unknown) => string): string {
  const { properties, required, additionalProperties: more } = schema
  const members = Object.entries(Object(properties)).map(([name, each]) =>
    member(name, Array.isArray(required) && required.includes(name), of(each)),
  )
  // An index signature must allow the types of all members.
  if (more !== false) members.push(`readonly [name: string]: ${members.length > 0 ? 'unknown' : of(more ?? true)}`)
  return `{ ${members.join('; ')} }`
}

/** A member of an object type. */
function member(name: string, isRequired: boolean, type: string): string {
  return `readonly ${propertyName(name)}${isRequired ? '' : '?'}: ${type}`
}

/** A union without repetitions. */
function union(types: readonly string[]): string {
  const different = [...new Set(types)]
  if (different.includes('unknown')) return 'unknown'
  return different.length === 0 ? 'never' : different.join(' | ')
}

/** A type in parentheses, if something that follows it could belong to a part of it. */
function grouped(type: string): string {
  return /^(?:[\w"]+|\{[^{}]*\})$/.test(type) ? type : `(${type})`
}

function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `readonly [${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{ ${Object.entries(value)
    .map(([name, each]) => member(name, true, literal(each)))
    .join('; ')} }`
}
