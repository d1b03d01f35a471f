/** Values made from other values, so that every engine compares and finds alike. Whatever writes a record uses these. */
import { decimalKeyOf } from '../../model/decimal.ts'
import { fold, words } from '../../model/text.ts'
import { instantKey } from '../../model/time.ts'
import type { Derivation } from './columns.ts'

/** What a derived column holds for the value of its field (see `columns.ts`). */
export const derived: Readonly<Record<Derivation, (text: string) => string | null>> = {
  instant: (text) => instantKey(text) ?? null,
  folded: fold,
  decimal: (text) => decimalKeyOf(text) ?? null,
}

/** What the full-text index holds for a record: the words of its search fields, in their order. */
export function searchText(texts: readonly (string | null)[]): string {
  return texts.flatMap((text) => (text === null ? [] : words(text))).join(' ')
}

/** Whether texts have all of these words between them, the last as a prefix: what search means (QRY-5). */
export function haveWords(texts: readonly (string | null)[], sought: readonly string[]): boolean {
  const found = texts.flatMap((text) => (text === null ? [] : words(text)))
  const last = sought.length - 1
  return sought.every((word, index) => found.some((each) => each === word || (index === last && each.startsWith(word))))
}
