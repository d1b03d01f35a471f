/** Whether a JSON number survives: as a double it must stand for the decimal value that was written. */

import { decimalOf } from '../decimal.ts'

/**
 * Whether a double keeps the value of a JSON number. An integer written out must lie within ±(2^53 - 1), where doubles
 * count by ones; any other number must have the decimal value of the shortest text of its double, so that it is
 * written as it was read. What overflows, or vanishes into zero, is not kept.
 *
 * @param literal a number as RFC 8259 section 6 writes it
 */
export function isKeptExactly(literal: string): boolean {
  const value = Number(literal)
  if (!Number.isFinite(value)) return false
  if (!/[.eE]/.test(literal)) return Number.isSafeInteger(value)
  const shortest = String(value)
  if (shortest === literal) return true
  const written = decimalOf(literal)
  const kept = decimalOf(shortest)
  return written.digits === kept.digits && (written.digits === '' || written.exponent === kept.exponent)
}
