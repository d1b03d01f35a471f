/** Bodies by chance, for a collection as a version shows it. */
import type { Field, Resource } from 'resourced-contract/model/resource'
import { pick, type Random } from '../durability/random.ts'
import type { Making, Place } from './drafts.ts'
import { formatted, integer, jsonText, real, text, wrongText } from './values.ts'

/** JSON text of a record to be made. `share` is how many of the optional fields are there. */
export function bodyOf(making: Making, { resource }: Place, without: readonly string[] = [], share?: number): string {
  const { random } = making
  if (random() < 0.01) return jsonText(random)
  const members: string[] = []
  const odds = share ?? pick(random, [0.2, 0.5, 0.9])
  for (const field of resource.fields) {
    const needed = share === undefined && field.required && field.default === undefined && !field.readOnly
    if (without.includes(field.name)) continue
    if (!needed && random() > odds) continue
    if (field.readOnly && random() > 0.03) continue
    members.push(`${JSON.stringify(field.name)}:${random() < 0.02 ? wrongText(random) : valueText(making, field)}`)
  }
  if (random() < 0.02) members.push(`"unknown":${jsonText(random)}`)
  if (random() < 0.3) members.reverse()
  return `{${members.join(pick(random, [',', ', ', ',\n']))}}`
}

/** JSON text of a JSON Patch (RFC 6902). */
export function patchOf(making: Making, { resource }: Place, current: Readonly<Record<string, unknown>>): string {
  const { random } = making
  const operations = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const field = pick(random, resource.fields)
    const path = `/${field.name}${field.type === 'array' || field.type === 'json' ? pick(random, ['', '/-', '/0', '/a']) : ''}`
    const op = pick(random, ['replace', 'replace', 'add', 'test', 'remove', 'copy', 'move'])
    if (op === 'copy' || op === 'move')
      return JSON.stringify({ op, from: `/${pick(random, resource.fields).name}`, path })
    if (op === 'remove') return JSON.stringify({ op, path })
    const value =
      op === 'test' && random() < 0.7 ? JSON.stringify(current[field.name] ?? null) : valueText(making, field)
    return `{"op":"${op}","path":${JSON.stringify(path)},"value":${value}}`
  })
  return `[${operations.join()}]`
}

/** JSON text of a condition on a collection's records. */
export function conditionText(making: Making, resource: Resource, depth = 2): string {
  const { random } = making
  if (depth > 0 && random() < 0.4) {
    const inner = () => conditionText(making, resource, depth - 1)
    return pick(random, [
      () => `{"not":${inner()}}`,
      () => `{"and":[${inner()},${inner()}]}`,
      () => `{"or":[${inner()},${inner()}]}`,
    ])()
  }
  const { name, field } = pick(random, resource.filterables)
  if (field === undefined) return `{"${name}":{"gt":"2026-01-01T00:00:20Z"}}`
  const value = valueText(making, field)
  const operator = pick(random, ['', 'in', 'not', 'null', 'gt', 'lte', 'contains', 'startsWith'])
  if (operator === '') return `{"${name}":${value}}`
  if (operator === 'null') return `{"${name}":{"null":${pick(random, ['true', 'false'])}}}`
  return `{"${name}":{"${operator}":${operator === 'in' ? `[${value}]` : value}}}`
}

/** JSON text of a value that a field mostly takes. */
export function valueText(making: Making, field: Field): string {
  const { random } = making
  if (!field.required && random() < 0.12) return 'null'
  switch (field.type) {
    case 'integer':
      return pick(random, [String, String, (value: number) => `${value}.0`])(integer(random))
    case 'number':
      return realText(random)
    case 'decimal':
      return decimalJson(random)
    case 'boolean':
      return pick(random, ['true', 'false'])
    case 'array':
      return `[${jsonText(random, 2)}, ${jsonText(random, 1)}]`
    case 'object':
      return `{ "b": ${jsonText(random, 2)},"a":${jsonText(random, 2)} }`
    case 'json':
      return jsonText(random)
    case 'string':
      return JSON.stringify(stringOf(making, field))
  }
}

/** JSON of a decimal: a text or a number, of few values and of many, and of some that fit no field. */
function decimalJson(random: Random): string {
  const digits = pick(random, [
    '0',
    '7',
    '19.9',
    '19.90',
    '-19.9',
    '0.01',
    '-0.05',
    '1000',
    '123456789012345678.5',
    '-0',
    '19.999',
    '1e2',
  ])
  return random() < 0.3 && digits.length < 12 ? digits : `"${random() < 0.5 ? digits : String(integer(random))}"`
}

function realText(random: Random): string {
  const value = real(random)
  if (Object.is(value, -0)) return '-0'
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value)
}

/** A text that a field mostly takes: an id, one of its few values, or anything. */
export function stringOf({ random, known }: Making, field: Field): string {
  if (field.reference !== undefined) return known.idOf(random, field.reference.collection) ?? 'x'
  if (field.enum !== undefined) return pick(random, field.enum)
  if (field.format !== undefined) return formatted(random, field.format)
  const found = text(random)
  // Search fields of much text; the others with a bound.
  return field.search || found.length < 8_000 ? found : [...found].slice(0, 100).join('')
}
