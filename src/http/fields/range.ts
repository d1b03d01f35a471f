/** `Range` in bytes (RFC 9110 section 14.2). */

/** An int-range: positions count from 0 and are inclusive; without `last` it extends to the end. */
export interface IntRange {
  readonly first: number
  readonly last: number | undefined
}

/** A suffix-range: the number of last bytes. */
export interface SuffixRange {
  readonly suffix: number
}

/** More ranges count as an attack (RFC 9110 section 17.15). */
export const mostRanges = 50

const unit = /^bytes=/i
const rangeSpec = /^(\d*)-(\d*)$/

/**
 * Reads the value of `Range`. A number too large for JavaScript is beyond every end, and may be `Infinity`.
 *
 * @returns the ranges in their order, or `undefined` where the field is to be ignored: another unit, anything malformed
 *   (one invalid range spoils them all), or more than `mostRanges`
 */
export function parseByteRanges(text: string): (IntRange | SuffixRange)[] | undefined {
  const value = text.trim()
  if (!unit.test(value)) return undefined
  const ranges: (IntRange | SuffixRange)[] = []
  for (const element of value.slice('bytes='.length).split(',')) {
    const spec = element.trim()
    // A recipient accepts empty list elements (section 5.6.1.2).
    if (spec === '') continue
    const range = readRange(spec)
    if (range === undefined || ranges.length === mostRanges) return undefined
    ranges.push(range)
  }
  return ranges.length === 0 ? undefined : ranges
}

function readRange(spec: string): IntRange | SuffixRange | undefined {
  const found = rangeSpec.exec(spec)
  if (found === null) return undefined
  const [, first, last] = found
  if (first === '') return last === '' ? undefined : { suffix: Number(last) }
  const range = { first: Number(first), last: last === '' ? undefined : Number(last) }
  return range.last !== undefined && range.last < range.first ? undefined : range
}
