/** Reads and changes of several records: what both frameworks ask for in the same way. */
import { type Client, type Collection, Job, ProblemError, type Query } from '../index.ts'
import { type AnyRecord, changesBetween, madeFrom } from './changes.ts'

/** A client of any interface, as `createClient()` and `app.as()` make it. */
export type AnyClient = Pick<Client, 'caller'>

/** An id, as the frameworks have it. */
export type Id = string | number

/** Options of both providers. */
export interface ProviderOptions {
  /** The largest page that the interface permits: `limits.pageSize`, 100 unless declared. */
  readonly maxPageSize?: number
}

/** A part of a list. */
export interface Range extends ProviderOptions {
  /** The position of the first record, from 0. */
  readonly first: number
  readonly count: number
  readonly signal?: AbortSignal | undefined
}

// Browsers open six connections to a server with HTTP/1.1.
const mostRequestsAtOnce = 6

/**
 * The collection of a client by its name.
 *
 * @throws TypeError if the client has none: it is another object than a client, or has something else by that name
 */
export function collectionOf(client: AnyClient, name: string): Collection {
  const collection: Partial<Collection> | undefined = (client as Client)[name]
  if (typeof collection?.list === 'function') return collection as Collection
  throw new TypeError(
    `The client of the data provider has no collection ${JSON.stringify(name)}. Pass the client that createClient() ` +
      'returns, and name the resource as the interface names its collection.',
  )
}

/**
 * Reads a part of a list, in several pages if it is longer than a page may be.
 *
 * @returns the records, and how many the list has in total
 */
export async function readRange(collection: Collection, query: Query, { first, count, ...options }: Range) {
  const { maxPageSize = 100, signal } = options
  const end = first + count
  const read = (offset: number) =>
    collection.list({ ...query, offset, limit: Math.min(maxPageSize, end - offset) }, { signal })
  const page = await read(first)
  const total = page.pagination.total_count
  const offsets: number[] = []
  for (let offset = first + maxPageSize; offset < Math.min(end, total); offset += maxPageSize) offsets.push(offset)
  const others = await concurrently(offsets, read)
  return { data: [page, ...others].flatMap(({ data }) => [...data] as AnyRecord[]), total }
}

/**
 * The parameters in the `meta` of a read: `fields`, `include`, and those of included records, such as
 * `include[chapters][limit]`.
 */
export function selectionOf(meta: object = {}): Query {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => /^(?:fields|include)(?:\[|$)/.test(name)))
}

// Other ids have no record, and as a filter they are refused (WHR-5).
const recordId = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/

/**
 * Reads the records with these ids, in their order, by one request for each page of them. Records that do not exist, or
 * that the caller may not read, are left out.
 */
export async function readMany(
  collection: Collection,
  ids: readonly Id[],
  selection: Query,
  { maxPageSize = 100, signal }: ProviderOptions & { readonly signal?: AbortSignal | undefined },
): Promise<AnyRecord[]> {
  const known = [...new Set(ids.map(String))].filter((id) => recordId.test(id))
  const parts = Array.from({ length: Math.ceil(known.length / maxPageSize) }, (_, part) =>
    known.slice(part * maxPageSize, (part + 1) * maxPageSize),
  )
  const found = await concurrently(parts, async (part) => {
    try {
      const query = { ...selection, 'id[in]': part.join(), limit: part.length }
      return (await Array.fromAsync(collection.all(query, { signal }))) as AnyRecord[]
    } catch (error) {
      if (error instanceof ProblemError && [403, 404].includes(error.status)) return []
      throw error
    }
  })
  const records = new Map(found.flat().map((record) => [record.id, record]))
  return ids.flatMap((id) => records.get(String(id)) ?? [])
}

/**
 * Changes a record as a form did: the one that the form showed, or if that is unknown, whatever it is now.
 *
 * @param before the record as the form showed it
 * @param after the values of the form, which may be some of the fields
 */
