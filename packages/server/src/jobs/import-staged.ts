/**
 * Imports rows that have keys of the system they come from: a row whose record is there already is not created again,
 * and references hold the key of another row or record. All rows are staged, checked and ordered before the first one
 * is written. They are written in batches, which an interrupted import continues, or all in one transaction.
 */

import { canonicalValue } from 'resourced-contract/model/decimal'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { always, comparisonKey, type Predicate, type Scalar } from 'resourced-contract/model/predicate'
import type { Field, RecordValues, Resource } from 'resourced-contract/model/resource'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import { draftCreate } from '../plan/draft.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { Create } from '../plan/plan.ts'
import type { Storage } from '../storage/storage.ts'
import { type ImportProblem, type ImportState, importBatch, issuesOf, planOf } from './import.ts'
import { type OrderedRow, Stage, type StagedReference } from './import-stage.ts'
import type { ReadableRecord } from './source.ts'

/** The keys of a collection. */
export interface KeySpace {
  readonly resource: Resource
  /** The unique field that holds the keys; `undefined`: records do not have them, so only rows can be referred to. */
  readonly field: Field | undefined
}

/** A row, or why it cannot be read. */
export type Incoming =
  | {
      readonly place: string
      /** The number of its collection, in `resources`. */
      readonly collection: number
      readonly value: unknown
      /** Its keys, by the numbers of their spaces. */
      readonly keys: readonly (readonly [space: number, key: string])[]
      readonly references: readonly StagedReference[]
      /** Its bytes in the source. */
      readonly size: number
    }
  | { readonly place: string; readonly issues: readonly Issue[]; readonly final?: boolean }

export interface StagedImport {
  readonly storage: Storage
  readonly resources: readonly Resource[]
  readonly spaces: readonly KeySpace[]
  readonly rows: AsyncIterable<Incoming>
  readonly caller: CallerView
  /** Reports invalid rows and continues without them. */
  readonly skipInvalid?: boolean
  /** Writes all rows in one transaction. */
  readonly isWhole: boolean
  /** Called while rows are staged, with their number. */
  readonly onStaged?: (count: number) => void
  /** Called before the first row is written, with the number of rows. */
  readonly onWriting?: (count: number) => void
  /** Called while rows are written. */
  readonly onProgress?: (written: number) => void
  readonly onProblem: (problem: ImportProblem & { readonly place: string }) => void
  /** Ends the import: of rows that are not written yet, none is. */
  readonly signal?: AbortSignal
}

/** How a staged import ended. */
export interface StagedResult {
  /** The created records of each collection. */
  readonly imported: ReadonlyMap<string, number>
  /** The rows whose records were there already. */
  readonly existing: number
  readonly skipped: number
  /** Whether it ended at refused rows. */
  readonly stopped: boolean
}

/** How many rows are looked up in one statement, unless they are large. */
const chunk = 1_000
const mostBytes = 4_000_000
/** How many refused rows of one transaction are reported. */
const mostRefusals = 100
const batch = 2_000

/**
 * Imports rows.
 *
 * @throws StorageFault if the database fails; the rows that `onProgress` was told are in, unless the import is whole
 */
export async function importStaged(options: StagedImport): Promise<StagedResult> {
  const stage = new Stage()
  try {
    const staged = await stageRows(options, stage)
    const imported = new Map<string, number>()
    if (options.signal?.aborted === true) return { imported, ...staged, stopped: false }
    if (staged.skipped > 0 && options.skipInvalid !== true) return { imported, ...staged, stopped: true }
    stage.order()
    options.onWriting?.(stage.count)
    const written = await (options.isWhole ? writeWhole : writeBatches)(options, stage, imported)
    return { imported, existing: staged.existing, skipped: staged.skipped + written.skipped, stopped: written.stopped }
  } finally {
    stage.close()
  }
}

/**
 * The text of a key, equal for equal values; `undefined`: the field cannot have the value. Texts of CSV and of other
 * databases are read as JSON would have them: `007` and `0x10` are no numbers.
 */
export function keyText(resource: Resource, field: Field, value: unknown): string | undefined {
  const given = field.type === 'integer' ? asInteger(value) : typeof value === 'number' ? String(value) : value
  const key = comparisonKey(resource, field.name, canonicalValue(field, given))
  return key === undefined ? undefined : JSON.stringify(key)
}

function asInteger(value: unknown): unknown {
  return typeof value === 'string' && /^-?(?:0|[1-9]\d*)$/.test(value.trim()) ? Number(value) : value
}

