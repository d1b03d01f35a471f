/**
 * Compares schemas pair by pair. Pairs are a queue, and each is looked at once, however many operations and fields lead
 * to it: so circles end, and depth costs no stack. Two shapes of one type are compared by the values that they admit:
 * listed values, limits, patterns, formats.
 */
import { isMultipleOf } from 'resourced-contract/model/decimal'
import { canonicalJson } from 'resourced-contract/model/plain-copy'
import type { Difference, Kind, Place } from './finding.ts'
import type { Spend } from './openapi-document.ts'
import { isLowerLimit, type SchemaReader, type Schemas, type Shape, sizeOf, type Union } from './read-schemas.ts'

/** What a schema describes. `error`: the body of an error response; `code`: its error code. */
export type Role = 'request' | 'response' | 'error' | 'code'

/** Two schemas with the same place in two interfaces. */
export interface Pair {
  readonly old: Schemas
  readonly new: Schemas
  readonly role: Role
  /** The path to it: `currencies[].code`. */
  readonly field: string
  /** The parameter or header field that it belongs to. */
  readonly within?: string
  /** The body of a list (`list`), and the array in it: paths begin at the records that these hold. */
  readonly envelope?: 'list' | 'array'
}

/** A difference in a schema, without the operations that it concerns. */
export type SchemaDifference = Omit<Difference, 'resources' | 'operations'>

/** The result of one pair: its own differences, and the results of the pairs inside of it. */
export interface PairResult {
  differences: readonly SchemaDifference[]
  inside: readonly PairResult[]
}

/** The comparison of all pairs of two documents: add those of the operations, run, and ask what each leads to. */
export interface SchemaComparison {
  /** Returns the result, which `run` fills. */
  add(pair: Pair): PairResult
  run(): void
  /** The results with differences, among these and those inside of them. */
  different(from: readonly PairResult[]): PairResult[]
}

interface Found {
  readonly differences: (Partial<SchemaDifference> & Pick<SchemaDifference, 'kind'>)[]
  readonly inside: Pair[]
}

