/**
 * A data provider for refine 5 over a client of the interface. At run time nothing of refine is needed: only its types
 * are imported.
 */
import type { BaseKey, DataProvider, HttpError, MetaQuery } from '@refinedev/core'
import { type AnyRecord, newRecord } from './changes.ts'
import { type Explanation, withErrors } from './explain-problem.ts'
import {
  type AnyClient,
  changeAll,
  changeOne,
  collectionOf,
  concurrently,
  createAll,
  deleteAll,
  deleteOne,
  type ProviderOptions,
  readMany,
  readRange,
  selectionOf,
} from './records.ts'
import { filtered, sorted } from './refine-query.ts'

export type { AnyClient, ProviderOptions } from './records.ts'

/** Options of the data provider for refine. */
export interface RefineOptions extends ProviderOptions {
  /** What `useApiUrl()` returns; empty by default. */
  readonly apiUrl?: string
}

/** The error of every call that is refused or fails: refine's `HttpError`. */
export class RefineError extends Error implements HttpError {
  [property: string]: unknown
  override readonly name = 'HttpError'
  /** The status of the response; 0: no response arrived. */
  readonly statusCode: number
  /** The code of the problem. */
  readonly code: string
  /** What is wrong by field, such as `address.city`, so that forms show each message at its input. */
  readonly errors?: HttpError['errors']

  constructor({ status, code, message, fields }: Explanation, cause: unknown) {
    super(message, { cause })
    this.statusCode = status
    this.code = code
    if (fields.length > 0) this.errors = Object.fromEntries(fields.map(([path, text]) => [path.join('.'), text]))
  }
}

/** A data provider with all of refine's methods, except `custom`. */
export type RefineDataProvider = Required<Omit<DataProvider, 'custom'>>

// As many as people have open; the oldest are dropped first.
const mostRecords = 1_000

/**
 * Makes a data provider for refine.
 *
 * A change or deletion sends `If-Match` for the record as `getOne` read it last, or for `meta.previousData`, so that
 * nobody overwrites what somebody else has changed. The filter `deleted_at` with `nnull` lists deleted records, and a
 * change of `deleted_at` to `null` restores one. `meta.fields` selects the fields to read.
 *
 * @param client made by `createClient()`
 * @returns a provider whose calls reject with `RefineError`
 * @example
 * const client = createClient({ url: 'https://api.example.com/v1', key })
 * const app = <Refine dataProvider={refineDataProvider(client)} resources={[{ name: 'tasks' }]} />
 */
export function refineDataProvider(client: AnyClient, options: RefineOptions = {}): RefineDataProvider {
  const collection = (name: string) => collectionOf(client, name)
  // The records that forms show, as they were read.
  const shown = new Map<string, AnyRecord>()
  const show = (name: string, record: AnyRecord) => {
    shown.delete(`${name}/${record.id}`)
    shown.set(`${name}/${record.id}`, record)
    if (shown.size > mostRecords) shown.delete(shown.keys().next().value ?? '')
    return { data: record as never }
  }
  const beforeChange = (name: string, id: BaseKey, meta: MetaQuery = {}): AnyRecord | undefined =>
    meta['previousData'] ?? shown.get(`${name}/${id}`)
  const methods: Omit<RefineDataProvider, 'getApiUrl'> = {
    async getList({ resource, pagination = {}, filters, sorters, meta }) {
      const { mode = 'server', currentPage = 1, pageSize = 10 } = pagination
      const query = { ...filtered(filters), ...sorted(sorters) }
      const selection = { ...query, ...selectionOf(meta) }
      const signal = signalOf(meta)
      if (mode === 'server') {
        const range = { ...options, first: (currentPage - 1) * pageSize, count: pageSize, signal }
        return (await readRange(collection(resource), selection, range)) as never
      }
      const all = collection(resource).all({ ...selection, limit: options.maxPageSize ?? 100 }, { signal })
      const data = await Array.fromAsync(all)
      return { data: data as never, total: data.length }
    },
    getOne: async ({ resource, id, meta }) =>
      show(
        resource,
        (await collection(resource).get(String(id), { ...selectionOf(meta), signal: signalOf(meta) })) as AnyRecord,
      ),
    getMany: async ({ resource, ids, meta }) => ({
      data: (await readMany(collection(resource), ids, selectionOf(meta), {
        ...options,
        signal: signalOf(meta),
      })) as never,
    }),
    create: async ({ resource, variables }) =>
      show(resource, await collection(resource).create(newRecord(variables as object))),
    createMany: async ({ resource, variables }) => ({
      data: (await createAll(
        collection(resource),
        variables.map((values) => newRecord(values as object)),
      )) as never,
    }),
    async update({ resource, id, variables, meta }) {
      const [values, before] = [variables as object, beforeChange(resource, id, meta)]
      const changed = isRestoration(values)
        ? collection(resource).restore(String(id))
        : changeOne(collection(resource), String(id), before, values)
      return show(resource, await changed)
    },
    async updateMany({ resource, ids, variables }) {
      const changes = variables as object
      const changed = isRestoration(changes)
        ? await concurrently(ids, (id) => collection(resource).restore(String(id)))
        : await changeAll(collection(resource), ids, changes)
      return { data: changed as never }
    },
    async deleteOne({ resource, id, meta }) {
      const before = beforeChange(resource, id, meta)
      await deleteOne(collection(resource), String(id), before)
      return { data: (before ?? { id }) as never }
    },
    async deleteMany({ resource, ids }) {
      await deleteAll(collection(resource), ids)
      return { data: ids.map((id) => ({ id })) as never }
    },
  }
  return { ...withErrors(methods, RefineError), getApiUrl: () => options.apiUrl ?? '' }
}

/** Soft deletion sets `deleted_at`, so a change of it to `null` restores. The server alone sets it otherwise. */
function isRestoration(values: object): boolean {
  return 'deleted_at' in values && values.deleted_at === null && Object.keys(values).length === 1
}

/** Refine passes the context of its query, which has a signal that ends when nobody waits any more. */
function signalOf(meta: MetaQuery = {}): AbortSignal | undefined {
  return meta['signal'] ?? meta.queryContext?.signal
}
