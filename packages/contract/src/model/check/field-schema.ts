/**
 * Checks the JSON Schema of a field: known keywords of the right form, values that fit them, no contradictions, no
 * patterns that backtrack so long that one value blocks the server, and a valid default. Of decimals, the precision and
 * scale, and bounds that such decimals can meet.
 */

import { createRequire } from 'node:module'
import type * as recheck from 'recheck'
import { textOf } from '../../spec/faults.ts'
import { oneOf } from '../../spec/words.ts'
import {
  compileDecimal,
  type DecimalForm,
  decimalKeyOf,
  decimalLists,
  decimalOf,
  decimalWords,
  mostDigits,
  readDecimal,
} from '../decimal.ts'
import { isFieldWord, type Schema } from '../field.ts'
import { nearest, suggest } from '../nearest.ts'
import { isObject } from '../plain-copy.ts'
import { ajv, compileField, type ValidateValue } from '../schema.ts'
import { types } from '../schema-keywords.ts'
import { parts } from '../structure/declaration-schema.ts'
import type { Node } from '../structure-node.ts'
import { type FieldView, own, type Part, show } from './parts.ts'
import { checkStructure } from './structure.ts'

// Keywords by what they hold: a schema, an array of schemas, or an object of schemas.
const innerKeywords = Object.entries(parts['schema']?.properties ?? {})
const isInner = (node: Node | false | undefined) => node !== undefined && node !== false && node.$ref !== undefined
const holdsSchema = innerKeywords.flatMap(([keyword, node]) => (isInner(node) ? [keyword] : []))
const holdsList = innerKeywords.flatMap(([keyword, { items }]) => (isInner(items) ? [keyword] : []))
const holdsMap = innerKeywords.flatMap(([keyword, node]) => (isInner(node.additionalProperties) ? [keyword] : []))

/**
 * Checks the schema of a field and its default.
 *
 * @returns whether the schema is sound, so that its type is known
 */
export function checkFieldSchema(field: FieldView): boolean {
  const validate = soundValidator(field)
  if (validate !== undefined) checkDefault(field, validate)
  return validate !== undefined
}

/** The validator of a field; `undefined`: its schema has mistakes. */
function soundValidator(field: FieldView): ValidateValue | undefined {
  const { name, part, shape } = field
  const { findings } = part
  const before = findings.length
  checkStructure(part, parts['field'] as Node)
  if (shape.type === 'decimal') {
    checkDecimal(field)
    return findings.length > before ? undefined : compileDecimal(name, shape.schema)
  }
  checkKeywords(part, true)
  if (findings.length === before) checkContradictions(part.as(shape.schema))
  return findings.length > before ? undefined : compile(field)
}

/** Walks through a schema: finds unknown keywords, unknown formats, slow patterns, and values that are not JSON. */
function checkKeywords(schema: Part, isField: boolean): void {
  for (const [word, keyword] of schema.entries()) {
    const { value, text } = keyword
    // The default is checked with the validator.
    if (isField && (word === 'default' || isFieldWord(word))) continue
    if (word === 'type') checkType(keyword)
    else if (word === 'enum') checkEnum(keyword)
    else if (word === 'format' && typeof value === 'string' && !Object.hasOwn(ajv.formats, value)) {
      keyword.unknown(`is not a known format: ${show(value)}`, Object.keys(ajv.formats))
    } else if (word === 'pattern' && wrongPattern(text) !== undefined) {
      const remedy = 'Write a regular expression that the flag u allows.'
      keyword.report(`is no regular expression: ${wrongPattern(text)}`, remedy)
    } else if (word === 'pattern' && isSlow(text, schema.record['maxLength'], isField)) {
      keyword.report('can take for ever on a hostile text', slowRemedy(text, isField))
    } else if (word === 'patternProperties' && slowKey(keyword.record) !== undefined) {
      const key = slowKey(keyword.record) as string
      const remedy = slowRemedy(key, false).replace(/, or write .*/, '.')
      keyword.key(key).report('can take for ever on a hostile key', remedy)
    } else if (!isJson(value)) keyword.report('is not JSON', 'Write a JSON value.')
    else for (const inner of schemasIn(word, keyword)) checkKeywords(inner, false)
  }
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

function schemasIn(word: string, keyword: Part): Part[] {
  const parts = holdsSchema.includes(word)
    ? [keyword]
    : holdsList.includes(word)
      ? keyword.items()
      : holdsMap.includes(word)
        ? keyword.entries().map(([, each]) => each)
        : []
  return parts.filter((part) => isObject(part.value))
}

function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson)
  if (isObject(value)) return Object.values(value).every(isJson)
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

