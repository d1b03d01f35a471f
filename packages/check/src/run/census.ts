/**
 * Counts the records of collections before and after a run, deletes what the checker left there, and reports the rest.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { totalOf } from '../case/expect.ts'
import { finderOf } from '../case/members.ts'
import { type Requester, request } from '../client/client.ts'
import { type Answer, isSuccess, jsonOf, linksOf } from '../client/exchange.ts'
import { basePath, type CollectionProfile, type Profile, profileFor, urlOf } from '../profile/profile.ts'
import { finderQuery, largestPage, pageNumberOf, parameterOf, sizeOf } from '../profile/query-style.ts'
import { isObject, type JsonObject, memberPointer, valueAt } from '../values/json.ts'
import { removeRecords } from './cleanup.ts'
import { type RunContext, requesterFor } from './context.ts'

export interface Count {
  /** The total in the list, or the number of records read; `undefined` if neither is known. */
  readonly total: number | undefined
  readonly records: readonly JsonObject[]
  /** Whether `records` are all records of the collection. */
  readonly isComplete: boolean
}

/** By name of the collection. */
export type Census = ReadonlyMap<string, Count>

/** Counts the records of all collections that have a list, with safe requests. */
export async function takeCensus(requester: Requester, profile: Profile): Promise<Census> {
  const listed = profile.collections.filter(({ operations }) => operations.includes('list'))
  const counts = await Promise.all(
    listed.map(async (each) => [each.name, await countRecords(requester, profile, each)] as const),
  )
  return new Map(counts.flatMap(([name, count]) => (count === undefined ? [] : [[name, count] as const])))
}

/** The most pages of a list that are read. Of a longer list only the total is known. */
const mostPages = 15

/** Counts the records of one collection; `undefined` if its list cannot be read. */
export async function countRecords(requester: Requester, profile: Profile, collection: CollectionProfile, query = '') {
  const own = profileFor(profile, collection)
  const start = new URL(profile.base + collection.path)
  start.search = query
  let isPaged = collection.pages.length > 0
  if (isPaged) start.searchParams.set(sizeOf(collection), String(largestPage(collection)))
  const records = new Map<string, JsonObject>()
  let total: number | undefined
  let url: string | undefined = start.href
  for (let page = 1; url !== undefined && page <= mostPages; page++) {
    const answer: Answer | undefined = (await request(requester, 'GET', url)).answer
    const items: unknown = isSuccess(answer) ? valueAt(jsonOf(answer), own.names.items) : undefined
    if (answer === undefined || !Array.isArray(items)) {
      return page === 1 ? undefined : { total, records: [...records.values()], isComplete: false }
    }
    const found = items.filter(isObject)
    const named = totalOf(answer, { profile: own })
    if (named !== undefined && Number.isFinite(named)) total = named
    const before = records.size
    for (const item of found) records.set(String(item[collection.id] ?? `${page} ${records.size}`), item)
    const linked = linkedPage(answer, own, collection, start, url)
    isPaged ||= linked !== undefined
    // A server that ignores the parameter returns the same page again.
    const isLast = found.length === 0 || records.size === before || records.size === total
    url = isLast ? undefined : (linked ?? numberedPage(collection, start, page, records.size))
  }
  const isComplete = total === undefined ? (isPaged || records.size < 10) && url === undefined : records.size >= total
  return { total: total ?? (isComplete ? records.size : undefined), records: [...records.values()], isComplete }
}

/** The address of the next page, by the cursor or the link of a response. On another server there is none. */
function linkedPage(answer: Answer, { names }: Profile, collection: CollectionProfile, start: URL, url: string) {
  const cursor = valueAt(jsonOf(answer), names.next)
  const isCursor = typeof cursor === 'string' && cursor !== ''
  if (isCursor && !URL.canParse(cursor)) {
    const next = new URL(start)
    next.searchParams.set(parameterOf(collection, 'cursor'), cursor)
    return next.href
  }
  const link = isCursor ? cursor : linksOf(answer, url).get('next')
  const next = link === undefined ? null : URL.parse(link, url)
  return next?.origin === start.origin ? next.href : undefined
}

function numberedPage(collection: CollectionProfile, start: URL, page: number, read: number): string | undefined {
  const { pages } = collection
  const next = new URL(start)
  const set = (name: 'page' | 'offset', value: number) =>
    next.searchParams.set(parameterOf(collection, name), String(value))
  if (pages.includes('page')) set('page', pageNumberOf(collection, page + 1))
  else if (pages.includes('offset')) set('offset', read)
  else return undefined
  return next.href
}

