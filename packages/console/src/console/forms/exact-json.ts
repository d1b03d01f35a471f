/** Numbers and JSON as somebody typed them: read exactly, or not at all. */
import type { JsonValue } from '../interface/records.ts'

const numberForm = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/** @returns `undefined` if the text is no number, or one that JavaScript would change */
export function readNumber(text: string): number | undefined {
  return numberForm.test(text) && isExact(text) ? Number(text) : undefined
}

/** @throws Error if the text is not JSON, or has a number that JavaScript would change */
export function readJson(text: string): JsonValue {
  // Browsers without the third parameter read the number as it comes; the server then refuses unsafe ones.
  const check = (_: string, value: JsonValue, context?: { readonly source?: string }) => {
    if (typeof value === 'number' && context?.source !== undefined && !isExact(context.source)) {
      throw new Error(`${context.source} cannot be kept exactly. Write it as a text, in quotes.`)
    }
    return value
  }
  return JSON.parse(text, check as (key: string, value: unknown) => unknown) as JsonValue
}

function isExact(text: string): boolean {
  const number = Number(text)
  return Number.isInteger(number) && /^-?\d+$/.test(text)
    ? Number.isSafeInteger(number)
    : significant(text) === significant(String(number))
}

/** The digits of a number without zeros around them, and the power of ten of the last one. */
function significant(text: string): string {
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  return kept && `${kept} ${Number(exponent) - fraction.length + digits.length - kept.length}`
}
