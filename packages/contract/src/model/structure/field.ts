/** The structure of fields: the keywords of JSON Schema 2020-12, and those that JSON Schema does not have. */
import type { SchemaKeywords } from '../declaration.ts'
import { keywordRows } from '../keywords.ts'
import { arrayOf, choice, flag, mapOf, type Node, ref, whole } from '../structure-node.ts'

/** The formats that are checked. */
export const formats = [
  'date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'duration', 'uri', 'uri-reference', 'uri-template', 'url',
  'email', 'hostname', 'ipv4', 'ipv6', 'regex', 'uuid', 'json-pointer', 'json-pointer-uri-fragment',
  'relative-json-pointer', 'byte', 'int32', 'int64', 'float', 'double', 'password', 'binary',
] as const // biome-ignore format: one row reads best

/** The types of JSON values, without `null`. */
export const types = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const

const form = (what: string) => ({ what, write: `Write ${what}.` })
const most = Number.MAX_SAFE_INTEGER

const count = (description: string): Node => ({
  ...whole(0, most, description),
  wording: form('a whole number, 0 or more'),
})
const number = (description: string): Node => ({ description, type: 'number', wording: form('a number') })
const text = (description: string, more: Node = {}): Node => ({
  ...{ description, type: 'string', ...more },
  wording: form('a text'),
})
const schema = (description: string): Node => ref('schema', { description })
const schemas = (description: string): Node =>
  arrayOf(ref('schema'), description, form('an array of schemas'), { minItems: 1 })
const schemasByName = (description: string): Node => ({
  ...mapOf(ref('schema'), description, ''),
  wording: form('an object of schemas'),
})
const names = (description: string): Node =>
  arrayOf({ type: 'string', wording: form('a name') }, description, form('an array of names'), { uniqueItems: true })
const anything = (description: string): Node => ({ description })

