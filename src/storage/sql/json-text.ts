/** JSON as it is stored and answered: whatever a caller reads may be sent back as it is (MET-3). */

// In the language since ECMAScript 2026; TypeScript does not know it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/**
 * The shortest text that is read back as the same number. Beyond 2^53 it has an exponent: written out as an integer it
 * would claim digits that the number does not have, and no body may (NUMBER_NOT_EXACT).
 */
export function numberText(value: number): string {
  return isBeyondExact(value) ? value.toExponential() : String(value)
}

/** The text of a JSON value, its numbers written by `numberText`. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'number' && isBeyondExact(each) ? rawJSON(numberText(each)) : each,
  )
}

function isBeyondExact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}
