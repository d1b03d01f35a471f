/** The methods of react-admin for soft deletion: a recycle bin, and restoration. */
import { type Collection, ProblemError } from '../index.ts'
import type { AnyRecord } from './changes.ts'
import { concurrently, deleteAll, type Id, readMany, untilDeleted } from './records.ts'

/** A deleted record, as react-admin describes it. */
export interface DeletedRecord {
  /** The collection and the id, such as `tasks/01a1fe02-…`: an id alone does not tell where it was deleted. */
  readonly id: string
  readonly resource: string
  readonly deleted_at: string
  /** The record as it was. */
  readonly data: AnyRecord
}

/** Parameters of the list of deleted records. The filter names the collection, as `resource`. */
export interface DeletedListParams {
  readonly filter: { readonly resource?: string; readonly [parameter: string]: unknown }
  readonly sort?: { readonly field: string; readonly order: 'ASC' | 'DESC' }
  readonly pagination?: { readonly page: number; readonly perPage: number }
  readonly signal?: AbortSignal
}

/** The methods of a `SoftDeleteDataProvider`. Permanent deletion is left out: the server purges after a time. */
export interface SoftDeletion {
  softDelete(resource: string, params: { readonly id: Id }): Promise<{ data: DeletedRecord }>
  softDeleteMany(resource: string, params: { readonly ids: readonly Id[] }): Promise<{ data: DeletedRecord[] }>
  getListDeleted(params: DeletedListParams): Promise<{ data: DeletedRecord[]; total: number }>
  restoreOne(params: { readonly id: Id }): Promise<{ data: DeletedRecord }>
  restoreMany(params: { readonly ids: readonly Id[] }): Promise<{ data: DeletedRecord[] }>
}

type List = (
  name: string,
  params: Omit<DeletedListParams, 'filter'> & { filter: object },
) => Promise<{ data: AnyRecord[]; total: number }>

/** Makes the methods over the collections of a client. */
export function softDeletion(collection: (name: string) => Collection, list: List): SoftDeletion {
  const restore = async ({ id }: { readonly id: Id }): Promise<DeletedRecord> => {
    const [resource = '', record = ''] = String(id).split('/')
    return deletedRecord(resource, (await collection(resource).restore(record)) as AnyRecord)
  }
  return {
    async softDelete(resource, { id }) {
      const record = (await collection(resource).get(String(id))) as AnyRecord
      await untilDeleted(collection(resource).delete(record))
      return { data: deletedRecord(resource, record) }
    },
    async softDeleteMany(resource, { ids }) {
      const records = await readMany(collection(resource), ids, {}, {})
      await deleteAll(collection(resource), ids)
      return { data: records.map((record) => deletedRecord(resource, record)) }
    },
    async getListDeleted({ filter: { resource, ...filter }, sort, ...params }) {
      if (resource === undefined) {
        const detail = 'Deleted records are listed by collection: set the filter resource to the name of one.'
        throw new ProblemError(400, { code: 'FILTER_REQUIRED', detail })
      }
      const inData = sort && { ...sort, field: sort.field.replace(/^data\./, '') }
      const only = { ...filter, include_deleted: 'only' }
      const { data, total } = await list(resource, { ...params, sort: inData, filter: only })
      return { data: data.map((record) => deletedRecord(resource, record)), total }
    },
    restoreOne: async (params) => ({ data: await restore(params) }),
    restoreMany: async ({ ids }) => ({ data: await concurrently(ids, (id) => restore({ id })) }),
  }
}

function deletedRecord(resource: string, record: AnyRecord): DeletedRecord {
  const { deleted_at = new Date().toISOString(), ...data } = record
  return { id: `${resource}/${record.id}`, resource, deleted_at: String(deleted_at), data }
}