export function schemaComparison(older: SchemaReader, newer: SchemaReader, spend: Spend): SchemaComparison {
  const results = new Map<string, PairResult>()
  const queue: { readonly pair: Pair; readonly result: PairResult }[] = []

  function add(pair: Pair): PairResult {
    const key = `${pair.role} ${older.key(pair.old)} ${newer.key(pair.new)}`
    const known = results.get(key)
    if (known !== undefined) return known
    const result: PairResult = { differences: [], inside: [] }
    results.set(key, result)
    queue.push({ pair, result })
    return result
  }

  function comparePair(pair: Pair): Found {
    const [before, after] = [older.union(pair.old), newer.union(pair.new)]
    const found: Found = { differences: compareTypes(before, after), inside: [] }
    if (pair.role === 'request') compareDefaults(before, after, found)
    for (const [was, is] of matchShapes(before.shapes, after.shapes, pair.role === 'request', spend)) {
      spend(sizeOf(was) + sizeOf(is))
      const values = compareValues(was, is)
      found.differences.push(...values.map((each) => ({ ...each, kind: kindFor(pair.role, each.kind) })))
      compareProperties(pair, was, is, found)
      compareAdditional(pair, was, is, found)
      compareItems(pair, was, is, found)
    }
    return found
  }

  function compareDefaults({ default: before }: Union, { default: after }: Union, { differences }: Found): void {
    const [was = '', is = ''] = [before, after].map((value) => (value === undefined ? '' : canonicalJson(value)))
    spend((was.length + is.length) / 64)
    if (was !== is) differences.push({ kind: 'default-changed', before, after })
  }

  function compareProperties(pair: Pair, was: Shape, is: Shape, { differences, inside }: Found): void {
    const hidden = pair.role === 'request' ? 'readOnly' : 'writeOnly'
    for (const name of new Set([...was.properties.keys(), ...is.properties.keys()])) {
      const [old, now] = [was.properties.get(name), is.properties.get(name)]
      const before = old && older.union(old)
      const after = now && newer.union(now)
      // Only the server sets a readOnly property, and a writeOnly one is never shown.
      const wasThere = before !== undefined && before[hidden] !== true
      const isThere = after !== undefined && after[hidden] !== true
      const [wasRequired, isRequired] = [was.required.has(name), is.required.has(name)]
      const field = fieldIn(pair.field, name)
      const differs = (kind: Kind) =>
        differences.push({ kind, field, places: placesOf(old?.[0] ?? was, now?.[0] ?? is) })
      if (wasThere && isThere) {
        if (wasRequired !== isRequired) differs(isRequired ? 'field-required' : 'field-optional')
        if (after.deprecated === true && before.deprecated !== true) differs('field-deprecated')
        const role = pair.role === 'error' && name === 'code' ? 'code' : pair.role
        const { within, envelope } = pair
        inside.push({
          ...{ old: old as Schemas, new: now as Schemas, role, field },
          ...(within !== undefined && { within }),
          ...(envelope === 'list' && { envelope: 'array' }),
        })
      } else if (wasThere) differs(pair.role === 'request' && after ? 'field-read-only' : 'field-removed')
      else if (isThere) differs(pair.role === 'request' && isRequired ? 'field-added-required' : 'field-added')
    }
    for (const name of was.required.symmetricDifference(is.required)) {
      if (was.properties.has(name) || is.properties.has(name)) continue
      const kind = is.required.has(name) ? 'field-required' : 'field-optional'
      differences.push({ kind, field: fieldIn(pair.field, name) })
    }
  }

  return {
    add,
    run() {
      // The queue grows during the loop: breadth first, so that every field is named by the shortest path to it.
      for (const { pair, result } of queue) {
        spend(1)
        const { differences, inside } = comparePair(pair)
        const about = {
          field: pair.field,
          ...(pair.within !== undefined && { within: pair.within }),
          direction: pair.role === 'request' ? ('request' as const) : ('response' as const),
          places: placesOf(pair.old[0], pair.new[0]),
        }
        result.differences = differences.map(({ kind, ...each }) => ({ kind, ...about, ...each }))
        result.inside = inside.map(add)
      }
    },
    different(from) {
      const reached = new Set(from)
      // The loop also visits what is added during the loop.
      for (const { inside } of reached) {
        spend(1)
        for (const each of inside) reached.add(each)
      }
      return [...reached].filter(({ differences }) => differences.length > 0)
    },
  }
}

export type Pointed = { readonly pointer: string } | undefined

/** The places of something in both documents, or in one. */
export function placesOf(old: Pointed, now: Pointed): Place[] {
  return [
    ...(old === undefined ? [] : [{ in: 'old', of: 'openapi', pointer: old.pointer } as const]),
    ...(now === undefined ? [] : [{ in: 'new', of: 'openapi', pointer: now.pointer } as const]),
  ]
}

const longestField = 200

/** The path to a field inside of another; of a very long one the end. */
function fieldIn(field: string, name: string): string {
  const path = field === '' ? name : `${field}.${name}`
  return path.length > longestField ? `…${path.slice(-longestField)}` : path
}

function kindFor(role: Role, kind: Kind): Kind {
  if (role !== 'code') return kind
  if (kind === 'values-removed') return 'code-removed'
  return kind === 'values-added' || kind === 'values-unlisted' ? 'code-added' : kind
}

function compareTypes(before: Union, after: Union): Found['differences'] {
  const found: Found['differences'] = []
  if (before.isNullable !== after.isNullable) found.push({ kind: after.isNullable ? 'null-added' : 'null-removed' })
  const typesOf = ({ shapes }: Union) => [...new Set(shapes.map((shape) => shape.type))].sort()
  const covers = (types: readonly string[], type: string) =>
    types.includes(type) || types.includes('any') || (type === 'integer' && types.includes('number'))
  const [was, is] = [typesOf(before), typesOf(after)]
  const isNarrowed = was.some((type) => !covers(is, type))
  const isWidened = is.some((type) => !covers(was, type))
  if (!isNarrowed && !isWidened) return found
  const kind = !isNarrowed ? 'type-widened' : isWidened ? 'type-changed' : 'type-narrowed'
  return [...found, { kind, before: was.join(' or ') || 'null', after: is.join(' or ') || 'null' }]
}

