/** Checks the form of JSON Schema keywords, and finds contradictions between them. */
import type { Schema } from '../field.ts'
import { suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { isObject } from '../plain-copy.ts'
import { ajv } from '../schema.ts'
import { mustBe, type Problem, show } from './problem.ts'

const count = 'a whole number, 0 or more'
const schema = 'a schema: an object, true or false'
const forms: ReadonlyMap<string, string> = new Map([
  ...formOf(count, 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'),
  ...formOf('a number', 'minimum maximum exclusiveMinimum exclusiveMaximum'),
  ...formOf('a number above 0', 'multipleOf'),
  ...formOf('a regular expression, as with the flag u', 'pattern'),
  ...formOf('an array of values', 'enum examples'),
  ...formOf('an array of names', 'required'),
  ...formOf('true or false', 'uniqueItems readOnly writeOnly deprecated'),
  ...formOf('a text', 'title description format $id $ref $comment'),
  ...formOf(schema, 'items not if then else contains propertyNames additionalProperties contentSchema'),
  ...formOf(schema, 'unevaluatedItems unevaluatedProperties'),
  ...formOf('an array of schemas', 'allOf anyOf oneOf prefixItems'),
  ...formOf('an object of schemas', 'properties patternProperties $defs definitions dependentSchemas'),
])

function formOf(form: string, keywords: string): [string, string][] {
  return keywords.split(' ').map((keyword) => [keyword, form])
}

const types = ['string', 'integer', 'number', 'boolean', 'array', 'object']
const typeHints: Readonly<Record<string, string>> = {
  text: 'string', str: 'string', varchar: 'string', int: 'integer', bigint: 'integer', long: 'integer', float: 'number',
  double: 'number', bool: 'boolean', list: 'array', map: 'object', json: 'object',
} // biome-ignore format: one row reads best
const formatHints: Readonly<Record<string, string>> = {
  date: 'date', datetime: 'date-time', 'date-time': 'date-time', timestamp: 'date-time', uuid: 'uuid', email: 'email',
  time: 'time', uri: 'uri', url: 'uri',
} // biome-ignore format: one row reads best

/**
 * Everything that the meta-schema refuses in a schema, one problem for each place.
 *
 * @param path the field's place
 */
export function metaProblems(declared: Schema, path: string): Problem[] {
  // Making the validator of meta-schemas takes a fifth of a server's start.
  if (isPlain(declared) || ajv.validateSchema({ ...declared }) === true) return contradictions(declared, path)
  // The meta-schema reports several errors for one place: that no alternative fits, and why each does not.
  const places = [...new Set((ajv.errors ?? []).map((error) => error.instancePath))]
  const innermost = places.filter((place) => !places.some((other) => other.startsWith(`${place}/`)))
  return innermost.map((pointer) => {
    const steps = pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    let value: unknown = declared
    let place = path
    for (const step of steps) {
      place = Array.isArray(value) ? item(place, Number(step)) : at(place, step)
      value = isObject(value) || Array.isArray(value) ? Reflect.get(value, step) : undefined
    }
    return formProblem(place, steps.findLast((step) => !/^\d+$/.test(step)) ?? '', value)
  })
}

function formProblem(path: string, keyword: string, value: unknown): Problem {
  if (keyword === 'type') {
    const name = typeof value === 'string' ? value.toLowerCase() : ''
    if (name === 'decimal') {
      const remedy = 'Make it a field of its own: objects, arrays and alternatives hold no decimals.'
      return { path, message: 'is a decimal within another value', remedy }
    }
    const hinted = Object.hasOwn(formatHints, name)
      ? `Write type: string and format: ${formatHints[name]}.`
      : Object.hasOwn(typeHints, name)
        ? `Did you mean "${typeHints[name]}"?`
        : suggest(name, types)
    return { path, message: `is not a JSON type: ${show(value)}`, remedy: hinted }
  }
  const form = forms.get(keyword)
  if (form === undefined)
    return { path, message: `cannot be ${show(value)}`, remedy: 'Write what JSON Schema 2020-12 asks here.' }
  return { path, message: mustBe(`${form}`, value), remedy: `Write ${form}.` }
}

const bounds = [
  ['minLength', 'maxLength'], ['minItems', 'maxItems'], ['minProperties', 'maxProperties'], ['minimum', 'maximum'],
] as const // biome-ignore format: one row reads best

/** Well-formed keywords that allow no value. */
function contradictions(declared: Schema, path: string): Problem[] {
  const problems: Problem[] = []
  for (const [least, most] of bounds) {
    if ((declared[least] as number) > (declared[most] as number)) {
      const message = `is ${declared[least]}, and ${most} is ${declared[most]}: no value fits both`
      problems.push({ path: at(path, least), message, remedy: `Write at most ${declared[most]}, or raise ${most}.` })
    }
  }
  if (!Array.isArray(declared.enum)) return problems
  const place = at(path, 'enum')
  const twice = declared.enum.find((value, index) => (declared.enum as unknown[]).indexOf(value) !== index)
  if (declared.enum.length === 0)
    problems.push({ path: place, message: 'allows nothing', remedy: 'List the values allowed.' })
  else if (twice !== undefined) {
    problems.push({ path: place, message: `has ${show(twice)} twice`, remedy: 'Remove one of the two.' })
  }
  return problems
}

// The validator of meta-schemas takes long to make, and most schemas consist of everyday keywords in their everyday
// form.
const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const isAnything = () => true

const plain: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['type', (value) => value === 'null' || types.includes(value as string)],
  ...alike(isText, 'title description format'),
  ...alike(isNumber, 'minimum maximum exclusiveMinimum exclusiveMaximum'),
  ...alike(isCount, 'minLength maxLength minItems maxItems minProperties maxProperties'),
  ...alike(Array.isArray, 'enum examples'),
  ...alike(isAnything, 'default const'),
  ...alike((value) => typeof value === 'boolean', 'uniqueItems readOnly writeOnly deprecated additionalProperties'),
  ['items', (value) => isObject(value) && isPlain(value)],
  ['properties', (value) => isObject(value) && Object.values(value).every((each) => isObject(each) && isPlain(each))],
  ['required', (value) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length],
])

// Keywords with a meaning for the meta-schema; it ignores unknown words.
const others = new Set(
  '$id $schema $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment $defs $recursiveRef $recursiveAnchor \
allOf anyOf oneOf not if then else dependentSchemas dependentRequired dependencies definitions prefixItems \
contains minContains maxContains patternProperties propertyNames unevaluatedItems unevaluatedProperties multipleOf \
pattern contentEncoding contentMediaType contentSchema'.split(' '),
)

/** Whether the meta-schema certainly accepts a schema; `false`: unknown. */
export function isPlain(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(schema).every(([keyword, value]) => {
    const fits = plain.get(keyword)
    return fits === undefined ? !others.has(keyword) : fits(value)
  })
}

function alike(fits: (value: unknown) => boolean, keywords: string): [string, (value: unknown) => boolean][] {
  return keywords.split(' ').map((keyword) => [keyword, fits])
}
