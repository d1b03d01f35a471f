/** JSON Schemas as types of TypeScript. What a type cannot say, such as bounds and patterns, is left out. */

/** A JSON Schema, or what stands in the place of one. */
export type Schema = Readonly<Record<string, unknown>>

/** Finds what a `$ref` names; `undefined`: there is no such thing. */
export type Resolve = (reference: string) => unknown

/** A property name or a text as TypeScript writes it, whatever it contains. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A property name, without quotes if it needs none. */
export function propertyName(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : quoted(name)
}

/** Follows `$ref`, several in turn if necessary. A reference to itself is a schema of anything. */
export function resolved(schema: unknown, resolve: Resolve): Schema {
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
export function typeOf(given: unknown, resolve: Resolve, inside: ReadonlySet<Schema> = new Set()): string {
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
export function member(name: string, isRequired: boolean, type: string): string {
  return `readonly ${propertyName(name)}${isRequired ? '' : '?'}: ${type}`
}

/** A union without repetitions. */
export function union(types: readonly string[]): string {
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