export function changeOne(
  { update }: Collection,
  id: string,
  before: AnyRecord | undefined,
  after: object,
): Promise<AnyRecord> {
  const changes = changesBetween(before, after)
  return before ? update(madeFrom(before), changes) : changeAnyState((ifMatch) => update(id, changes, { ifMatch }))
}

/** Deletes a record, and waits until it is deleted: the one that was shown, or whatever it is now. */
export function deleteOne({ delete: remove }: Collection, id: string, before: AnyRecord | undefined): Promise<void> {
  return untilDeleted(before ? remove(madeFrom(before)) : changeAnyState((ifMatch) => remove(id, { ifMatch })))
}

/**
 * Makes the same change of several records, whatever they are now: of all of them, or of none. A collection that
 * requires conditions takes no change of several records (BLK-2), so that each is changed for itself.
 *
 * @throws ProblemError if a record cannot be changed; where each was changed for itself, it says how many
 */
export async function changeAll(collection: Collection, ids: readonly Id[], values: object): Promise<AnyRecord[]> {
  const changes = changesBetween(undefined, values)
  try {
    return [...(await collection.updateMany(ids.map((id) => ({ ...changes, id: String(id) }))))] as AnyRecord[]
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    if (error.status !== 428) throw withoutFields(error)
    return changeEach(ids, async (id) => (await collection.update(id, changes, { ifMatch: '*' })) as AnyRecord)
  }
}

async function changeEach(ids: readonly Id[], change: (id: string) => Promise<AnyRecord>): Promise<AnyRecord[]> {
  const refused: ProblemError[] = []
  const changed = await concurrently(ids, async (id) => {
    try {
      return await change(String(id))
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      refused.push(error)
      return undefined
    }
  })
  const [first] = refused
  if (first === undefined) return changed.filter((record) => record !== undefined)
  throw withoutFields(first, `${refused.length} of ${ids.length} records were not changed. `)
}

/**
 * Creates all of the records, or none.
 *
 * @throws ProblemError if one of them cannot be created
 */
export async function createAll(collection: Collection, records: readonly object[]): Promise<AnyRecord[]> {
  return [...(await ofSeveral(collection.createMany(records)))] as AnyRecord[]
}

/**
 * Deletes all of the records or none, and waits until they are deleted.
 *
 * @throws ProblemError if one of them cannot be deleted
 */
export async function deleteAll(collection: Collection, ids: readonly Id[]): Promise<void> {
  await ofSeveral(untilDeleted(collection.bulkDelete(ids.map(String))))
}

async function ofSeveral<Result>(request: Promise<Result>): Promise<Result> {
  try {
    return await request
  } catch (error) {
    throw error instanceof ProblemError ? withoutFields(error) : error
  }
}

/** A problem of several records, which no form shows: as one sentence. */
function withoutFields({ status, code, detail, errors, response }: ProblemError, prefix = ''): ProblemError {
  const messages = new Set(errors.map(({ message }) => message))
  return new ProblemError(status, { code, detail: prefix + ([...messages].join(' ') || detail) }, response)
}

/**
 * Changes a record whatever it is now. `If-Match: *` satisfies collections that require a condition (CON-7); it is not
 * sent at once because it also requires the permission to read.
 */
async function changeAnyState<Result>(change: (ifMatch?: string) => Promise<Result>): Promise<Result> {
  try {
    return await change()
  } catch (error) {
    if (error instanceof ProblemError && error.status === 428) return change('*')
    throw error
  }
}

/** Waits until a deletion is done, if a job does it. */
export async function untilDeleted(deletion: Promise<unknown>): Promise<void> {
  const result = await deletion
  if (result instanceof Job) await result.finished()
}

/** Runs a task for each item, a few at once. The results have the order of the items. */
export async function concurrently<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await run(item)
  }
  await Promise.all(Array.from({ length: mostRequestsAtOnce }, worker))
  return results
}