/**
 * Compares properties other than those named. More of them in responses break no client: clients ignore unknown
 * properties.
 */
function compareAdditional(pair: Pair, was: Shape, is: Shape, { differences, inside }: Found): void {
  const [before, after] = [was.additional, is.additional]
  if (typeof before === 'object' && typeof after === 'object') {
    inside.push({ ...pair, old: before, new: after, field: fieldIn(pair.field, '*'), envelope: undefined })
  } else if (before !== after) {
    const isNarrower = after === 'closed' || before === 'open'
    if (pair.role === 'request') differences.push({ kind: isNarrower ? 'object-closed' : 'object-opened' })
    else if (!isNarrower && before !== 'closed') differences.push({ kind: 'others-widened' })
  }
}

function compareItems(pair: Pair, was: Shape, is: Shape, { inside }: Found): void {
  if (was.items === undefined && is.items === undefined) return
  const anything = ({ pointer }: Shape): Schemas => [{ value: true, pointer }]
  const isDeep = pair.field.endsWith('[][][]')
  const field = pair.envelope !== undefined ? '' : isDeep ? pair.field : `${pair.field}[]`
  inside.push({ ...pair, old: was.items ?? anything(was), new: is.items ?? anything(is), field, envelope: undefined })
}

/**
 * Pairs the shapes of two unions. A request of the old interface needs a shape in the new one, a response of the new
 * one needs a shape in the old: each of those gets a partner, by the name of its component, or by what the two have in
 * common.
 */
function matchShapes(before: readonly Shape[], after: readonly Shape[], isRequest: boolean, spend: Spend) {
  spend(before.length * after.length)
  const [from, to] = isRequest ? [before, after] : [after, before]
  const taken = new Set<Shape>()
  const isNamesake = (each: Shape, shape: Shape) =>
    shape.name !== undefined && each.name === shape.name && isComparable(each, shape)
  const hasNamesake = (shape: Shape) => to.some((each) => isNamesake(each, shape))
  const matched: [old: Shape, new: Shape][] = []
  for (const shape of [...from.filter(hasNamesake), ...from.filter((each) => !hasNamesake(each))]) {
    const fit = to.filter((each) => isComparable(each, shape))
    const free = fit.filter((each) => !taken.has(each))
    const namesake = free.find((each) => isNamesake(each, shape))
    const partner = namesake ?? mostAlike(shape, free.length > 0 ? free : fit, spend)
    if (partner === undefined) continue
    taken.add(partner)
    matched.push(isRequest ? [shape, partner] : [partner, shape])
  }
  return matched
}

function isComparable(left: Shape, right: Shape): boolean {
  const isNumeric = [left, right].every(({ type }) => type === 'integer' || type === 'number')
  return isNumeric || left.type === right.type
}

function mostAlike(shape: Shape, others: readonly Shape[], spend: Spend): Shape | undefined {
  if (others.length < 2) return others[0]
  spend(others.length * sizeOf(shape))
  const scores = others.map((other) => {
    const parts = (['properties', 'required', 'values'] as const).map((part) => overlap(shape[part], other[part]))
    return parts.reduce((sum, part) => sum + part)
  })
  return others[scores.indexOf(Math.max(...scores))]
}

type Keyed = ReadonlyMap<string, unknown> | ReadonlySet<string>

/** From 0 to 1: how many keys two sets have in common. */
function overlap(left: Keyed = new Set(), right: Keyed = new Set()): number {
  const common = [...left.keys()].filter((name) => right.has(name)).length
  return common === 0 ? Number(left.size + right.size === 0) : common / (left.size + right.size - common)
}

type ValueDifference = Pick<Difference, 'kind' | 'names' | 'keyword' | 'before' | 'after'>

/** All differences but those inside of objects and arrays. */
function compareValues(was: Shape, is: Shape): ValueDifference[] {
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

/** The kind of a change of patterns. Which pattern accepts more texts is known for decimals only. */
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
