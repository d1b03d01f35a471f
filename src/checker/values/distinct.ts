/** Values that must differ from record to record. */
import { randomInt, randomUUID } from 'node:crypto'
import { type Schema, withAllDigits } from './generate.ts'
import { countMatching, textMatching } from './pattern.ts'

/** A value unlike others that is as good as this one: an e-mail address stays one. */
export function distinct(value: unknown, turn: number, schema: Schema = {}): unknown {
  if (typeof value === 'number') return numberUnlike(schema)
  const text = String(value)
  const { pattern, format, maxLength } = schema
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY
  if (format === 'decimal') return decimalUnlike(schema) ?? text
  if (typeof pattern === 'string') return textMatching(pattern, Math.random, { most }) ?? text
  if (format === 'uuid') return randomUUID()
  const suffix = `${Date.now().toString(36)}${turn}`
  const at = text.indexOf('@')
  if (at > 0)
    return `${text.slice(0, Math.min(at, most - (text.length - at) - suffix.length - 1))}+${suffix}${text.slice(at)}`
  if (/^https?:/.test(text)) return `${text.replace(/\/$/, '')}/${suffix}`
  return text.length + suffix.length + 1 <= most
    ? `${text}-${suffix}`
    : `${text.slice(0, Math.max(0, most - suffix.length))}${suffix.slice(-most)}`
}

/** Whether so few values are possible that they soon meet those of others. */
export function isNarrow({ pattern, maxLength, maximum, minimum }: Schema): boolean {
  if (typeof pattern === 'string') return countMatching(pattern) !== Number.POSITIVE_INFINITY
  if (typeof maxLength === 'number' && maxLength < 8) return true
  return typeof maximum === 'number' && maximum - Number(minimum ?? 0) < 100_000
}

/** Digits of the pattern within the bounds that stand beside it; `undefined`: none were found. */
function decimalUnlike(schema: Schema): string | undefined {
  const { pattern, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  const isFit = new RegExp(String(pattern ?? ''), 'u')
  for (let turn = 0; turn < 50; turn++) {
    const made = turn % 2 === 0 ? String(numberUnlike(schema)) : textMatching(String(pattern ?? ''), Math.random, {})
    const text = withAllDigits(made ?? '', schema)
    if (!isFit.test(text)) continue
    if (Number(text) > Number(minimum) && Number(text) < Number(maximum)) return text
  }
  return undefined
}

function numberUnlike({ minimum, maximum, multipleOf }: Schema): number {
  const least = typeof minimum === 'number' ? Math.ceil(minimum) : 1
  // Many servers keep integers in 32 bits.
  const most = typeof maximum === 'number' ? Math.floor(maximum) : Math.max(least + 1, 2 ** 31 - 1)
  const step = typeof multipleOf === 'number' && multipleOf >= 1 ? multipleOf : 1
  const number = least >= most ? least : randomInt(least, Math.min(most, least + 2 ** 47) + 1)
  return Math.ceil(number / step) * step
}