async function stageRows(options: StagedImport, stage: Stage): Promise<Pick<StagedResult, 'existing' | 'skipped'>> {
  const { rows, onProblem, onStaged, signal } = options
  const counts = { existing: 0, skipped: 0 }
  const refuse = (place: string, issues: readonly Issue[]) => {
    counts.skipped++
    onProblem({ line: 0, place, issues })
  }
  let waiting: Incoming[] = []
  let bytes = 0
  const flush = async () => {
    const there = await existingOf(options, waiting)
    for (const row of waiting) {
      const issues = 'issues' in row ? row.issues : stageRow(options, stage, row, there)
      if (issues === undefined) counts.existing++
      else if (issues.length > 0) refuse(row.place, issues)
    }
    waiting = []
    bytes = 0
    onStaged?.(stage.size)
  }
  for await (const row of rows) {
    if (signal?.aborted === true) return counts
    bytes += 'issues' in row ? 0 : row.size
    if (waiting.push(row) === chunk || bytes > mostBytes) await flush()
    if ('issues' in row && row.final === true) break
  }
  await flush()
  const lost = new Map<string, Issue[]>()
  const report = () => {
    for (const [place, issues] of lost) refuse(place, issues)
    lost.clear()
  }
  await stage.resolve(
    async (space, keys) => idsOf(options, space, keys),
    (dangling) => {
      if (!lost.has(dangling.place)) report()
      lost.getOrInsert(dangling.place, []).push(danglingIssue(options, dangling))
    },
  )
  report()
  return counts
}

type ReadableRow = Extract<Incoming, { value: unknown }>

/** The keys of records that are there already, by space, with their ids. */
type Existing = ReadonlyMap<number, ReadonlyMap<string, string>>

/** Stages a row. Returns what is wrong with it; `undefined`: its record is there already. */
function stageRow(
  options: StagedImport,
  stage: Stage,
  row: ReadableRow,
  existing: Existing,
): readonly Issue[] | undefined {
  if (row.keys.some(([space, key]) => existing.get(space)?.has(key))) return undefined
  const id = uuidv7()
  const issues = schemaIssues(options, row, id)
  if (issues.length > 0) return issues
  const duplicate = stage.add({ ...row, value: row.value as RecordValues, id })
  return duplicate === undefined ? [] : [duplicateKey(options, row, duplicate)]
}

async function existingOf(options: StagedImport, rows: readonly Incoming[]): Promise<Existing> {
  const found = new Map<number, ReadonlyMap<string, string>>()
  const pairs = rows.flatMap((row) => ('keys' in row ? row.keys : []))
  for (const [space, each] of Map.groupBy(pairs, ([number]) => number)) {
    found.set(space, await idsOf(options, space, [...new Set(each.map(([, key]) => key))]))
  }
  return found
}

/** The ids of the records that have these keys. */
async function idsOf(
  { storage, spaces }: StagedImport,
  space: number,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  const { resource, field } = spaces[space] as KeySpace
  if (field === undefined) return ids
  // A row may have a key that no record can have.
  const isKey = (value: unknown) => typeof value === (field.type === 'integer' ? 'number' : 'string')
  const values = keys.map((key): unknown => JSON.parse(key)).filter(isKey) as Scalar[]
  if (values.length === 0) return ids
  const filter = { kind: 'in', field: field.name, values } as const
  const page = await readRecords(storage, resource, { filter, limit: values.length, fields: [field.name] })
  for (const record of JSON.parse(`[${page.json}]`) as Record<string, unknown>[]) {
    const key = keyText(resource, field, record[field.name])
    if (key !== undefined) ids.set(key, String(record['id']))
  }
  return ids
}

/** Reads the first records of a collection, past access rules. */
export async function readRecords(
  storage: Storage,
  resource: Resource,
  { filter = always, limit, fields }: { filter?: Predicate; limit: number; fields: readonly string[] },
): Promise<Extract<Outcome, { kind: 'page' }>> {
  const page = await storage.run({
    ...{ kind: 'read-page', resource, parent: undefined, filter, permitted: always, search: undefined },
    ...{ deleted: undefined, sort: [], page: { style: 'offset', offset: 0, limit }, fields, conditions: {} },
  })
  if (page.kind !== 'page') throw new Error(`A list that anyone may read was refused as ${page.kind}.`)
  return page
}

/** What the schemas say about a row. Its references count as ids. */
function schemaIssues(
  options: StagedImport,
  { value, collection, references }: ReadableRow,
  id: string,
): readonly Issue[] {
  const links = Object.fromEntries(references.map(({ field }) => [field, id]))
  const body = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, ...links } : value
  const draft = draftCreate(planFor(options, { collection, id, value: body }))
  return 'issues' in draft ? draft.issues : []
}

function duplicateKey({ spaces }: StagedImport, { keys }: Pick<ReadableRow, 'keys'>, other: string): Issue {
  const { field } = spaces[keys[0]?.[0] ?? 0] as KeySpace
  return issue('sameKey', { ...(field && { pointer: `/${field.name}` }), name: field?.name ?? 'key', place: other })
}

function danglingIssue({ spaces }: StagedImport, { field, space, key }: StagedReference): Issue {
  const { resource, field: unique } = spaces[space] as KeySpace
  const sought = { key: unique?.name, target: resource.name, value: JSON.parse(key) }
  return issue(unique === undefined ? 'noRowWith' : 'noneWith', { pointer: `/${field}`, ...sought })
}

