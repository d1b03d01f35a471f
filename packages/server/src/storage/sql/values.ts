/** Keys derived from values, so that all engines compare and search alike. All code that writes records uses these. */
import { decimalKeyOf } from 'resourced-contract/model/decimal'
import { fold, words } from 'resourced-contract/model/text'
import { instantKey } from 'resourced-contract/model/time'
import type { Derivation } from './columns.ts'

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
