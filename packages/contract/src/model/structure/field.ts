/** The structure of fields: the keywords of JSON Schema 2020-12, and those that JSON Schema does not have. */
import { keywordRows } from '../keywords.ts'
import { form, names, schemaKeywords, typeOf, types } from '../schema-keywords.ts'
import type { Node } from '../structure-node.ts'

const otherKeys = 'Remove it, or see the keywords of JSON Schema 2020-12.'

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
          Object.keys(decimalBounds).map((key) => [key, schemaKeywords[key as keyof typeof decimalBounds]]),
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