function planFor(
  { resources, caller }: Pick<StagedImport, 'resources' | 'caller'>,
  {
    collection,
    id,
    value,
    promised,
  }: Pick<OrderedRow, 'collection' | 'id'> & {
    readonly value: unknown
    readonly promised?: ReadonlySet<string> | undefined
  },
): Create {
  const resource = resources[collection] as Resource
  return planOf({ resource, caller }, { value, made: { resource, id, place: '', ...(promised && { promised }) } })
}

type Written = Pick<StagedResult, 'skipped' | 'stopped'>

/** The plans of rows in order. The rows of a circle promise each other. */
function* plansOf(options: StagedImport, stage: Stage, circle?: number): Generator<Create> {
  let [current, promised]: [number | undefined, ReadonlySet<string> | undefined] = [undefined, undefined]
  for (const row of stage.rows(circle)) {
    if (row.circle !== current) promised = row.circle === undefined ? undefined : stage.circle(row.circle)
    current = row.circle
    yield planFor(options, { ...row, promised: promised ?? (row.isOwnTarget ? new Set([row.id]) : undefined) })
  }
}

/** Writes all rows in one transaction, or none. */
async function writeWhole(options: StagedImport, stage: Stage, imported: Map<string, number>): Promise<Written> {
  const { storage, resources, onProgress } = options
  // A transaction that starts again asks for the plans again.
  const plans = {
    *[Symbol.iterator]() {
      imported.clear()
      let count = 0
      for (const plan of plansOf(options, stage)) {
        yield plan
        countOne(imported, plan.resource)
        if (++count % batch === 0) onProgress?.(count)
      }
    },
  }
  const refusals = await storage.loadAll({ resources, plans, mostRefusals })
  if (refusals.length === 0) return { skipped: 0, stopped: false }
  imported.clear()
  const indexes = new Map(refusals.map(({ index, outcome }) => [index, outcome]))
  let index = 0
  for (const { place } of stage.rows()) {
    const outcome = indexes.get(index++)
    if (outcome !== undefined) options.onProblem({ line: 0, place, issues: issuesOf(outcome) ?? [] })
  }
  return { skipped: refusals.length, stopped: true }
}

/** Writes rows in batches; each circle has a transaction of its own. */
async function writeBatches(options: StagedImport, stage: Stage, imported: Map<string, number>): Promise<Written> {
  const { storage, resources, caller, skipInvalid = false, onProblem, onProgress, signal } = options
  const state: ImportState = { imported: 0, skipped: 0, line: 0, stopped: false }
  const settings = { storage, resource: resources[0] as Resource, caller, skipInvalid }
  let waiting: ReadableRecord[] = []
  let characters = 0
  let last: number | undefined
  const flush = async () => {
    characters = 0
    const refused = new Set<string>()
    const before = state.imported
    const tried = waiting
    waiting = []
    const report = (problem: ImportProblem) => {
      refused.add(String(problem.place))
      onProblem({ ...problem, place: String(problem.place) })
    }
    await importBatch({ ...settings, onProblem: report }, tried, state)
    const created = tried.filter(({ made }) => !refused.has(String(made?.place))).slice(0, state.imported - before)
    for (const { made } of created) countOne(imported, (made as NonNullable<typeof made>).resource)
    onProgress?.(state.imported)
  }
  for (const row of stage.rows()) {
    if (state.stopped || signal?.aborted === true) break
    const { circle, collection, id, place, value, size } = row
    if (circle !== undefined) {
      if (circle === last) continue
      last = circle
      await flush()
      if (!state.stopped) await writeCircle(options, stage, { circle, imported, state })
      continue
    }
    const made = { resource: resources[collection] as Resource, id, place }
    const promised = row.isOwnTarget ? { promised: new Set([id]) } : {}
    characters += size
    const length = waiting.push({ line: 0, value, size, made: { ...made, ...promised } })
    if (length === batch || characters > mostBytes) await flush()
  }
  if (!state.stopped && signal?.aborted !== true) await flush()
  return { skipped: state.skipped, stopped: state.stopped }
}

interface Circle {
  readonly circle: number
  readonly imported: Map<string, number>
  readonly state: ImportState
}

async function writeCircle(options: StagedImport, stage: Stage, { circle, imported, state }: Circle): Promise<void> {
  const { storage, resources, skipInvalid = false, onProblem } = options
  const plans = { [Symbol.iterator]: () => plansOf(options, stage, circle) }
  const refusals = await storage.loadAll({ resources, plans, mostRefusals })
  const size = stage.circle(circle).size
  if (refusals.length === 0) {
    state.imported += size
    for (const row of stage.rows(circle)) countOne(imported, resources[row.collection] as Resource)
    return
  }
  state.skipped += size
  state.stopped = !skipInvalid
  const outcomes = new Map(refusals.map(({ index, outcome }) => [index, outcome]))
  let index = 0
  for (const { place } of stage.rows(circle)) {
    const outcome = outcomes.get(index++)
    const issues = outcome === undefined ? [inRefusedCircle] : (issuesOf(outcome) ?? [])
    onProblem({ line: 0, place, issues })
  }
}

const inRefusedCircle = issue('refusedCircle')

function countOne(imported: Map<string, number>, { name }: Resource): void {
  imported.set(name, (imported.get(name) ?? 0) + 1)
}
