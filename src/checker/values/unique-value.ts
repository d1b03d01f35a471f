/** Generates values for unique members. */
import { randomInt, randomUUID } from 'node:crypto'
import { type Schema, withAllDigits } from './generate.ts'
import { countMatching, textMatching } from './pattern.ts'

/**
 * A value that probably no other record has, as valid as a given one: an e-mail address stays one.
 *
 * @param turn tells values apart that are generated in the same millisecond
 */
export function uniqueValue(value: unknown, turn: number, schema: Schema = {}): unknown {
  if (typeof value === 'number') return randomNumber(schema)
  const text = String(value)
  const { pattern, format, maxLength } = schema
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY
  if (format === 'decimal') return randomDecimal(schema) ?? text
  if (typeof pattern === 'string') return textMatching(pattern, Math.random, { most }) ?? text
  if (format === 'uuid') return randomUUID()
  const suffix = `${Date.now().toString(36)}${turn}`
  const at = text.indexOf('@')
  if (at > 0) {
    const kept = Math.min(at, most - (text.length - at) - suffix.length - 1)
    return `${text.slice(0, kept)}+${suffix}${text.slice(at)}`
  }
  if (/^https?:/.test(text)) return `${text.replace(/\/$/, '')}/${suffix}`
  return text.length + suffix.length + 1 <= most
    ? `${text}-${suffix}`
    : `${text.slice(0, Math.max(0, most - suffix.length))}${suffix.slice(-most)}`
}

/** Whether a schema admits so few values that generated ones soon repeat. */
export function isNarrow({ pattern, maxLength, maximum, minimum }: Schema): boolean {
  if (typeof pattern === 'string') return countMatching(pattern) !== Number.POSITIVE_INFINITY
  if (typeof maxLength === 'number' && maxLength < 8) return true
  return typeof maximum === 'number' && maximum - Number(minimum ?? 0) < 100_000
}

/**
 * A decimal as text that matches the pattern of a schema, within the bounds for numbers; `undefined` if none was found.
 */
function randomDecimal(schema: Schema): string | undefined {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  const pattern = String(schema['pattern'] ?? '')
  for (let turn = 0; turn < 50; turn++) {
    const digits = turn % 2 === 0 ? String(randomNumber(schema)) : textMatching(pattern, Math.random)
    const text = withAllDigits(digits ?? '', schema)
    const isWithin = Number(text) > Number(minimum) && Number(text) < Number(maximum)
    if (isWithin && new RegExp(pattern, 'u').test(text)) return text
  }
  return undefined
}

function randomNumber({ minimum, maximum, multipleOf }: Schema): number {
  const least = typeof minimum === 'number' ? Math.ceil(minimum) : 1
  // Many servers keep integers in 32 bits.
  const most = typeof maximum === 'number' ? Math.floor(maximum) : Math.max(least + 1, 2 ** 31 - 1)
  const step = typeof multipleOf === 'number' && multipleOf >= 1 ? multipleOf : 1
  const number = least >= most ? least : randomInt(least, Math.min(most, least + 2 ** 47) + 1)
  return Math.ceil(number / step) * step
}
