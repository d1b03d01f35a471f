/** Checks the JSON Schema of a field: known keywords, values that fit them, and a valid default. */

import { compileDecimal } from '../decimal.ts'
import { fieldWords, isFieldWord, type Schema } from '../field.ts'
import { nearest, oneOf, suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { isObject } from '../plain-copy.ts'
import { ajv, compileInteger, compileReference, compileSchema, type ValidateValue } from '../schema.ts'
import { checkDecimal } from './decimals.ts'
import { type FieldView, own } from './parts.ts'
import { type Report, show } from './problem.ts'
import { metaProblems } from './schema-form.ts'
import { longestText, worstPower } from './slow-pattern.ts'

const holdsSchema = [
  'items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'unevaluatedItems',
  'unevaluatedProperties', 'contentSchema',
] // biome-ignore format: one row reads best
const holdsList = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const holdsMap = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']
const others = [
  'type', 'enum', 'const', 'minLength', 'maxLength', 'pattern', 'format', 'minimum', 'maximum', 'exclusiveMinimum',
  'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains',
  'minProperties', 'maxProperties', 'required', 'dependentRequired', 'title', 'description', 'default', 'examples',
  'deprecated', 'readOnly', 'writeOnly', 'contentMediaType', 'contentEncoding', '$id', '$schema', '$ref', '$anchor',
  '$dynamicRef', '$dynamicAnchor', '$comment',
] // biome-ignore format: one row reads best
const keywords = [...holdsSchema, ...holdsList, ...holdsMap, ...others]

const hints: Readonly<Record<string, string>> = {
  nullable: 'Write "optional": true.',
  required: 'Every field is required unless it says "optional": true.',
  index: 'Write "filter": true or "sort": true: each keeps an index.',
  references: 'Write "reference": the name of the collection.',
  values: 'Write "enum": the list of values.',
  precision: 'Write "type": "decimal" with it, or remove it.',
  scale: 'Write "type": "decimal" with it, or remove it.',
  example: 'Write "examples": [ … ].',
  additionalItems: 'Write "prefixItems" for the first items and "items": false for the rest.',
}

/**
 * Checks the schema of a field and its default.
 *
 * @returns whether the schema is sound, so that its type is known
 */
export function checkFieldSchema(report: Report, field: FieldView): boolean {
  let sound = true
  const unsound: Report = (path, message, remedy) => {
    sound = false
    report(path, message, remedy)
  }
  if (field.shape.type === 'decimal') {
    checkDecimal(unsound, field)
    if (sound) checkDefault(report, field, compileDecimal(field.name, field.shape.schema))
    return sound
  }
  const { default: _, ...schema } = field.declared
  if (!checkKeywords(unsound, field.path, schema, true)) return false
  for (const problem of metaProblems(field.shape.schema, field.path))
    unsound(problem.path, problem.message, problem.remedy)
  if (!sound) return false
  const validate = compile(unsound, field)
  if (validate !== undefined) checkDefault(report, field, validate)
  return sound
}

/** Walks through a schema: finds unknown keywords, unknown formats, slow patterns, and values that are not JSON. */
function checkKeywords(report: Report, path: string, schema: Schema, isField: boolean): boolean {
  let sound = true
  const unsound: Report = (...problem) => {
    sound = false
    report(...problem)
  }
  for (const [word, value] of Object.entries(schema)) {
    const place = at(path, word)
    if (isField && isFieldWord(word)) continue
    if (isField && word === 'required' && typeof value === 'boolean')
      unsound(place, 'is not how a field is required', hints.required!)
    else if (!keywords.includes(word)) {
      const remedy =
        (own(hints, word) as string) ?? suggest(word, isField ? [...keywords, ...fieldWords] : keywords, noKeyword)
      unsound(
        place,
        isField ? 'is not a word of a field, nor of JSON Schema 2020-12' : 'is not a word of JSON Schema 2020-12',
        remedy,
      )
    } else if (word === 'format' && typeof value === 'string' && !Object.hasOwn(ajv.formats, value)) {
      unsound(place, `is not a known format: ${show(value)}`, suggest(value, Object.keys(ajv.formats)))
    } else if (word === 'pattern' && typeof value === 'string' && wrongPattern(value) !== undefined) {
      unsound(
        place,
        `is no regular expression: ${wrongPattern(value)}`,
        'Write a regular expression that the flag u allows.',
      )
    } else if (word === 'pattern' && typeof value === 'string' && isSlow(value, schema.maxLength, isField)) {
      unsound(place, 'can take for ever on a hostile text', slowRemedy(value, isField))
    } else if (word === 'patternProperties' && isObject(value) && slowKey(value) !== undefined) {
      const key = slowKey(value) as string
      unsound(
        at(place, key),
        'can take for ever on a hostile key',
        slowRemedy(key, false).replace(/, or write .*/, '.'),
      )
    } else if (!isJson(value)) unsound(place, 'is not JSON', 'Write what JSON can hold.')
    else
      for (const [inner, part] of schemasIn(word, value, place))
        sound = checkKeywords(report, inner, part, false) && sound
  }
  return sound
}

/** Whether a pattern takes too long on a text that the schema allows. */
function isSlow(pattern: string, maxLength: unknown, isField: boolean): boolean {
  const longest = longestText(worstPower(pattern), !isField)
  return (typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY) > longest
}

function slowKey(schemas: Schema): string | undefined {
  return Object.keys(schemas).find((key) => wrongPattern(key) === undefined && isSlow(key, undefined, false))
}

function slowRemedy(pattern: string, isField: boolean): string {
  const longest = longestText(worstPower(pattern), !isField)
  const rewrite = 'Rewrite it so that no text can be split among its repetitions in two ways'
  return longest < 1 ? `${rewrite}.` : `${rewrite}, begin it with ^, or write "maxLength": ${longest} or less.`
}

/** Why a pattern is not a regular expression with the flag u; `undefined`: it is one. */
function wrongPattern(pattern: string): string | undefined {
  try {
    new RegExp(pattern, 'u')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : String(error)
  }
}

const noKeyword = 'Remove it, or see the keywords of JSON Schema 2020-12.'

function schemasIn(word: string, value: unknown, path: string): [string, Schema][] {
  if (holdsSchema.includes(word)) return isObject(value) ? [[path, value]] : []
  if (holdsList.includes(word) && Array.isArray(value)) {
    return value.flatMap((each, index): [string, Schema][] => (isObject(each) ? [[item(path, index), each]] : []))
  }
  if (!holdsMap.includes(word) || !isObject(value)) return []
  return Object.entries(value).flatMap(([key, each]): [string, Schema][] =>
    isObject(each) ? [[at(path, key), each]] : [],
  )
}

function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson)
  if (isObject(value)) return Object.values(value).every(isJson)
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

