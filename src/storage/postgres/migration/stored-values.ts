/** Stored values as JavaScript has them, and back, by their texts: no number is changed on the way. */

import { convertValue } from '../../migration/convert.ts'
import type { Held } from '../../sql/table-spec.ts'
import { postgres } from '../engine.ts'

/**
 * A value by the text that PostgreSQL has for it.
 *
 * @returns integers beyond 2^53 as `bigint`
 */
export function storedValue(text: string, holds: Held): unknown {
  switch (holds) {
    case 'integer':
      return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
    case 'number':
      return Number(text)
    case 'boolean':
      return text === 'true'
    case 'array':
    case 'object':
    case 'json':
      return JSON.parse(text)
    default:
      // Texts, and decimals: the text that they have in JSON.
      return text
  }
}

/** The text by which PostgreSQL stores a value of a field. */
export function storedText(value: unknown, holds: Held): string | null {
  const stored = postgres.store(value, holds)
  return stored === null ? null : String(stored)
}

/** The text of a value as another type has it; `null` where it cannot be converted exactly. */
export function convertText(text: string, from: Held, to: Held): string | null {
  const converted = convertValue(storedValue(text, from), to, from)
  if (converted === undefined) return null
  // JSON text stays as it is: printing it again could change how its numbers are written.
  return isJson(from) && isJson(to) ? text : storedText(converted, to)
}

function isJson(holds: Held): boolean {
  return holds === 'array' || holds === 'object' || holds === 'json'
}