export function recordPaths(profile: Profile, census: Census): string[] {
  return profile.collections.flatMap((collection) =>
    (census.get(collection.name)?.records ?? []).flatMap((each) => recordPath(profile, collection, each) ?? []),
  )
}

/** The path of a record, from the root; `undefined` if it has no identifier. */
export function recordPath(profile: Profile, { path, id }: CollectionProfile, record: JsonObject): string | undefined {
  const value = valueAt(record, memberPointer(id))
  if ((typeof value !== 'string' && typeof value !== 'number') || value === '') return undefined
  return new URL(urlOf(profile, `${profile.base}${path}/${encodeURIComponent(value)}`)).pathname
}

/** A collection whose content differs from its content before the run. */
export interface Difference {
  readonly collection: string
  readonly before: number | undefined
  readonly after: number | undefined
  /** Paths of records that the checker created and could not delete. */
  readonly created: readonly string[]
  /** Paths of new records whose creator is unknown. */
  readonly unexplained: readonly string[]
  /** Whether the list could be read before the run, and cannot be read any more. */
  readonly isUnreadable?: boolean
  /** Whether clients create or delete records there. Otherwise only the server writes them, such as events. */
  readonly isMade: boolean
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
  // Nothing can be said of a server that does not answer any more.
  const isSilent = async () => (await request(requesterFor(run), 'GET', profile.base)).answer === undefined
  if (before.size > 0 && after.size === 0 && (await isSilent())) return []
  return profile.collections.flatMap((collection) => {
    const [was, is] = [before.get(collection.name), after.get(collection.name)]
    if (was === undefined) return []
    return is === undefined ? [unreadable(collection, was)] : (differenceOf(run, collection, was, is) ?? [])
  })
}

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
      // Records that only the server writes, such as events, quote the marks of others.
      const isMarked = isWritable(collection) && ledger.isMarked(record)
      if (isNamed || isMarked) found.push(path)
    }
  }
  return found
}

/** Whether clients create or delete records. The checker may have given up the creation. */
function isWritable({ operations }: CollectionProfile): boolean {
  return operations.includes('create') || operations.includes('delete')
}

/** The most searches for marks in a list that is too long to be read. */
const mostSearches = 60

/** Records with a mark in a list that is too long to be read, found by the finder of the collection. */
async function findMarked(run: RunContext, collection: CollectionProfile, was: Count, is: Count) {
  const finder = finderOf(collection)
  if (finder === undefined || (is.total !== undefined && is.total <= (was.total ?? 0))) return []
  const marks = [...run.ledger.marks].filter(([, isDoubtful]) => isDoubtful).map(([mark]) => mark)
  const found: JsonObject[] = []
  for (const mark of marks.slice(0, mostSearches)) {
    const query = finderQuery(finder, (name) => (name === 'mark' ? mark : undefined))
    const count = query && (await countRecords(requesterFor(run), run.profile, collection, query))
    if (count) found.push(...count.records)
  }
  return found
}

/** What is said of a list that could be read before the run, and cannot be any more. */
function unreadable(collection: CollectionProfile, { total }: Count): Difference {
  const nothing = { after: undefined, created: [], unexplained: [] }
  return { collection: collection.name, before: total, ...nothing, isMade: isWritable(collection), isUnreadable: true }
}

function differenceOf(run: RunContext, collection: CollectionProfile, was: Count, is: Count): Difference | undefined {
  const { ledger, profile } = run
  const start = `${basePath(profile)}${collection.path}/`
  const created = [...ledger.remains].filter(
    (path) => path.startsWith(start) && !path.slice(start.length).includes('/'),
  )
  const paths = is.records.flatMap((record) => recordPath(profile, collection, record) ?? [])
  const known = [ledger.foreign, ledger.remains, ledger.jobs]
  const isMade = isWritable(collection)
  const unexplained = was.isComplete && isMade ? paths.filter((path) => !known.some((some) => some.has(path))) : []
  // Jobs that the checker began are reported separately.
  const jobs = paths.filter((path) => ledger.jobs.has(path))
  const after = is.total === undefined ? undefined : is.total - jobs.length
  // What could not be counted before shows nothing now.
  const isEqual = was.total === after || was.total === undefined
  const isSame = isEqual && created.length === 0 && unexplained.length === 0
  return isSame ? undefined : { collection: collection.name, before: was.total, after, created, unexplained, isMade }
}
