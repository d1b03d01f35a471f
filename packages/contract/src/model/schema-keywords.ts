/** The structure of the keywords of JSON Schema 2020-12 in declarations as data. */
import type { SchemaKeywords } from './declaration.ts'
import { arrayOf, choice, flag, mapOf, type Node, ref, whole } from './structure-node.ts'

/** The formats that are checked. */
export const formats = [
  'date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'duration', 'uri', 'uri-reference', 'uri-template', 'url',
  'email', 'hostname', 'ipv4', 'ipv6', 'regex', 'uuid', 'json-pointer', 'json-pointer-uri-fragment',
  'relative-json-pointer', 'byte', 'int32', 'int64', 'float', 'double', 'password', 'binary',
] as const // biome-ignore format: one row reads best

/** The types of JSON values, without `null`. */
export const types = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const

export const form = (what: string) => ({ what, write: `Write ${what}.` })
const most = Number.MAX_SAFE_INTEGER

const count = (description: string): Node => ({
  ...whole(0, most, description),
  wording: form('a whole number, 0 or more'),
})
// Those of a decimal may be texts.
const number = (description: string, more: Node = {}, what = 'a number'): Node => ({
  ...{ description, type: 'number', ...more },
  wording: form(what),
})
const text = (description: string, more: Node = {}, what = 'a text'): Node => ({
  ...{ description, type: 'string', ...more },
  wording: form(what),
})
const list = (description: string, wording: Node['wording'], more: Node = {}): Node =>
  arrayOf({}, description, wording, more)
const schema = (description: string): Node => ref('schema', { description })
const schemas = (description: string): Node =>
  arrayOf(ref('schema'), description, form('an array of schemas'), { minItems: 1 })
const byName = (values: Node, description: string, what = 'an object of schemas'): Node => ({
  ...mapOf(values, description, ''),
  wording: form(what),
})
const schemasByName = (description: string): Node => byName(ref('schema'), description)
export const names = (description: string): Node =>
  arrayOf({ type: 'string', wording: form('a name') }, description, form('an array of names'), { uniqueItems: true })

export const typeOf = (values: readonly string[], description: string): Node => ({
  description,
  anyOf: [
    choice(values, 'The type of the values.'),
    arrayOf(choice(values, 'A type.'), 'Several types.', undefined, { minItems: 1, uniqueItems: true }),
  ],
  wording: 'elsewhere',
})

// A property named `then` would make the object look like a promise.
function entry<Key extends string>(key: Key, node: Node): Readonly<Record<Key, Node>> {
  return { [key]: node } as Record<Key, Node>
}

/** The keywords of JSON Schema 2020-12, with their structure. */
export const schemaKeywords = {
  type: typeOf([...types, 'null'], 'The JSON type of the value.'),
  enum: list('The allowed values.', 'elsewhere', { minItems: 1, uniqueItems: true, examples: [['open', 'done']] }),
  const: { description: 'The only allowed value.' },
  title: text('A short name for people.'),
  description: text('What the value means. The OpenAPI document has it.'),
  default: {
    description:
      'The value of a field that a request leaves out: a value of the field, or a value that the server finds on ' +
      'creation, `{ caller: "id" }`, `{ caller: "roles" }`, `{ caller: "claims.NAME" }` or `{ now: true }`.',
  },
  examples: list('Examples for people.', form('an array of values')),
  deprecated: flag('Clients should not use the value any more.'),
  readOnly: flag('Only the server sets the value.'),
  writeOnly: flag('Clients may send the value, and no response contains it.'),
  format: text('The form of a text.', { enum: formats }),
  minLength: count('The least number of characters.'),
  maxLength: count('The most characters.'),
  pattern: text(
    'A regular expression that the text must match, as JavaScript has them with the flag `u`.',
    { format: 'regex', examples: ['^[A-Z]{2}\\d+$'] },
    'a regular expression, as with the flag u',
  ),
  minimum: number('The least number.'),
  maximum: number('The greatest number.'),
  exclusiveMinimum: number('A number below all allowed ones.'),
  exclusiveMaximum: number('A number above all allowed ones.'),
  multipleOf: number('The number is a multiple of this one.', { exclusiveMinimum: 0 }, 'a number above 0'),
  items: schema('The items of an array; with `prefixItems`, the rest of them.'),
  prefixItems: schemas('The first items of an array, each with a schema of its own.'),
  minItems: count('The least number of items.'),
  maxItems: count('The most items.'),
  uniqueItems: flag('No two items are equal.'),
  contains: schema('At least one item fits this schema.'),
  minContains: count('The least number of items that fit `contains`.'),
  maxContains: count('The most items that fit `contains`.'),
  unevaluatedItems: schema('The items that no other keyword describes.'),
  properties: schemasByName('The values of an object by key.'),
  required: names('The keys that an object must have.'),
  additionalProperties: schema('The values of keys that `properties` and `patternProperties` do not have.'),
  patternProperties: schemasByName('The values of keys that match a regular expression.'),
  propertyNames: schema('The keys of an object.'),
  minProperties: count('The least number of keys.'),
  maxProperties: count('The most keys.'),
  dependentRequired: byName(
    names('The keys that it requires.'),
    'The keys that an object must have if it has another key.',
    'an object of arrays of names',
  ),
  dependentSchemas: schemasByName('The schema that an object must fit if it has a key.'),
  unevaluatedProperties: schema('The values of keys that no other keyword describes.'),
  allOf: schemas('The value fits all of these schemas.'),
  anyOf: schemas('The value fits at least one of these schemas.'),
  oneOf: schemas('The value fits exactly one of these schemas.'),
  not: schema('The value does not fit this schema.'),
  if: schema('If the value fits this schema, it must fit `then`, otherwise `else`.'),
  ...entry('then', schema('See `if`.')),
  else: schema('See `if`.'),
  contentMediaType: text('The media type of the content of a text. It is not checked.'),
  contentEncoding: text('The encoding of the content of a text. It is not checked.'),
  contentSchema: schema('The content of a text. It is not checked.'),
  $id: text(
    'The address of the schema, without a fragment.',
    { pattern: '^[^#]*#?$' },
    'an address without a fragment',
  ),
  $schema: text('The dialect of the schema.'),
  $ref: text('A pointer to a schema of the same field: `#/$defs/name`.'),
  $anchor: text('A name of the schema for references.'),
  $dynamicRef: text('A pointer to a dynamic anchor.'),
  $dynamicAnchor: text('A name for dynamic references.'),
  $defs: schemasByName('Schemas that references point to.'),
  definitions: schemasByName('The same as `$defs`, in older drafts.'),
  $comment: text('A note for readers of the declaration.'),
} satisfies Readonly<Record<keyof SchemaKeywords, Node>>
