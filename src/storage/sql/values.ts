/**
 * Values as every engine stores and returns them: JSON text, and keys derived from values so that all engines compare
 * and search alike. All code that writes records uses these.
 */
import { decimalKeyOf } from '../../model/decimal.ts'
import { fold, words } from '../../model/text.ts'
import { instantKey } from '../../model/time.ts'
import type { Derivation } from './columns.ts'

// Part of ECMAScript 2026; TypeScript has no type for it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/**
 * The shortest text that is parsed as the same number. Beyond 2^53 it has an exponent: as an integer it would claim
 * digits that the number does not have, and bodies with such integers are refused (NUMBER_NOT_EXACT).
 */
export function numberText(value: number): string {
  return isBeyondExact(value) ? value.toExponential() : String(value)
}

/**
 * The text of a JSON value, with numbers written by `numberText`, so that a client may send it back unchanged (MET-3).
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'number' && isBeyondExact(each) ? rawJSON(numberText(each)) : each,
  )
}

function isBeyondExact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** The value of a derived column for the value of its field (see `columns.ts`). */
export const derived: Readonly<Record<Derivation, (text: string) => string | null>> = {
  instant: (text) => instantKey(text) ?? null,
  folded: fold,
  decimal: (text) => decimalKeyOf(text) ?? null,
}

/** The text of a record in the full-text index: the words of its search fields, in their order. */
export function searchText(texts: readonly (string | null)[]): string {
  return texts.flatMap((text) => (text === null ? [] : words(text))).join(' ')
}

/** Whether texts have all of these words between them, the last as a prefix: what search means (QRY-5). */
export function haveWords(texts: readonly (string | null)[], sought: readonly string[]): boolean {
  const found = texts.flatMap((text) => (text === null ? [] : words(text)))
  const last = sought.length - 1
  return sought.every((word, index) => found.some((each) => each === word || (index === last && each.startsWith(word))))
}
