/** The JSON text of values, as databases hold it and responses show it. */
import { remembered } from '../plain-copy.ts'

// Part of ECMAScript 2026; TypeScript has no type for it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/**
 * The shortest text that is parsed as the same number. Beyond 2^53 it has an exponent: as an integer it would claim
 * digits that the number does not have, and bodies with such integers are refused (NUMBER_NOT_EXACT).
 */
export function numberText(value: number): string {
  return isBeyondExact(value) ? value.toExponential() : String(value)
}

// An update measures the value of a field before it is stored, and both need the text.
const textOfObject = remembered((value: object) => textOf(value))

/**
 * The text of a JSON value, with numbers written by `numberText`, so that a client may send it back unchanged (MET-3).
 *
 * @param value never changed afterwards
 */
export function jsonText(value: unknown): string {
  return typeof value === 'object' && value !== null ? textOfObject(value) : textOf(value)
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value)
  // An integer beyond 2^53 has 16 digits at least. Looking at each value takes half as long again.
  if (!/\d{16}/.test(text)) return text
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'number' && isBeyondExact(each) ? rawJSON(numberText(each)) : each,
  )
}

function isBeyondExact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}
