/**
 * Multiples of decimal fractions, decided by their digits: 19.99 is a multiple of 0.01, although a binary division
 * denies it.
 */
import type { Ajv } from 'ajv'

/** A number as an integer times a power of ten, by the shortest digits that JavaScript has for it. */
function partsOf(number: number): { readonly integer: bigint; readonly power: number } {
  const [mantissa = '0', exponent = '0'] = String(number).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { integer: BigInt(whole + fraction), power: Number(exponent) - fraction.length }
}

/** Whether a number is a multiple of another one. No number is a multiple of zero. */
export function isMultiple(value: number, step: number): boolean {
  if (step === 0 || !Number.isFinite(value)) return false
  const [left, right] = [partsOf(value), partsOf(step)]
  const power = Math.min(left.power, right.power)
  const scaled = ({ integer, power: own }: typeof left) => integer * 10n ** BigInt(own - power)
  return scaled(left) % scaled(right) === 0n
}

/** A product without the rounding errors of binary fractions: three times 0.1 is 0.3. */
export function times(count: number, step: number): number {
  if (!Number.isSafeInteger(count)) return count * step
  const { integer, power } = partsOf(step)
  return Number(`${BigInt(count) * integer}e${power}`)
}

/** Makes a validator decide `multipleOf` by decimal digits. */
export function useDecimalMultiples(ajv: Ajv): void {
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: (step: number) => (value: number) => isMultiple(value, step),
    errors: false,
  })
}
