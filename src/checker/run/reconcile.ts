/**
 * Compares collections with their content before the run, deletes what the checker left there, and reports the rest.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { basePath, type CollectionProfile } from '../profile/profile.ts'
import type { JsonObject } from '../values/json.ts'
import { type Census, type Count, countRecords, recordPath, takeCensus } from './census.ts'
import { removeRecords } from './cleanup.ts'
import { type RunContext, requesterFor } from './context.ts'

/** A collection whose content differs from its content before the run. */
export interface Difference {
  readonly collection: string
  readonly before: number | undefined
  readonly after: number | undefined
  /** Paths of records that the checker created and could not delete. */
  readonly created: readonly string[]
  /** Paths of new records whose creator is unknown. */
  readonly unexplained: readonly string[]
}

/** How long a request without a response may still take effect, in milliseconds. */
const settlingTime = 1_000

/** Records to which others refer can only be deleted after those, and a deletion may fail once. */
const mostTurns = 3

/** Deletes what was created unnoticed. Returns the collections that differ from their content before the run. */
export async function reconcile(run: RunContext, before: Census): Promise<Difference[]> {
  const { ledger, profile } = run
  if (ledger.unanswered > 0) await sleep(settlingTime)
  let after = await takeCensus(requesterFor(run), profile)
  for (let turn = 0; ; turn++) {
    // Includes records whose deletion was answered 204 although the server kept them.
    for (const path of await findOwnRecords(run, before, after)) ledger.remains.add(path)
    if (ledger.remains.size === 0 || turn === mostTurns) break
    await removeRecords(
      run,
      [...ledger.remains].reverse().map((path) => ({ path })),
    )
    after = await takeCensus(requesterFor(run), profile)
  }
  return profile.collections.flatMap((collection) => {
    const [was, is] = [before.get(collection.name), after.get(collection.name)]
    return was === undefined || is === undefined ? [] : (differenceOf(run, collection, was, is) ?? [])
  })
}

/** Paths of existing records that the checker created. */
async function findOwnRecords(run: RunContext, before: Census, after: Census): Promise<string[]> {
  const { ledger, profile, reusesIdentifiers } = run
  const found: string[] = []
  for (const collection of profile.collections) {
    const [was, is] = [before.get(collection.name), after.get(collection.name)]
    if (was === undefined || is === undefined) continue
    const records = is.isComplete ? is.records : [...is.records, ...(await findMarked(run, collection, was, is))]
    for (const record of records) {
      const path = recordPath(profile, collection, record)
      if (path === undefined || ledger.foreign.has(path) || ledger.jobs.has(path)) continue
      // A path in a response proves nothing if another record may have got the identifier of a deleted one.
      const isNamed = was.isComplete && reusesIdentifiers !== true && ledger.named.has(path)
      if (isNamed || ledger.isMarked(record)) found.push(path)
    }
  }
  return found
}

/** The most searches for marks in a list that is too long to be read. */
const mostSearches = 60

/** Records with a mark in a list that is too long to be read, found by the filter of the marker. */
async function findMarked(
  run: RunContext,
  collection: CollectionProfile,
  was: Count,
  is: Count,
): Promise<JsonObject[]> {
  const { marker } = collection
  if (marker === undefined || (is.total !== undefined && is.total <= (was.total ?? 0))) return []
  const marks = [...run.ledger.marks].filter(([, isDoubtful]) => isDoubtful).map(([mark]) => mark)
  const found: JsonObject[] = []
  for (const mark of marks.slice(0, mostSearches)) {
    const count = await countRecords(requesterFor(run), run.profile, collection, { [marker]: mark })
    found.push(...(count?.records ?? []))
  }
  return found
}

function differenceOf(run: RunContext, collection: CollectionProfile, was: Count, is: Count): Difference | undefined {
  const { ledger, profile } = run
  const start = `${basePath(profile)}${collection.path}/`
  const created = [...ledger.remains].filter(
    (path) => path.startsWith(start) && !path.slice(start.length).includes('/'),
  )
  const paths = is.records.flatMap((record) => recordPath(profile, collection, record) ?? [])
  const known = [ledger.foreign, ledger.remains, ledger.jobs]
  const unexplained = was.isComplete ? paths.filter((path) => !known.some((some) => some.has(path))) : []
  // Jobs that the checker began are reported separately.
  const jobs = paths.filter((path) => ledger.jobs.has(path))
  const after = is.total === undefined ? undefined : is.total - jobs.length
  const isSame = was.total === after && created.length === 0 && unexplained.length === 0
  return isSame ? undefined : { collection: collection.name, before: was.total, after, created, unexplained }
}
