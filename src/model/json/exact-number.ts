/** Whether a JSON number survives: as a double it must stand for the decimal value that was written. */

/** A decimal value: `0.<digits> × 10^exponent`, digits without zeros at either end. Zero has no digits. */
interface Decimal {
  readonly digits: string
  readonly exponent: number
}

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
  const written = decimal(literal)
  const kept = decimal(shortest)
  return written.digits === kept.digits && (written.digits === '' || written.exponent === kept.exponent)
}

function decimal(literal: string): Decimal {
  const start = literal.startsWith('-') ? 1 : 0
  const mark = literal.search(/[eE]/)
  const mantissa = mark === -1 ? literal.slice(start) : literal.slice(start, mark)
  const point = mantissa.indexOf('.')
  const digits = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1)
  let first = 0
  let last = digits.length
  while (first < last && digits[first] === '0') first++
  while (last > first && digits[last - 1] === '0') last--
  const shift = (point === -1 ? mantissa.length : point) - first
  return { digits: digits.slice(first, last), exponent: shift + (mark === -1 ? 0 : Number(literal.slice(mark + 1))) }
}