const typeOf = (values: readonly string[], description: string): Node => ({
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

const otherKeys = 'Remove it, or see the keywords of JSON Schema 2020-12.'

/** The keywords of JSON Schema. */
const schemaKeywords: { readonly [Keyword in keyof SchemaKeywords]-?: Node } = {
  type: typeOf([...types, 'null'], 'The JSON type of the value.'),
  enum: arrayOf({}, 'The allowed values.', 'elsewhere', {
    ...{ minItems: 1, uniqueItems: true, examples: [['open', 'done']] },
  }),
  const: anything('The only allowed value.'),
  title: text('A short name for people.'),
  description: text('What the value means. The OpenAPI document has it.'),
  default: anything(
    'The value of a field that a request leaves out: a value of the field, or a value that the server finds on ' +
      'creation, `{ caller: "id" }`, `{ caller: "roles" }`, `{ caller: "claims.NAME" }` or `{ now: true }`.',
  ),
  examples: arrayOf({}, 'Examples for people.', form('an array of values')),
  deprecated: flag('Clients should not use the value any more.'),
  readOnly: flag('Only the server sets the value.'),
  writeOnly: flag('Clients may send the value, and no response contains it.'),
  format: text('The form of a text.', { enum: formats }),
  minLength: count('The least number of characters.'),
  maxLength: count('The most characters.'),
  pattern: {
    ...{ description: 'A regular expression that the text must match, as JavaScript has them with the flag `u`.' },
    ...{ type: 'string', format: 'regex', examples: ['^[A-Z]{2}\\d+$'] },
    wording: form('a regular expression, as with the flag u'),
  },
  minimum: number('The least number.'),
  maximum: number('The greatest number.'),
  exclusiveMinimum: number('A number below all allowed ones.'),
  exclusiveMaximum: number('A number above all allowed ones.'),
  multipleOf: {
    ...{ description: 'The number is a multiple of this one.', type: 'number', exclusiveMinimum: 0 },
    wording: form('a number above 0'),
  },
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
  dependentRequired: {
    ...mapOf(names('The keys that it requires.'), 'The keys that an object must have if it has another key.', ''),
    wording: form('an object of arrays of names'),
  },
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
  $id: {
    ...{ ...text('The address of the schema, without a fragment.'), pattern: '^[^#]*#?$' },
    wording: form('an address without a fragment'),
  },
  $schema: text('The dialect of the schema.'),
  $ref: text('A pointer to a schema of the same field: `#/$defs/name`.'),
  $anchor: text('A name of the schema for references.'),
  $dynamicRef: text('A pointer to a dynamic anchor.'),
  $dynamicAnchor: text('A name for dynamic references.'),
  $defs: schemasByName('Schemas that references point to.'),
  definitions: schemasByName('The same as `$defs`, in older drafts.'),
  $comment: text('A note for readers of the declaration.'),
}

/** A JSON Schema within a field. */
export const innerSchema: Node = {
  description: 'A JSON Schema (2020-12).',
  ...{ type: ['object', 'boolean'], properties: schemaKeywords, additionalProperties: false },
  wording: {
    ...form('a schema: an object, true or false'),
    unknownKey: 'is not a word of JSON Schema 2020-12',
    otherKeys,
  },
}

const decimalNumber = (description: string): Node => ({
  description: `${description} A decimal is written in quotes: \`"19.90"\`.`,
  type: ['number', 'string'],
  wording: 'elsewhere',
})

const decimalBounds = {
  minimum: decimalNumber('The least number.'),
  maximum: decimalNumber('The greatest number.'),
  exclusiveMinimum: decimalNumber('A number below all allowed ones.'),
  exclusiveMaximum: decimalNumber('A number above all allowed ones.'),
  multipleOf: decimalNumber('The number is a multiple of this one.'),
}

const notDecimal: Node = {
  not: {},
  wording: { what: 'left out', write: 'Write "type": "decimal" with it, or remove it.' },
}

/** A field of a resource. */
export const field: Node = {
  description: 'A field: the JSON Schema of its values, and the words of Resourced.',
  type: 'object',
  properties: {
    ...schemaKeywords,
    ...Object.fromEntries(keywordRows.map(([word, { structure }]) => [word, structure])),
    ...decimalBounds,
    required: {
      ...names('The keys that an object must have.'),
      wording: { what: 'an array of names', write: 'Every field is required unless it says "optional": true.' },
    },
    type: typeOf(
      [...types, 'decimal', 'null'],
      'The type of the value: a JSON type, or `decimal` for numbers that are stored exactly, such as amounts.',
    ),
  },
  additionalProperties: false,
  dependentRequired: {
    ...{ onDelete: ['reference'], requires: ['reference'], as: ['reference'], inverse: ['reference'] },
    ...{ precision: ['type'], scale: ['type'] },
  },
  anyOf: [
    {
      ...{ properties: { type: { const: 'decimal' } }, required: ['type', 'precision', 'scale'] },
      wording: 'elsewhere',
    },
    {
      properties: {
        type: { not: { const: 'decimal' }, wording: 'elsewhere' },
        ...Object.fromEntries(
          Object.keys(decimalBounds).map((key) => [key, schemaKeywords[key as keyof SchemaKeywords]]),
        ),
        precision: notDecimal,
        scale: notDecimal,
      },
    },
  ],
  examples: [
    { type: 'string', minLength: 1, maxLength: 200, search: true },
    { enum: ['open', 'done'], default: 'open' },
    { reference: 'projects', onDelete: 'cascade' },
    { type: 'decimal', precision: 12, scale: 2, minimum: 0 },
    { sequence: { per: 'project_id' } },
  ],
  wording: {
    ...{ what: 'an object', write: 'Write { type: "string" }.' },
    unknownKey: 'is not a word of a field, nor of JSON Schema 2020-12',
    otherKeys,
    meantKeys: {
      nullable: 'Write "optional": true.',
      index: 'Write "filter": true or "sort": true: each keeps an index.',
      references: 'Write "reference": the name of the collection.',
      values: 'Write "enum": the list of values.',
      example: 'Write "examples": [ … ].',
      additionalItems: 'Write "prefixItems" for the first items and "items": false for the rest.',
    },
  },
}