function compile({ name, part, declared, shape }: FieldView): ValidateValue | undefined {
  if (shape.schema.type === 'null' || ('const' in shape.schema && shape.schema.const === null)) {
    part.report('could never have a value: its schema allows only null', 'Write the type that its values have.')
    return undefined
  }
  try {
    return compileField(name, shape, typeof declared.reference === 'string' ? declared.reference : undefined)
  } catch (error) {
    reportCompilation(part, error instanceof Error ? error.message : String(error))
    return undefined
  }
}

/** Reports an error of ajv's strict mode or compiler in the words of a declaration. */
function reportCompilation(schema: Part, message: string): void {
  const misplaced = /missing type "?([\w,]+)"? for keyword "(\w+)"/.exec(message)
  const lost = /can't resolve reference (\S+)/.exec(message)
  if (misplaced !== null) {
    const [, types = '', keyword = ''] = misplaced
    const part = Object.hasOwn(schema.record, keyword) ? schema.key(keyword) : schema
    const remedy = `Write type: ${oneOf(types.split(','))}, or remove "${keyword}".`
    part.report(`"${keyword}" says nothing about a value of this type`, remedy)
  } else if (lost !== null)
    schema.report(`refers to ${lost[1]}, which is not in its schema`, 'Write a pointer such as "#/$defs/name".')
  else {
    const reason = message.replace(/^strict mode: /, '').replace(/ at "#.*$/, '')
    schema.report(`is no usable JSON Schema: ${reason}`, 'Correct the schema.')
  }
}

function checkDefault({ part, shape }: FieldView, validate: ValidateValue): void {
  const declared = part.key('default')
  const { value } = declared
  // A value that the server finds is checked with `set`.
  if (declared.isAbsent || shape.serverDefault !== undefined) return
  if (value === null) {
    if (shape.optional) return
    declared.report('is null, and the field must have a value', 'Write "optional": true, or another default.')
    return
  }
  if (!isJson(value)) {
    declared.report('is not JSON', 'Write a JSON value.')
    return
  }
  const [first] = validate(value)
  if (first === undefined) return
  const near = typeof value === 'string' ? nearest(value, shape.enum ?? []) : undefined
  const remedy = near === undefined ? 'Write a default that the schema accepts.' : `Did you mean "${near}"?`
  declared.report(`is refused by its own schema: ${show(value)} ${textOf(first)}`, remedy)
}

const typeHints: Readonly<Record<string, string>> = {
  text: 'string', str: 'string', varchar: 'string', int: 'integer', bigint: 'integer', long: 'integer', float: 'number',
  double: 'number', bool: 'boolean', list: 'array', map: 'object',
} // biome-ignore format: one row reads best
const formatHints: Readonly<Record<string, string>> = {
  date: 'date', datetime: 'date-time', 'date-time': 'date-time', timestamp: 'date-time', uuid: 'uuid', email: 'email',
  time: 'time', uri: 'uri', url: 'uri',
} // biome-ignore format: one row reads best

function checkType(keyword: Part): void {
  const named = Array.isArray(keyword.value) && keyword.value.length > 0 ? keyword.items() : [keyword]
  const twice = named.find(({ value }, index) => named.findIndex((each) => each.value === value) < index)
  if (twice !== undefined) keyword.report(`has ${show(twice.value)} twice`, 'Remove one of the two.')
  for (const type of named) if (type.value !== 'null' && !types.some((each) => each === type.value)) reportType(type)
}

function checkEnum(keyword: Part): void {
  if (!Array.isArray(keyword.value)) keyword.mustBe('an array of values', 'Write an array of values.')
  else if (!isJson(keyword.value)) keyword.report('is not JSON', 'Write a JSON value.')
}

function reportType(type: Part): void {
  const name = type.text.toLowerCase()
  if (name === 'decimal') {
    const remedy = 'Make it a field of its own: objects, arrays and alternatives hold no decimals.'
    type.report('is a decimal within another value', remedy)
    return
  }
  const format = own(formatHints, name)
  const hint = own(typeHints, name)
  const remedy = hint === undefined ? suggest(name, types) : `Did you mean "${hint}"?`
  if (name === 'json' || name === 'any') {
    type.report(`is not a JSON type: ${show(type.value)}`, 'Leave "type" out for any JSON value, or write "object".')
    return
  }
  const hinted = format === undefined ? remedy : `Write type: string and format: ${format}.`
  type.report(`is not a JSON type: ${show(type.value)}`, hinted)
}

const bounds = [
  ['minLength', 'maxLength'], ['minItems', 'maxItems'], ['minProperties', 'maxProperties'], ['minimum', 'maximum'],
] as const // biome-ignore format: one row reads best

/** Well-formed keywords that allow no value. */
function checkContradictions(schema: Part): void {
  const declared = schema.record
  for (const [least, most] of bounds) {
    if ((declared[least] as number) > (declared[most] as number)) {
      const message = `is ${declared[least]}, and ${most} is ${declared[most]}: no value fits both`
      schema.key(least).report(message, `Write at most ${declared[most]}, or raise ${most}.`)
    }
  }
  const { value: values } = schema.key('enum')
  if (!Array.isArray(values)) return
  const twice = values.find((value, index) => values.indexOf(value) !== index)
  if (values.length === 0) schema.key('enum').report('allows nothing', 'List the values allowed.')
  else if (twice !== undefined) schema.key('enum').report(`has ${show(twice)} twice`, 'Remove one of the two.')
}

// Loading the analysis takes a tenth of a second, and most declarations have only plain patterns.
const load = (): Pick<typeof recheck, 'checkSync'> => createRequire(import.meta.url)('#recheck')

/**
 * How long the analysis of one pattern may take, in milliseconds. A pattern that takes longer is accepted.
 */
const patience = 2_000

// A sequence of atoms with fixed counts, and one repetition at the end: if anchored, it never backtracks.
const atom = String.raw`(?:[^\\^$.*+?()[\]{}|]|\.|\\[dDwWsS.\-/]|\[\^?(?:[^\]\\]|\\.)+\])(?:\{\d{1,3}\})?`
const linear = new RegExp(`^\\^(?:${atom})*(?:${atom}(?:[*+]|\\{\\d{1,3},\\d{0,4}\\})?)?\\$?$`)

const known = new Map<string, number>()

/** The worst-case time of a pattern, as a power of the text's length; `Infinity`: exponential. */
export function worstPower(pattern: string): number {
  const found = known.get(pattern) ?? analyze(pattern)
  known.set(pattern, found)
  return found
}

function analyze(pattern: string): number {
  if (linear.test(pattern)) return 1
  const diagnostics = load().checkSync(pattern, 'u', { timeout: patience })
  if (diagnostics.status !== 'vulnerable') return 1
  const { complexity } = diagnostics
  return complexity.type === 'exponential' ? Number.POSITIVE_INFINITY : complexity.degree
}

// Character comparisons for one value, and for all values of one body: each a fraction of a second.
const mostForValue = 2e7
const mostForBody = 3e8
const bodyBytes = 1_048_576

/**
 * The longest text that a pattern may be tried on.
 *
 * @param power the result of `worstPower`
 * @param repeated whether one body may have many such texts, such as items of a list
 * @returns `Infinity`: any length; 0: none
 */
export function longestText(power: number, repeated: boolean): number {
  if (power <= 1) return Number.POSITIVE_INFINITY
  if (!Number.isFinite(power)) return 0
  const most = repeated ? (mostForBody / bodyBytes) ** (1 / (power - 1)) : mostForValue ** (1 / power)
  return Math.floor(most)
}

const others = ['type', 'precision', 'scale', 'title', 'description', 'deprecated', 'readOnly', 'writeOnly', '$comment']
const keywords: readonly string[] = [...others, ...decimalWords, ...decimalLists]

/** Checks a decimal field, except for its default. */
function checkDecimal({ part, shape }: FieldView): void {
  if (shape.decimal === undefined) {
    part.report('has decimals among alternatives', 'Write "type": "decimal" at the field itself.')
    return
  }
  for (const [word, keyword] of part.entries()) {
    if (keywords.includes(word) || isFieldWord(word)) continue
    keyword.report('says nothing about a decimal', `Remove "${word}".`)
  }
  const schema = part.as(shape.schema)
  if (!checkForm(schema)) return
  const before = part.findings.length
  for (const word of decimalWords) {
    if (word !== 'default' && !schema.key(word).isAbsent) checkNumber(schema.key(word), shape.decimal)
  }
  for (const word of decimalLists) checkList(schema.key(word), shape.decimal)
  if (part.findings.length === before) checkBounds(schema)
}

function checkForm(schema: Part): boolean {
  const [precision, scale] = [schema.key('precision'), schema.key('scale')]
  const isCount = (value: unknown, least: number, most: number) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
  const isPrecise = isCount(precision.value, 1, mostDigits)
  if (!isPrecise) {
    const remedy = 'Write how many digits values have at most, such as 12.'
    precision.mustBe(`a whole number from 1 to ${mostDigits}`, remedy)
  }
  const most = isPrecise ? Number(precision.value) : mostDigits
  if (isCount(scale.value, 0, most)) return isPrecise
  const wanted = `a whole number from 0 to ${isPrecise ? 'the precision' : mostDigits}`
  scale.mustBe(wanted, 'Write the number of digits after the decimal point, such as 2.')
  return false
}

function checkNumber(part: Part, form: DecimalForm): void {
  const { value } = part
  // A double keeps 15 digits of every number; more digits may have changed.
  if (typeof value === 'number' && decimalOf(String(value)).digits.length > 15) {
    part.report(`may not be the number that was written: ${show(value)}`, 'Write it in quotes.')
    return
  }
  const [issue] = compileDecimal('', { type: 'decimal', ...form })(value)
  if (issue === undefined) return
  const { precision, scale } = form
  const whole = '1'.padEnd(Math.min(2, precision - scale), '9') || '0'
  const example = `"${whole}${scale > 0 ? `.${'9'.repeat(Math.min(2, scale))}` : ''}"`
  part.report(`${show(value)} ${textOf(issue)}`, `Write a decimal of the field's form, such as ${example}.`)
}

function checkList(list: Part, form: DecimalForm): void {
  if (list.isAbsent) return
  if (!Array.isArray(list.value) || list.value.length === 0) {
    list.mustBe('an array of decimals', 'Write ["9.90", "19.90"].')
    return
  }
  const seen = new Set<string>()
  for (const each of list.items()) {
    checkNumber(each, form)
    const key = decimalKeyOf(each.value) ?? ''
    if (seen.has(key)) list.report(`has ${show(each.value)} twice`, 'Remove one of the two.')
    seen.add(key)
  }
}

function checkBounds(schema: Part): void {
  const { record } = schema
  const step = schema.key('multipleOf')
  const read = readDecimal(step.value)
  if (read !== undefined && (read.negative || read.digits === '')) {
    step.mustBe('a decimal above 0', 'Write one such as "0.05".')
  }
  for (const least of ['minimum', 'exclusiveMinimum']) {
    for (const most of ['maximum', 'exclusiveMaximum']) {
      const [low, high] = [decimalKeyOf(record[least]), decimalKeyOf(record[most])]
      if (low === undefined || high === undefined) continue
      const isOpen = least !== 'minimum' || most !== 'maximum'
      if (low < high || (low === high && !isOpen)) continue
      const message = `is ${record[least]}, and ${most} is ${record[most]}: no value fits both`
      schema.key(least).report(message, `Write less than ${record[most]}, or raise ${most}.`)
    }
  }
}
