/** How much a response includes, and how much it may (REL-5). */
import type { Position } from 'resourced-contract/model/predicate'
import type { RelatedPath } from './plan.ts'

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

/** What a response has once for all records that share it: an included record, or the ids of a relation to many. */
interface Part extends Load {
  readonly key: string
}

/** The ids that paths lead to from a record, of each path and each record that it begins at. */
function* listsFrom(id: string, paths: readonly FoundPath[]) {
  for (const { path, found } of paths) {
    const above = paths.find((each) => each.path.path === path.above)
    const sources = path.above === undefined ? [id] : (above?.found.get(id)?.ids ?? [])
    for (const source of sources) yield { path, source, ids: found.get(source)?.ids ?? [] }
  }
}

/** The records that paths lead to from a record, those of several paths several times. */
export function* reachedFrom(id: string, paths: readonly FoundPath[]): Generator<Reached> {
  for (const { path, ids } of listsFrom(id, paths)) for (const each of ids) yield reached(path, each)
}

function reached(path: RelatedPath, id: string): Reached {
  return { key: `${path.collection}/${id}`, path, id }
}

function* partsFrom(id: string, paths: readonly FoundPath[], sizes: Sizes): Generator<Part> {
  for (const { path, source, ids } of listsFrom(id, paths)) {
    const bytes = frameBytes(path) + ids.length * idBytes(path)
    if (bytes > 0) yield { key: `${path.path} ${source}`, records: 0, bytes }
    for (const each of ids) {
      const { key } = reached(path, each)
      yield { key, records: 1, bytes: sizes.get(key) ?? 0 }
    }
  }
}

/** The bytes of the ids of a relation to many without them: its member, and the address where a list goes on. */
function frameBytes({ to, list }: RelatedPath): number {
  if (to === 'one') return 0
  return (list?.parameters ?? []).reduce((sum, each) => sum + each.length, usualFrame)
}

/** An id in quotes, and a comma; of a relation to one the record itself has it. */
function idBytes({ to }: RelatedPath): number {
  return to === 'one' ? 0 : 39
}

/** About the bytes of a member of `related` with a cursor, without ids and parameters of the list. */
const usualFrame = 300

/** Whether records surely have all their related records: no two paths lead to one record at worst. */
export function fitsWhole(
  records: readonly AskedRecord[],
  paths: readonly FoundPath[],
  most: Load,
  includedBytes: number,
): boolean {
  let reachable = 0
  let bytes = records.reduce((sum, each) => sum + each.bytes, includedBytes)
  for (const { path, found } of paths) {
    bytes += found.size * frameBytes(path)
    for (const { ids } of found.values()) {
      reachable += ids.length
      bytes += ids.length * idBytes(path)
    }
  }
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
  let all: Load = { records: 0, bytes: 0 }
  for (const [index, record] of records.entries()) {
    all = sumOf([all, loadOf(record, paths, sizes, seen)])
    if (index > 0 && isBeyond(all, most)) return index
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

/** @param seen the keys of what is counted already */
function loadOf(
  { id, bytes }: AskedRecord,
  paths: readonly FoundPath[],
  sizes: Sizes,
  seen: Set<string> = new Set(),
): Load {
  const load = { records: 0, bytes }
  for (const part of partsFrom(id, paths, sizes)) {
    if (seen.has(part.key)) continue
    seen.add(part.key)
    load.records += part.records
    load.bytes += part.bytes
  }
  return load
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
    const others = { records: all.records - whole.records, bytes: all.bytes - whole.bytes + frameBytes(path) }
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
  const below = paths.filter((each) => path.to === 'many' && each.path.above === path.path)
  const begun = below.map(({ path, found }) => ({ path: { ...path, above: undefined }, found }))
  const loads = ids.map((each) => {
    const bytes = idBytes(path) + (sizes.get(reached(path, each).key) ?? 0)
    return sumOf([{ records: 1, bytes: 0 }, loadOf({ id: each, bytes }, begun, sizes)])
  })
  const most = (part: keyof Load) => Math.max(0, ...loads.map((load) => load[part]))
  const whole = sumOf([{ records: 0, bytes: frameBytes(path) }, ...loads])
  return { path, whole, largest: { records: most('records'), bytes: most('bytes') } }
}

function sumOf(loads: readonly Load[]): Load {
  const sum = (part: keyof Load) => loads.reduce((total, load) => total + load[part], 0)
  return { records: sum('records'), bytes: sum('bytes') }
}
