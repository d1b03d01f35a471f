/** Counts the records of collections before and after a run, so that nothing which the checker created stays unnoticed. */

import { totalOf } from '../case/expect.ts'
import { type Answer, type Exchange, jsonOf, linksOf } from '../client/exchange.ts'
import { type CollectionProfile, type Profile, urlOf } from '../profile/profile.ts'
import { isObject, type JsonObject, memberPointer, valueAt } from '../values/json.ts'
import type { World } from './context.ts'

/** The records of a collection at a moment. */
export interface Count {
  /** As its list says, or as they were read; `undefined` where neither is known. */
  readonly total: number | undefined
  readonly records: readonly JsonObject[]
  /** Whether these are all. */
  readonly isComplete: boolean
}

/** By name of the collection. */
export type Census = ReadonlyMap<string, Count>

/** The most requests that are spent on one collection. A longer list is only counted by its total. */
const mostPages = 15

/** What it takes to read a list. */
export type Reading = Pick<World, 'client' | 'profile'> & { readonly credentials: Pick<World['credentials'], 'caller'> }

/** Counts the records of all collections that can be listed, with safe requests. */
export async function takeCensus(world: Reading): Promise<Census> {
  const listed = world.profile.collections.filter(({ operations }) => operations.includes('list'))
  const counts = await Promise.all(
    listed.map(async (collection) => [collection.name, await countOf(world, collection)] as const),
  )
  return new Map(counts.flatMap(([name, count]) => (count === undefined ? [] : [[name, count] as const])))
}

/** Counts the records of one collection; `undefined` where its list cannot be read. */
export async function countOf(
  world: Reading,
  collection: CollectionProfile,
  query: Readonly<Record<string, string>> = {},
): Promise<Count | undefined> {
  const { profile } = world
  const start = new URL(profile.base + collection.path)
  for (const [name, value] of Object.entries(query)) start.searchParams.set(name, value)
  const size = collection.pages.includes('page') ? 'per_page' : 'limit'
  if (collection.pages.length > 0) start.searchParams.set(size, '100')
  const records = new Map<string, JsonObject>()
  let total: number | undefined
  let url: string | undefined = start.href
  let isPaged = collection.pages.length > 0
  for (let page = 1; url !== undefined && page <= mostPages; page++) {
    const exchange: Exchange = await world.client.send('census', {
      method: 'GET',
      url,
      fields: [...world.credentials.caller, ['Accept', 'application/json']],
    })
    const { answer } = exchange
    const items = answer === undefined || answer.status >= 300 ? undefined : itemsIn(answer, profile)
    if (answer === undefined || items === undefined) return page === 1 ? undefined : cut(records, total)
    const told = totalOf(answer, { profile })
    if (told !== undefined && Number.isFinite(told)) total = told
    const before = records.size
    for (const item of items) records.set(String(item[collection.id] ?? `${page} ${records.size}`), item)
    const next = nextOf(exchange, answer, collection, profile, { start, page, read: records.size })
    isPaged ||= next?.isTold === true
    // A server that ignores the parameter shows the same page again.
    url = items.length === 0 || records.size === before || records.size === total ? undefined : next?.url
  }
  const isAll = total === undefined ? (isPaged || records.size < 10) && url === undefined : records.size >= total
  return { total: total ?? (isAll ? records.size : undefined), records: [...records.values()], isComplete: isAll }
}

function cut(records: ReadonlyMap<string, JsonObject>, total: number | undefined): Count {
  return { total, records: [...records.values()], isComplete: false }
}

function itemsIn(answer: Answer, { names }: Profile): JsonObject[] | undefined {
  const items = valueAt(jsonOf(answer), names.items)
  return Array.isArray(items) ? items.filter(isObject) : undefined
}

/** Where the next page is: where the answer says, or by the parameters that the collection has. */
function nextOf(
  { asked }: Exchange,
  answer: Answer,
  { pages }: CollectionProfile,
  { names }: Profile,
  { start, page, read }: { readonly start: URL; readonly page: number; readonly read: number },
): { readonly url: string; readonly isTold: boolean } | undefined {
  const cursor = valueAt(jsonOf(answer), names.next)
  const next = new URL(start)
  if (typeof cursor === 'string' && cursor !== '') {
    if (URL.canParse(cursor)) return sameOrigin(cursor, start)
    next.searchParams.set('cursor', cursor)
    return { url: next.href, isTold: true }
  }
  const link = linksOf(answer, asked.url).get('next')
  if (link !== undefined) return sameOrigin(new URL(link, asked.url).href, start)
  if (pages.includes('page')) next.searchParams.set('page', String(page + 1))
  else if (pages.includes('offset')) next.searchParams.set('offset', String(read))
  else return undefined
  return { url: next.href, isTold: false }
}

/** A credential is not taken elsewhere. */
function sameOrigin(url: string, start: URL): { readonly url: string; readonly isTold: boolean } | undefined {
  return new URL(url).origin === start.origin ? { url, isTold: true } : undefined
}

/** The path of a record of a list, from the root; `undefined` where it has no identifier. */
export function pathOf(
  { base }: Pick<Profile, 'base'>,
  { path, id }: CollectionProfile,
  record: JsonObject,
): string | undefined {
  const value = valueAt(record, memberPointer(id))
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return value === '' ? undefined : new URL(urlOf({ base }, `${base}${path}/${encodeURIComponent(value)}`)).pathname
}