function compile(report: Report, { name, path, declared, shape }: FieldView): ValidateValue | undefined {
  if (shape.schema.type === 'null' || ('const' in shape.schema && shape.schema.const === null)) {
    report(path, 'could never have a value: its schema allows only null', 'Write the type that its values have.')
    return undefined
  }
  try {
    if (typeof declared.reference === 'string') return compileReference(name, shape.schema, declared.reference)
    return shape.type === 'integer' ? compileInteger(name, shape.schema) : compileSchema(name, shape.schema)
  } catch (error) {
    reportCompilation(report, path, declared, error instanceof Error ? error.message : String(error))
    return undefined
  }
}

/** Reports an error of ajv's strict mode or compiler in the words of a declaration. */
function reportCompilation(report: Report, path: string, declared: Schema, message: string): void {
  const misplaced = /missing type "?([\w,]+)"? for keyword "(\w+)"/.exec(message)
  const lost = /can't resolve reference (\S+)/.exec(message)
  if (misplaced !== null) {
    const [, types = '', keyword = ''] = misplaced
    const place = keyword in declared ? at(path, keyword) : path
    report(
      place,
      `"${keyword}" says nothing about a value of this type`,
      `Write type: ${oneOf(types.split(','))}, or remove "${keyword}".`,
    )
  } else if (lost !== null)
    report(path, `refers to ${lost[1]}, which is not in its schema`, 'Write a pointer such as "#/$defs/name".')
  else
    report(
      path,
      `is no usable JSON Schema: ${message.replace(/^strict mode: /, '').replace(/ at "#.*$/, '')}`,
      'Correct the schema.',
    )
}

function checkDefault(report: Report, { path, declared, shape }: FieldView, validate: ValidateValue): void {
  if (declared.default === undefined) return
  const place = at(path, 'default')
  if (declared.default === null) {
    if (shape.optional) return
    report(place, 'is null, and the field must have a value', 'Write "optional": true, or another default.')
    return
  }
  const issues = isJson(declared.default) ? validate(declared.default) : []
  if (!isJson(declared.default)) report(place, 'is not JSON', 'Write what JSON can hold.')
  const [first] = issues
  if (first === undefined) return
  const near = typeof declared.default === 'string' ? nearest(declared.default, shape.enum ?? []) : undefined
  const remedy = near === undefined ? 'Write a default that the schema accepts.' : `Did you mean "${near}"?`
  report(place, `is refused by its own schema: ${show(declared.default)} ${first.message}`, remedy)
}
