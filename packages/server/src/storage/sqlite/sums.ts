/**
 * Exact sums in SQLite, whose own sums end at 64 bits. A number is added up in limbs of nine decimal digits, each an
 * integer sum of SQLite's, so no function is called for a row. Functions join the limbs of each group into a comparison
 * key (`decimalKey`), which sorts like the number.
 */
import type { DatabaseSync } from 'node:sqlite'
import {
  type Decimal,
  type DecimalForm,
  decimalKey,
  decimalOf,
  decimalOfKey,
  decimalText,
} from 'resourced-contract/model/decimal'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Dialect } from '../sql/dialect.ts'

const sumFunction = 'resourced_sum'
const averageFunction = 'resourced_average'
const digitsFunction = 'resourced_digits'

/** The digits of a limb: SQLite adds up nine billion of them. */
const limbDigits = 9
const limb = 10n ** BigInt(limbDigits)
/** The digits of an integer of 64 bits. */
const integerDigits = 18

/** Registers the functions. They belong to a connection. */
export function addSumFunctions(database: DatabaseSync): void {
  const options = { deterministic: true, varargs: true, useBigIntArguments: true } as const
  database.function(sumFunction, options, (scale, ...limbs) => {
    if (limbs[0] === null) return null
    const sum = limbs.reduceRight((sum: bigint, each) => sum * limb + (each as bigint), 0n)
    return keyOf(sum, scale as bigint)
  })
  database.function(averageFunction, options, (sum, count, digits) => {
    if (sum === null) return null
    const scaled = scaledBy(decimalOfKey(String(sum)), Number(digits))
    const [size, parts] = [scaled < 0n ? -scaled : scaled, count as bigint]
    const rounded = (2n * size + parts) / (2n * parts)
    return keyOf(scaled < 0n ? -rounded : rounded, digits as bigint)
  })
  database.function(digitsFunction, options, (sum, scale) => {
    if (sum === null) return null
    const value = decimalOfKey(String(sum))
    return decimalText(value, { precision: Number(scale) + Math.max(0, value.exponent), scale: Number(scale) }) ?? null
  })
}

/** The key of an integer that was multiplied by a power of ten. */
function keyOf(value: bigint, scale: bigint): string {
  return decimalKey(decimalOf(`${value}e-${scale}`)) as string
}

/** A decimal of at most so many digits after the point, multiplied by a power of ten. */
function scaledBy({ negative, digits, exponent }: Decimal, scale: number): bigint {
  const size = digits === '' ? 0n : BigInt(digits) * 10n ** BigInt(scale + exponent - digits.length)
  return negative ? -size : size
}

export const sums: Pick<Dialect, 'sum' | 'average' | 'digits'> = {
  sum(column, form) {
    const limbs = limbsOf(column, form).map((each) => sql`sum(${each})`)
    return sql`${raw(sumFunction)}(${raw(String(form?.scale ?? 0))}, ${join(limbs, ', ')})`
  },
  average: (sum, count, digits) => sql`${raw(averageFunction)}(${sum}, ${count}, ${raw(String(digits))})`,
  digits: (value, scale) => sql`${raw(digitsFunction)}(${value}, ${raw(String(scale))})`,
}

/** The limbs of a number, the last digits first. Both parts of a negative number are negative. */
function limbsOf(column: Sql, form: DecimalForm | undefined): Sql[] {
  const size = raw(String(limb))
  const both = (integer: Sql) => [sql`${integer} % ${size}`, sql`${integer} / ${size}`]
  if (form === undefined) return both(column)
  const digits = sql`replace(${column}, '.', '')`
  const { precision } = form
  if (precision <= integerDigits) {
    const integer = sql`cast(${digits} as integer)`
    return precision <= limbDigits ? [integer] : both(integer)
  }
  const count = Math.ceil(precision / limbDigits)
  const padded = sql`(${raw(`'${'0'.repeat(count * limbDigits)}'`)} || replace(${digits}, '-', ''))`
  const sign = sql`case when ${column} like '-%' then -1 else 1 end`
  return Array.from({ length: count }, (_, index) => {
    const skipped = index * limbDigits
    const part = sql`substr(${padded}, ${raw(String(-skipped - limbDigits))}, ${raw(String(limbDigits))})`
    const value = sql`cast(${part} as integer) * (${sign})`
    // Most values have few digits.
    return index === 0 ? value : sql`case when length(${column}) > ${raw(String(skipped))} then ${value} else 0 end`
  })
}
