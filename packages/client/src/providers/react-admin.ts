/**
 * A data provider for react-admin 5 over a client of the interface. At run time nothing of react-admin is needed: only
 * its types are imported.
 */
import type { DataProvider, FilterPayload, GetManyReferenceParams, PaginationPayload, SortPayload } from 'ra-core'
import type { FilterOperator } from 'resourced-contract/model/operators'
import type { Query } from '../index.ts'
import { type AnyRecord, newRecord } from './changes.ts'
import { type Explanation, withErrors } from './explain-problem.ts'
import {
  type AnyClient,
  changeAll,
  changeOne,
  collectionOf,
  deleteAll,
  deleteOne,
  type ProviderOptions,
  readMany,
  readRange,
  selectionOf,
} from './records.ts'
import { type SoftDeletion, softDeletion } from './soft-deletion.ts'

export type { AnyClient, ProviderOptions } from './records.ts'
export type { DeletedRecord, SoftDeletion } from './soft-deletion.ts'

/** A data provider with the methods of react-admin for soft deletion. */
export type ReactAdminDataProvider = DataProvider & SoftDeletion

/** The parameters of a list. */
export type ListParameters = Partial<Omit<GetManyReferenceParams, 'target' | 'id'>>

/** Messages by field, nested like the record: `{ title: 'title is required.', address: { city: '…' } }`. */
export interface FormErrors {
  readonly [field: string]: string | FormErrors
}

/** The error of every call that is refused or fails, with the properties of react-admin's own `HttpError`. */
export class ReactAdminError extends Error {
  override readonly name = 'HttpError'
  /** The status of the response; 0: no response arrived. */
  readonly status: number
  /**
   * The code of the problem. If fields are wrong, `errors` has a message for each, which forms show at its input, and
   * in `root.serverError` all messages, which react-admin announces: a form may lack an input for the field.
   */
  readonly body: { readonly code: string; readonly errors?: FormErrors }

  constructor({ status, code, message, fields }: Explanation, cause: unknown) {
    super(message, { cause })
    this.status = status
    const errors = fields.reduce<FormErrors>(add, { root: { serverError: message } })
    this.body = fields.length === 0 ? { code } : { code, errors }
  }
}

function add(errors: FormErrors, [[name = '', ...rest], message]: Explanation['fields'][number]): FormErrors {
  if (rest.length === 0) return { ...errors, [name]: message }
  const within = errors[name]
  return { ...errors, [name]: add(typeof within === 'object' ? within : {}, [rest, message]) }
}

/**
 * Makes a data provider for react-admin.
 *
 * A filter has the names of query parameters: `status`, `q`, `due_on[lt]`, `author.born[gte]`, or nested, as inputs
 * make it: `{ due_on: { lt: '2027-01-01' }, author: { name: 'Ann' } }`; `where` is a condition. `meta.fields` selects
 * the fields to read, and `meta.include` related records. Changes and deletions send `If-Match` for `previousData`, so
 * that nobody overwrites what somebody else has changed.
 *
 * @param client made by `createClient()`
 * @returns a provider whose calls reject with `ReactAdminError`
 * @example
 * const client = createClient({ url: 'https://api.example.com/v1', key })
 * const app = <Admin dataProvider={reactAdminDataProvider(client)}>…</Admin>
 */
export function reactAdminDataProvider(client: AnyClient, options: ProviderOptions = {}): ReactAdminDataProvider {
  const collection = (name: string) => collectionOf(client, name)
  const list = (name: string, { pagination, sort, filter, meta, signal }: ListParameters) => {
    const { page, perPage } = pagination ?? ({ page: 1, perPage: 25 } satisfies PaginationPayload)
    const query = { ...queryOf(filter), ...sorted(sort), ...selectionOf(meta) }
    return readRange(collection(name), query, { ...options, first: (page - 1) * perPage, count: perPage, signal })
  }
  const methods = {
    getList: async (name, params) => list(name, params) as never,
    getOne: async (name, { id, meta, signal }) => ({
      data: (await collection(name).get(String(id), { ...selectionOf(meta), signal })) as never,
    }),
    getMany: async (name, { ids, meta, signal }) => ({
      data: (await readMany(collection(name), ids, selectionOf(meta), { ...options, signal })) as never,
    }),
    getManyReference: async (name, { target, id, ...params }) =>
      list(name, { ...params, filter: { ...params.filter, [target]: id } }) as never,
    create: async (name, { data }) => ({
      data: (await collection(name).create(newRecord(data))) as never,
    }),
    update: async (name, { id, data, previousData }) => ({
      data: (await changeOne(collection(name), String(id), previousData as AnyRecord | undefined, data)) as never,
    }),
    updateMany: async (name, { ids, data }) => {
      await changeAll(collection(name), ids, data)
      return { data: ids as never }
    },
    delete: async (name, { id, previousData }) => {
      await deleteOne(collection(name), String(id), previousData as AnyRecord | undefined)
      return { data: (previousData ?? { id }) as never }
    },
    deleteMany: async (name, { ids }) => {
      await deleteAll(collection(name), ids)
      return { data: ids as never }
    },
    ...softDeletion(collection, list),
  } satisfies ReactAdminDataProvider
  return { ...withErrors(methods, ReactAdminError), supportAbortSignal: true }
}

/** The query parameters of a filter. A field without a value, as a cleared input leaves it, does not filter. */
function queryOf(filter: FilterPayload = {}): Query {
  const pairs = Object.entries(filter).flatMap(([name, value]) => parametersOf(name, value))
  return Object.fromEntries(pairs)
}

function parametersOf(name: string, value: unknown): [string, never][] {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return []
  if (value === null) return [[`${name}[null]`, true as never]]
  if (value instanceof Date) return [[name, value.toISOString() as never]]
  if (typeof value !== 'object' || Array.isArray(value) || name === 'where') return [[name, value as never]]
  return Object.entries(value).flatMap(([inner, each]) =>
    parametersOf(Object.hasOwn(operators, inner) ? `${name}[${inner}]` : `${name}.${inner}`, each),
  )
}

// Another name within a filter is a member of an object, or a field of a related record.
const operators: Readonly<Record<FilterOperator, true>> = {
  ...{ gt: true, gte: true, lt: true, lte: true, in: true, not: true, contains: true, starts_with: true, null: true },
  ...{ has: true, has_any: true, has_all: true },
}

/** React-admin sorts by `id` unless told otherwise. Ids ascend with the time of creation, which lists can sort by. */
function sorted({ field, order }: SortPayload = { field: '', order: 'ASC' }): Query {
  const name = field === 'id' ? 'created_at' : field
  return name === '' ? {} : { sort: order === 'DESC' ? `-${name}` : name }
}
