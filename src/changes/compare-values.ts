/** Compares the values that two shapes of one type admit: listed values, limits, patterns, formats. */
import { isMultipleOf } from '../model/decimal.ts'
import type { Difference, Kind } from './finding.ts'
import { isLowerLimit, type Shape } from './shape.ts'

/** A difference in values, without the place where it is. */
export type ValueDifference = Pick<Difference, 'kind' | 'names' | 'keyword' | 'before' | 'after'>

/** All differences but those inside of objects and arrays. */
export function compareValues(was: Shape, is: Shape): ValueDifference[] {
  return [
    ...compareLists(was.values, is.values),
    ...keysOf(was.limits, is.limits).flatMap((keyword) =>
      compareLimit(keyword, was.limits.get(keyword), is.limits.get(keyword)),
    ),
    ...keysOf(was.texts, is.texts).flatMap((keyword) =>
      compareTexts(keyword, was.texts.get(keyword) ?? new Set(), is.texts.get(keyword) ?? new Set()),
    ),
  ]
}

function keysOf(was: ReadonlyMap<string, unknown>, is: ReadonlyMap<string, unknown>): string[] {
  return [...new Set([...was.keys(), ...is.keys()])]
}

function compareLists(was: Shape['values'], is: Shape['values']): ValueDifference[] {
  const shown = (values: Iterable<[string, unknown]>) =>
    [...values].map(([text, value]) => (typeof value === 'string' ? value : text))
  if (was === undefined) return is === undefined ? [] : [{ kind: 'values-listed', names: shown(is) }]
  if (is === undefined) return [{ kind: 'values-unlisted', names: [] }]
  const lost = shown([...was].filter(([text]) => !is.has(text)))
  const gained = shown([...is].filter(([text]) => !was.has(text)))
  return named(lost, gained)
}

function named(lost: readonly string[], gained: readonly string[]): ValueDifference[] {
  return [
    ...(lost.length === 0 ? [] : [{ kind: 'values-removed', names: lost } as const]),
    ...(gained.length === 0 ? [] : [{ kind: 'values-added', names: gained } as const]),
  ]
}

function compareLimit(keyword: string, before: number | undefined, after: number | undefined): ValueDifference[] {
  if (before === after) return []
  const kind = (): Kind => {
    if (before === undefined) return 'limit-narrowed'
    if (after === undefined) return 'limit-widened'
    if (keyword !== 'multipleOf') return after > before === isLowerLimit(keyword) ? 'limit-narrowed' : 'limit-widened'
    if (isMultipleOf(after, before)) return 'limit-narrowed'
    return isMultipleOf(before, after) ? 'limit-widened' : 'keyword-changed'
  }
  return [{ kind: kind(), keyword, before, after }]
}

function compareTexts(keyword: string, was: ReadonlySet<string>, is: ReadonlySet<string>): ValueDifference[] {
  const [lost, gained] = [[...was.difference(is)], [...is.difference(was)]]
  if (lost.length === 0 && gained.length === 0) return []
  // A pattern joins others; of the other keywords all texts together are one value.
  const shown = (all: ReadonlySet<string>, changed: readonly string[]) =>
    (keyword === 'pattern' ? changed.join(' and ') : [...all].sort().join(keyword === 'format' ? ',' : ' and ')) ||
    undefined
  const change = { keyword, before: shown(was, lost), after: shown(is, gained) }
  if (keyword === 'pattern') {
    const words = [listedWords(lost), listedWords(gained)] as const
    if (words[0] !== undefined && words[1] !== undefined) {
      return named([...words[0].difference(words[1])], [...words[1].difference(words[0])])
    }
    return [{ kind: patternChange(lost, gained), ...change }]
  }
  if (keyword === 'format') return [{ kind: formatChange(change.before, change.after), ...change }]
  if (keyword !== 'uniqueItems') return [{ kind: 'keyword-changed', ...change }]
  return [{ kind: change.after === undefined ? 'limit-widened' : 'limit-narrowed', ...change }]
}

/** The words of `^-?(name|born)(,-?(name|born))*$`: the parameter `sort` has such a pattern. */
function listedWords(patterns: readonly string[]): Set<string> | undefined {
  const [, words] = (patterns.length === 1 && /^\^-\?\(([\w|]+)\)\(,-\?\(\1\)\)\*\$$/.exec(patterns[0] ?? '')) || []
  return words === undefined ? undefined : new Set(words.split('|'))
}

/** Which of two patterns admits more is only known of decimals. */
function patternChange(lost: readonly string[], gained: readonly string[]): Kind {
  if (lost.length === 0) return 'limit-narrowed'
  if (gained.length === 0) return 'limit-widened'
  const [was, is] = [decimalDigits(lost), decimalDigits(gained)]
  if (was === undefined || is === undefined) return 'pattern-changed'
  // With another number of digits after the point, no text of the old form has the new form.
  if ((was.isExact || is.isExact) && was.after !== is.after) {
    const isFromWhole = !is.isExact && was.after === 0
    const isToWhole = !was.isExact && is.after === 0
    if (!isFromWhole && !isToWhole) return 'pattern-changed'
  }
  if (is.before >= was.before && is.after >= was.after) return 'limit-widened'
  return is.before <= was.before && is.after <= was.after ? 'limit-narrowed' : 'pattern-changed'
}

// The patterns of `patternOf` in `model/decimal.ts`.
const decimal = /^\^-\?(?:0|\\d|\(\?:0\|\[1-9\]\\d\{0,(\d+)\}\))(?:\(\?:\\\.\\d\{1,(\d+)\}\)\?|\\\.\\d\{(\d+)\})?\$$/

/**
 * How many digits the pattern of a decimal admits before and after the point, and whether all after it must be there.
 */
function decimalDigits(patterns: readonly string[]) {
  const [found, more, most, all] = (patterns.length === 1 && decimal.exec(patterns[0] ?? '')) || []
  if (found === undefined) return undefined
  const before = more === undefined ? Number(found.startsWith('^-?\\d')) : Number(more) + 1
  return { before, after: Number(most ?? all ?? 0), isExact: most === undefined }
}

const wider: Readonly<Record<string, string>> = { int32: 'int64', float: 'double' }

function formatChange(was: string | undefined, is: string | undefined): Kind {
  if (was === undefined || (is !== undefined && wider[is] === was)) return 'limit-narrowed'
  return is === undefined || wider[was] === is ? 'limit-widened' : 'format-changed'
}
