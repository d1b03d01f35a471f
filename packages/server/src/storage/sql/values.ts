/** Keys derived from values, so that all engines compare and search alike. All code that writes records uses these. */
import { hash } from 'node:crypto'
import { decimalKeyOf } from 'resourced-contract/model/decimal'
import { valueOfName } from 'resourced-contract/model/members'
import type { Scalar } from 'resourced-contract/model/predicate'
import type { Field } from 'resourced-contract/model/resource'
import { fold, words } from 'resourced-contract/model/text'
import { instantKey } from 'resourced-contract/model/time'
import type { Derivation, IndexedColumns } from './columns.ts'

/** What a derived column holds. */
export interface Derived {
  /** The column that it is derived from. */
  readonly from: string
  readonly by: Derivation
  /** The member of the object in that column. */
  readonly member?: Pick<Field, 'name' | 'type'>
}

const keys: Readonly<Record<Exclude<Derivation, 'member'>, (text: string) => string | null>> = {
  instant: (text) => instantKey(text) ?? null,
  folded: fold,
  decimal: (text) => decimalKeyOf(text) ?? null,
}

const typeNames: Readonly<Partial<Record<Field['type'], string>>> = { integer: 'number' }

/** The value of a derived column for the value of its field; null where there is none of the column's type. */
export function derivedOf({ by, member }: Omit<Derived, 'from'>, value: unknown): Scalar | null {
  // The first step of the name is the field.
  const found = member === undefined ? value : valueOfName({ of: value }, `of.${stepsBelow(member.name)}`)
  if (by !== 'member') return typeof found === 'string' ? keys[by](found) : null
  return typeof found === (typeNames[member!.type] ?? member!.type) ? (found as Scalar) : null
}

function stepsBelow(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

/** The same for the stored text of the field: of an object, its JSON. */
export function derivedOfStored(derived: Omit<Derived, 'from'>, stored: unknown): Scalar | null {
  if (typeof stored !== 'string') return null
  return derivedOf(derived, derived.member === undefined ? stored : JSON.parse(stored))
}

/**
 * The text of a record in the full-text index: a token for each item of its arrays that requests filter by, then the
 * words of its search fields, in their order.
 *
 * @param stored the value of each column of the index as it is stored: of arrays, their JSON
 */
export function indexText({ columns, arrays }: IndexedColumns, stored: readonly (string | null)[]): string {
  const tokens = columns.flatMap((column, index) => {
    const text = stored[index] ?? null
    if (text === null) return []
    return arrays.includes(column) ? itemsOf(text).map((item) => itemToken(column, item)) : words(text)
  })
  return tokens.join(' ')
}

/** The scalars in the JSON of an array, each once. */
function itemsOf(json: string): Scalar[] {
  const items: unknown = JSON.parse(json)
  const isScalar = (item: unknown): item is Scalar => ['string', 'number', 'boolean'].includes(typeof item)
  return Array.isArray(items) ? [...new Set(items.filter(isScalar))] : []
}

// A small roman numeral: normalization makes a letter of it, so no word has it, and no search finds a token.
const tokenMark = '\u2170'

/** The token by which the full-text index finds the records whose array has an item. Long texts are hashed too. */
export function itemToken(column: string, item: Scalar): string {
  return `${tokenMark}${hash('sha256', JSON.stringify([column, item]), 'hex').slice(0, 24)}`
}

/** Whether the JSON of an array has all of some items, or one of them (`has`). Null where there is no array. */
export function haveItems(json: unknown, values: readonly unknown[], all: boolean): boolean | null {
  const items: unknown = typeof json === 'string' ? JSON.parse(json) : null
  if (!Array.isArray(items)) return null
  const isIn = (value: unknown) => items.includes(value)
  return all ? values.every(isIn) : values.some(isIn)
}

/** How often a word counts in a text, at most. */
export const mostOccurrences = 8

/**
 * How well a text matches words, the last one as a prefix (WHR-6): each word counts as often as the text has it, at
 * most eight times, and twice where it is whole.
 */
export function scoreOf(text: string, sought: readonly string[]): number {
  const found = words(text)
  const counted = (isFound: (word: string) => boolean) => Math.min(found.filter(isFound).length, mostOccurrences)
  return sought.reduce((sum, word, index) => {
    const whole = 2 * counted((each) => each === word)
    if (index < sought.length - 1) return sum + whole
    return sum + whole + counted((each) => each !== word && each.startsWith(word))
  }, 0)
}

/** Whether texts have all of these words between them, the last as a prefix: what search means (QRY-5). */
export function haveWords(texts: readonly (string | null)[], sought: readonly string[]): boolean {
  const found = texts.flatMap((text) => (text === null ? [] : words(text)))
  const last = sought.length - 1
  return sought.every((word, index) => found.some((each) => each === word || (index === last && each.startsWith(word))))
}
