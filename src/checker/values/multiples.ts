/** Multiples of decimal fractions, by their digits: 19.99 is one of 0.01, which a division of binary fractions denies. */
import type { Ajv } from 'ajv'

/** A number as an integer times a power of ten: the shortest digits that JavaScript has for it. */
function partsOf(number: number): { readonly integer: bigint; readonly power: number } {
  const [mantissa = '0', exponent = '0'] = String(number).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { integer: BigInt(whole + fraction), power: Number(exponent) - fraction.length }
}

/** Whether a number is a multiple of another one; of zero nothing is. */
export function isMultiple(value: number, step: number): boolean {
  if (step === 0 || !Number.isFinite(value)) return false
  const [left, right] = [partsOf(value), partsOf(step)]
  const power = Math.min(left.power, right.power)
  const scaled = ({ integer, power: own }: typeof left) => integer * 10n ** BigInt(own - power)
  return scaled(left) % scaled(right) === 0n
}

/** So many times a number, without the dust of binary fractions: three times 0.1 is 0.3. */
export function times(count: number, step: number): number {
  if (!Number.isSafeInteger(count)) return count * step
  const { integer, power } = partsOf(step)
  return Number(`${BigInt(count) * integer}e${power}`)
}

/** Lets a validator decide `multipleOf` on decimal digits. */
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
