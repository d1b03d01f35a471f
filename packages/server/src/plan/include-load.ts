/** How much a response includes, and how much it may (REL-5). */
import type { Position } from 'resourced-contract/model/predicate'
import type { RelatedPath } from './include.ts'

/** The related records of one record. */
export interface RelatedIds {
  readonly ids: readonly string[]
  /** How many there are: of a relation to many there may be more than `ids`. */
  readonly total: number
  /** The keys of the last one of `ids`; `undefined`: there is none. */
  readonly last?: Position['keys'] | undefined
}

/** A path, and its related records by the ids of the records that they are related to. */
export interface FoundPath {
  readonly path: RelatedPath
  readonly found: ReadonlyMap<string, RelatedIds>
}

/** A record that a path leads to. Records with the same key are the same one. */
export interface Reached {
  readonly key: string
  readonly path: RelatedPath
  readonly id: string
}

/** A record that was asked for, with the bytes of its JSON. */
export interface AskedRecord {
  readonly id: string
  readonly bytes: number
}

/** The included records, and the bytes of these and of the records that were asked for. */
export interface Load {
  readonly records: number
  readonly bytes: number
}

/** The bytes of included records by their keys, as far as they are known. */
export type Sizes = ReadonlyMap<string, number>

/** The records that paths lead to from a record, those of several paths several times. */
export function* reachedFrom(id: string, paths: readonly FoundPath[]): Generator<Reached> {
  for (const { path, found } of paths) {
    if (path.above !== undefined) continue
    for (const first of found.get(id)?.ids ?? []) {
      yield reached(path, first)
      for (const next of paths) {
        if (next.path.above !== path.path) continue
        for (const second of next.found.get(first)?.ids ?? []) yield reached(next.path, second)
      }
    }
  }
}

function reached(path: RelatedPath, id: string): Reached {
  return { key: `${path.collection}/${id}`, path, id }
}

/** Whether records surely have all their related records: no two paths lead to one record at worst. */
export function fitsWhole(
  records: readonly AskedRecord[],
  paths: readonly FoundPath[],
  most: Load,
  includedBytes: number,
): boolean {
  let reachable = 0
  for (const { found } of paths) for (const { ids } of found.values()) reachable += ids.length
  const bytes = records.reduce((sum, each) => sum + each.bytes, includedBytes)
  return !isBeyond({ records: reachable, bytes }, most)
}

/** How many records, from the first, a response may have with all their related records: at least one. */
export function countFitting(
  records: readonly AskedRecord[],
  paths: readonly FoundPath[],
  most: Load,
  sizes: Sizes = new Map(),
): number {
  const seen = new Set<string>()
  let bytes = 0
  for (const [index, record] of records.entries()) {
    bytes += record.bytes
    for (const { key } of reachedFrom(record.id, paths)) {
      if (seen.has(key)) continue
      seen.add(key)
      bytes += sizes.get(key) ?? 0
    }
    if (index > 0 && isBeyond({ records: seen.size, bytes }, most)) return index
  }
  return records.length
}

function isBeyond({ records, bytes }: Load, most: Load): boolean {
  return records > most.records || bytes > most.bytes
}

/**
 * How many records a page by number may have: its records then stand together with others, so it has room for the
 * largest ones.
 */
export function countAnywhere(
  records: readonly AskedRecord[],
  paths: readonly FoundPath[],
  most: Load,
  sizes: Sizes,
): number {
  const loads = records.map((record) => loadOf(record, paths, sizes))
  const within = (part: keyof Load) => {
    let sum = 0
    const sorted = loads.map((load) => load[part]).sort((left, right) => right - left)
    const beyond = sorted.findIndex((each) => {
      sum += each
      return sum > most[part]
    })
    return beyond === -1 ? sorted.length : beyond
  }
  return Math.max(1, Math.min(within('records'), within('bytes')))
}

function loadOf({ id, bytes }: AskedRecord, paths: readonly FoundPath[], sizes: Sizes): Load {
  const seen = new Set<string>()
  let sum = bytes
  for (const { key } of reachedFrom(id, paths)) {
    if (!seen.has(key)) sum += sizes.get(key) ?? 0
    seen.add(key)
  }
  return { records: seen.size, bytes: sum }
}

/** A parameter, and its value with which a response is within its limits. */
export interface LoweredLimit {
  readonly parameter: string
  readonly fits: number
}

/**
 * The limits of paths to lower, so that one record may have all its related records.
 *
 * @returns empty if they are within the limits already, or no limit can be lowered
 */
export function lowerLimits(
  record: AskedRecord,
  paths: readonly FoundPath[],
  most: Load,
  sizes: Sizes = new Map(),
): LoweredLimit[] {
  if (!isBeyond(loadOf(record, paths, sizes), most)) return []
  const loads = paths.flatMap((each) => pathLoad(each, record.id, paths, sizes) ?? [])
  const shareOf = ({ records, bytes }: Load) => Math.max(records / most.records, bytes / most.bytes)
  const lower: LoweredLimit[] = []
  // A record that several paths lead to counts for each of them: then fewer fit than could.
  let all = sumOf([{ records: 0, bytes: record.bytes }, ...loads.map(({ whole }) => whole)])
  for (const { path, whole, largest } of loads.sort((left, right) => shareOf(right.whole) - shareOf(left.whole))) {
    if (!isBeyond(all, most)) break
    if (path.to === 'one') continue
    const others = { records: all.records - whole.records, bytes: all.bytes - whole.bytes }
    const room = (part: keyof Load) => Math.floor((most[part] - others[part]) / Math.max(1, largest[part]))
    const fits = Math.max(0, Math.min(room('records'), room('bytes'), path.limit))
    lower.push({ parameter: `include[${path.path}][limit]`, fits })
    all = { records: others.records + fits * largest.records, bytes: others.bytes + fits * largest.bytes }
  }
  return lower
}

/** The records that a path adds for one record, with those below them. */
interface PathLoad {
  readonly path: RelatedPath
  readonly whole: Load
  /** The most that one id of the path adds. */
  readonly largest: Load
}

/** The load of a path; `undefined`: it is a part of that of the path that it goes on from. */
function pathLoad(
  { path, found }: FoundPath,
  id: string,
  paths: readonly FoundPath[],
  sizes: Sizes,
): PathLoad | undefined {
  const above = paths.find((each) => each.path.path === path.above)
  if (above?.path.to === 'many') return undefined
  const from = above === undefined ? id : above.found.get(id)?.ids[0]
  const ids = (from === undefined ? undefined : found.get(from)?.ids) ?? []
  // Below a path to many are the paths that go on from it.
  const below = path.to === 'one' ? [] : paths.filter((each) => each.path.above === path.path)
  const loads = ids.map((each) => {
    const next = below.flatMap((below) => (below.found.get(each)?.ids ?? []).map((id) => reached(below.path, id)))
    const bytes = [reached(path, each), ...next].map(({ key }) => sizes.get(key) ?? 0)
    return { records: bytes.length, bytes: bytes.reduce((left, right) => left + right, 0) }
  })
  const most = (part: keyof Load) => Math.max(0, ...loads.map((load) => load[part]))
  return { path, whole: sumOf(loads), largest: { records: most('records'), bytes: most('bytes') } }
}

function sumOf(loads: readonly Load[]): Load {
  const sum = (part: keyof Load) => loads.reduce((total, load) => total + load[part], 0)
  return { records: sum('records'), bytes: sum('bytes') }
}
