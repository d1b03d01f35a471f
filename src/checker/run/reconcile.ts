/** Compares collections with what they held before a run, deletes what the checker left there, and reports the rest. */
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonOf } from '../client/exchange.ts'
import { basePath, type CollectionProfile, type Profile, urlOf } from '../profile/profile.ts'
import { type JsonObject, valueAt } from '../values/json.ts'
import { type Census, type Count, countOf, pathOf, takeCensus } from './census.ts'
import { removeAll } from './cleanup.ts'
import type { World } from './context.ts'

/** A collection that does not hold after a run what it held before. */
export interface Difference {
  readonly collection: string
  readonly before: number | undefined
  readonly after: number | undefined
  /** Records that the checker created and could not delete: paths from the root. */
  readonly created: readonly string[]
  /** Records that were not there before, and of which nothing shows who created them. */
  readonly unexplained: readonly string[]
}

/** How long a request without an answer may still take effect, in milliseconds. */
const settling = 1_000

// What other records refer to can only be deleted after them, and a deletion may fail once.
const mostTurns = 3

/** The most searches for marks in a list that is too long to be read. */
const mostSearches = 60

/** The records of a census, by their paths. */
export function pathsOf(profile: Profile, census: Census): Set<string> {
  return new Set(
    profile.collections.flatMap((collection) =>
      (census.get(collection.name)?.records ?? []).flatMap((each) => pathOf(profile, collection, each) ?? []),
    ),
  )
}

/** Deletes what was created unnoticed, and gives the collections that differ from what they were. */
export async function reconcile(world: World, before: Census): Promise<Difference[]> {
  const { ledger } = world
  if (ledger.unanswered > 0) await sleep(settling)
  let after = await takeCensus(world)
  for (let turn = 0; ; turn++) {
    // A server may answer a deletion 204 and keep the record.
    for (const path of await straysIn(world, before, after)) ledger.remains.add(path)
    if (ledger.remains.size === 0 || turn === mostTurns) break
    await removeAll(
      world,
      [...ledger.remains].reverse().map((path) => ({ path })),
    )
    after = await takeCensus(world)
  }
  return world.profile.collections.flatMap((collection) => {
    const [was, is] = [before.get(collection.name), after.get(collection.name)]
    return was === undefined || is === undefined ? [] : (differenceOf(world, collection, was, is) ?? [])
  })
}

/** Paths of records that are the checker's and that nobody has deleted. */
async function straysIn(world: World, before: Census, after: Census): Promise<string[]> {
  const { ledger, profile, reusesIdentifiers } = world
  const found: string[] = []
  for (const collection of profile.collections) {
    const [was, is] = [before.get(collection.name), after.get(collection.name)]
    if (was === undefined || is === undefined) continue
    const seen = is.isComplete ? is.records : [...is.records, ...(await marked(world, collection, was, is))]
    for (const record of seen) {
      const path = pathOf(profile, collection, record)
      if (path === undefined || ledger.foreign.has(path) || ledger.jobs.has(path)) continue
      // That an answer named it proves something only where it cannot be the successor of a deleted record.
      const isNamed = was.isComplete && reusesIdentifiers !== true && ledger.named.has(path)
      if (isNamed || ledger.isMarked(record)) found.push(path)
    }
  }
  return found
}

/** Records with a mark in a list that is too long to be read: found by the filter of the member that holds marks. */
async function marked(world: World, collection: CollectionProfile, was: Count, is: Count): Promise<JsonObject[]> {
  const { marker } = collection
  if (marker === undefined || (is.total !== undefined && is.total <= (was.total ?? 0))) return []
  const marks = [...world.ledger.marks].filter(([, isDoubtful]) => isDoubtful).map(([mark]) => mark)
  const found: JsonObject[] = []
  for (const mark of marks.slice(0, mostSearches)) {
    found.push(...((await countOf(world, collection, { [marker]: mark }))?.records ?? []))
  }
  return found
}

function differenceOf(world: World, collection: CollectionProfile, was: Count, is: Count): Difference | undefined {
  const { ledger, profile } = world
  const below = `${basePath(profile)}${collection.path}/`
  const created = [...ledger.remains].filter(
    (path) => path.startsWith(below) && !path.slice(below.length).includes('/'),
  )
  // The jobs that the checker began are reported apart.
  const jobs = is.records.filter((record) => ledger.jobs.has(pathOf(profile, collection, record) ?? ''))
  const unexplained = !was.isComplete
    ? []
    : is.records.flatMap((record) => {
        const path = pathOf(profile, collection, record)
        return path === undefined || [ledger.foreign, ledger.remains, ledger.jobs].some((known) => known.has(path))
          ? []
          : [path]
      })
  const after = is.total === undefined ? undefined : is.total - jobs.length
  const isSame = was.total === after && created.length === 0 && unexplained.length === 0
  return isSame ? undefined : { collection: collection.name, before: was.total, after, created, unexplained }
}

/** Deletes the jobs and exports that the run began, where the interface has addresses for both. Gives the paths of those that stay. */
export async function removeJobs(world: World): Promise<string[]> {
  const { ledger, profile, client, credentials } = world
  const base = basePath(profile)
  const own = [...ledger.jobs].filter(
    (path) => path.startsWith(`${base}/jobs/`) && /^[\w-]+$/.test(path.slice(base.length + 6)),
  )
  const stay: string[] = []
  let isOffered = true
  const remove = async (path: string) => {
    if (!isOffered) return stay.push(path)
    const { answer } = await client.send('removal', {
      ...{ method: 'DELETE', url: urlOf(profile, path), fields: credentials.caller },
    })
    // Where one address does not support DELETE, no other does.
    isOffered = answer?.status !== 405 && answer?.status !== 501
    return answer !== undefined && (answer.status < 300 || [404, 410].includes(answer.status)) ? 0 : stay.push(path)
  }
  for (const path of own) {
    const { answer } = await client.send('removal', {
      ...{ method: 'GET', url: urlOf(profile, path), fields: credentials.caller },
    })
    const content = answer && valueAt(jsonOf(answer), '/result/content_url')
    const file = typeof content === 'string' ? URL.parse(content, urlOf(profile, path))?.pathname : undefined
    const address = file?.match(/^(.*\/exports\/[\w-]+)\/content$/)?.[1]
    if (address?.startsWith(`${base}/exports/`)) await remove(address)
    if (answer !== undefined && answer.status < 300) await remove(path)
  }
  return stay
}
