/** Generates examples from schemas that are simple enough. */
import type { Json } from './components.ts'

const formats: Readonly<Record<string, string>> = {
  uuid: '0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11',
  'date-time': '2026-11-21T08:00:00.000Z',
  date: '2026-11-21',
  time: '08:00:00Z',
  email: 'someone@example.org',
  uri: 'https://example.org/',
  duration: 'P1D',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.org',
}

/**
 * A value that matches a schema; `undefined` for schemas with more than a few simple keywords.
 *
 * @param name the name of the value, from which texts are made
 */
export function exampleOf(schema: Json, name: string): unknown {
  if ('const' in schema) return schema.const
  const [given] = listOf(schema.examples)
  if (given !== undefined) return given
  if (schema.default !== undefined) return schema.default
  const [allowed] = listOf(schema.enum)
  if (allowed !== undefined) return allowed
  if (schema.format === 'decimal') {
    const number = 'multipleOf' in schema ? undefined : numberOf(schema, 'number')
    // With all digits, as in responses.
    const [, scale = '0'] = /\{1,(\d+)\}\)\?\$$/.exec(String(schema.pattern)) ?? []
    return number?.toFixed(Number(scale))
  }
  if (['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', 'pattern', 'multipleOf'].some((word) => word in schema))
    return undefined
  const type = listOf(schema.type)[0] ?? schema.type
  switch (type) {
    case 'string':
      return textOf(schema, name)
    case 'integer':
    case 'number':
      return numberOf(schema, type)
    case 'boolean':
      return true
    case 'array':
      return typeof schema.minItems === 'number' && schema.minItems > 0 ? undefined : []
    case 'object':
      return listOf(schema.required).length > 0 || 'minProperties' in schema ? undefined : {}
    default:
      return undefined
  }
}

/** An object with an example of each property; `undefined` if a required property has no example. */
export function exampleOfObject(schema: Json): Json | undefined {
  const made: Record<string, unknown> = {}
  const required = listOf(schema.required)
  for (const [name, property] of Object.entries(schema.properties as Record<string, Json>)) {
    const value = exampleOf(property, name)
    if (value !== undefined) made[name] = value
    else if (required.includes(name)) return undefined
  }
  return made
}

function textOf(schema: Json, name: string): string | undefined {
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  if (typeof format === 'string') return formats[format]
  const text = `Some ${name.replaceAll('_', ' ')}`
  const shortened = text.slice(0, Number(maxLength))
  return shortened.length >= Number(minLength) ? shortened : undefined
}

function numberOf(schema: Json, type: 'integer' | 'number'): number | undefined {
  const { minimum = 0, maximum = Number(minimum) + 1 } = schema
  if ('exclusiveMinimum' in schema || 'exclusiveMaximum' in schema) return undefined
  const value = type === 'integer' ? Math.ceil(Number(minimum)) : Number(minimum)
  if (value <= Number(maximum)) return value
  return type === 'integer' ? Math.floor(Number(maximum)) : Number(maximum)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
