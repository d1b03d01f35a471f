/** The values that two forms of one type admit: lists of values, limits, patterns, formats. */
import { isMultipleOf } from '../../model/decimal.ts'
import { decimalChange } from './decimal-patterns.ts'
import type { SchemaDifference, Way } from './pair.ts'
import { lowerLimits, type Shape } from './shape.ts'

type Change = Pick<SchemaDifference, 'kind' | 'names' | 'keyword' | 'before' | 'after'>

/** What differs in the values themselves; what lies inside of objects and arrays is compared elsewhere. */
export function compareValues(was: Shape, is: Shape, way: Way): Change[] {
  return [
    ...compareLists(was.values, is.values, way),
    ...compareLimits(was.limits, is.limits),
    ...comparePatterns([...was.patterns], [...is.patterns]),
    ...compareFormats([...was.formats].sort().join(), [...is.formats].sort().join()),
    ...compareOthers(was.others, is.others),
  ]
}

function compareLists(was: Shape['values'], is: Shape['values'], way: Way): Change[] {
  if (was === undefined && is === undefined) return []
  const [removed, added] =
    way === 'code' ? (['code-removed', 'code-added'] as const) : (['values-removed', 'values-added'] as const)
  if (was === undefined) return [{ kind: 'values-listed', names: shownValues(is) }]
  if (is === undefined) return [{ kind: way === 'code' ? 'code-added' : 'values-unlisted', names: [] }]
  const lost = new Map([...was].filter(([text]) => !is.has(text)))
  const gained = new Map([...is].filter(([text]) => !was.has(text)))
  return [
    ...(lost.size === 0 ? [] : [{ kind: removed, names: shownValues(lost) }]),
    ...(gained.size === 0 ? [] : [{ kind: added, names: shownValues(gained) }]),
  ]
}

function shownValues(values: Shape['values']): string[] {
  return [...(values ?? [])].map(([text, value]) => (typeof value === 'string' ? value : text))
}

function compareLimits(was: Shape['limits'], is: Shape['limits']): Change[] {
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((keyword): Change[] => {
    const [before, after] = [was.get(keyword), is.get(keyword)]
    if (before === after) return []
    const change = { keyword, before, after }
    if (before === undefined) return [{ kind: 'limit-narrowed', ...change }]
    if (after === undefined) return [{ kind: 'limit-widened', ...change }]
    if (keyword === 'multipleOf') {
      const kind = isMultipleOf(after, before)
        ? 'limit-narrowed'
        : isMultipleOf(before, after)
          ? 'limit-widened'
          : 'keyword-changed'
      return [{ kind, ...change }]
    }
    const narrowed = lowerLimits.includes(keyword) ? after > before : after < before
    return [{ kind: narrowed ? 'limit-narrowed' : 'limit-widened', ...change }]
  })
}

/** Of two patterns it cannot be told which admits more, unless they list words, as that of `sort` does. */
function comparePatterns(was: readonly string[], is: readonly string[]): Change[] {
  const lost = was.filter((pattern) => !is.includes(pattern))
  const gained = is.filter((pattern) => !was.includes(pattern))
  if (lost.length === 0 && gained.length === 0) return []
  const change = {
    keyword: 'pattern',
    before: lost.join(' and ') || undefined,
    after: gained.join(' and ') || undefined,
  }
  if (lost.length === 0) return [{ kind: 'limit-narrowed', ...change }]
  if (gained.length === 0) return [{ kind: 'limit-widened', ...change }]
  const ofDecimal = lost.length === 1 && gained.length === 1 ? decimalChange(lost[0]!, gained[0]!) : undefined
  if (ofDecimal !== undefined) return [{ kind: ofDecimal, ...change }]
  const [before, after] = [listedWords(lost), listedWords(gained)]
  if (before === undefined || after === undefined) return [{ kind: 'pattern-changed', ...change }]
  const removed = [...before.difference(after)]
  const added = [...after.difference(before)]
  return [
    ...(removed.length === 0 ? [] : [{ kind: 'values-removed', names: removed } as const]),
    ...(added.length === 0 ? [] : [{ kind: 'values-added', names: added } as const]),
  ]
}

/** The words of `^-?(name|born)(,-?(name|born))*$`: a list of them, each with a minus before it or not. */
function listedWords(patterns: readonly string[]): Set<string> | undefined {
  const [, words] = (patterns.length === 1 && /^\^-\?\(([\w|]+)\)\(,-\?\(\1\)\)\*\$$/.exec(patterns[0] ?? '')) || []
  return words === undefined ? undefined : new Set(words.split('|'))
}

const wider: Readonly<Record<string, string>> = { int32: 'int64', float: 'double' }

function compareFormats(was: string, is: string): Change[] {
  if (was === is) return []
  const change = { keyword: 'format', before: was || undefined, after: is || undefined }
  if (was === '' || wider[is] === was) return [{ kind: 'limit-narrowed', ...change }]
  if (is === '' || wider[was] === is) return [{ kind: 'limit-widened', ...change }]
  return [{ kind: 'format-changed', ...change }]
}

function compareOthers(was: Shape['others'], is: Shape['others']): Change[] {
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((keyword) => was.get(keyword) !== is.get(keyword))
    .map((keyword) => {
      const change = { keyword, before: was.get(keyword), after: is.get(keyword) }
      if (keyword !== 'uniqueItems') return { kind: 'keyword-changed', ...change }
      return { kind: change.after === undefined ? 'limit-widened' : 'limit-narrowed', ...change }
    })
}
