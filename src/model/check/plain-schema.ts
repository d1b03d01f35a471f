/** Schemas of everyday keywords in their everyday form: what the meta-schema of JSON Schema 2020-12 is sure to accept. */
import { isRecord } from './expect.ts'

const types = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null'])
const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const isAnything = () => true

const plain: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['type', (value) => types.has(value as string)],
  ...alike(isText, 'title description format'),
  ...alike(isNumber, 'minimum maximum exclusiveMinimum exclusiveMaximum'),
  ...alike(isCount, 'minLength maxLength minItems maxItems minProperties maxProperties'),
  ...alike(Array.isArray, 'enum examples'),
  ...alike(isAnything, 'default const'),
  ...alike((value) => typeof value === 'boolean', 'uniqueItems readOnly writeOnly deprecated additionalProperties'),
  ['items', (value) => isRecord(value) && isPlain(value)],
  ['properties', (value) => isRecord(value) && Object.values(value).every((each) => isRecord(each) && isPlain(each))],
  ['required', (value) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length],
])

// What is no keyword of JSON Schema means nothing to its meta-schema; these do.
const others = new Set(
  '$id $schema $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment $defs $recursiveRef $recursiveAnchor allOf anyOf \
oneOf not if then else dependentSchemas dependentRequired dependencies definitions prefixItems contains minContains \
maxContains patternProperties propertyNames unevaluatedItems unevaluatedProperties multipleOf pattern contentEncoding \
contentMediaType contentSchema'.split(' '),
)

/** Whether the meta-schema accepts a schema for certain; `false` says nothing. */
export function isPlain(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(schema).every(([keyword, value]) => {
    const fits = plain.get(keyword)
    return fits === undefined ? !others.has(keyword) : fits(value)
  })
}

function alike(fits: (value: unknown) => boolean, keywords: string): [string, (value: unknown) => boolean][] {
  return keywords.split(' ').map((keyword) => [keyword, fits])
}
