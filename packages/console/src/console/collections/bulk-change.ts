/** The requests that change several records by one value, and what is wrong with each record. */
import { inputKind, simplified } from '../forms/input-kind.ts'
import { sentFields } from '../forms/record-form.tsx'
import { type Collection, type Field, typesOf } from '../interface/catalog.ts'
import type { Caller, Connection } from '../interface/connection.tsx'
import { Problem, type ProblemEntry } from '../interface/problem.ts'
import type { JsonValue } from '../interface/records.ts'
import type { ApiResponse } from '../interface/send.ts'
import { listQuery } from './filters.ts'

/**
 * The fields that may get one value in many records. Unique fields cannot, and an object would be merged into the one
 * that a record has.
 */
export function commonFields(collection: Collection, caller: Caller): readonly Field[] {
  return sentFields(collection, caller).filter(({ immutable, unique, schema, input }) => {
    const merged = simplified({ ...schema, ...input })
    const isPlain = inputKind(merged, undefined) !== 'json' && !typesOf(merged).includes('object')
    return !immutable && !unique && isPlain
  })
}

/** Changes all of the records, or none. */
export function changeSelected(
  { send }: Connection,
  { path }: Collection,
  ids: readonly string[],
  values: Readonly<Record<string, JsonValue>>,
): Promise<ApiResponse> {
  return send({
    ...{ method: 'PATCH', path, body: ids.map((id) => ({ id, ...values })) },
    headers: { 'Content-Type': 'application/merge-patch+json', Prefer: 'return=minimal' },
  })
}

/**
 * Changes all records that match the filters of a view, or none.
 *
 * @param most if more records match, none is changed
 */
export function changeMatching(
  { send }: Connection,
  collection: Collection,
  { view, most, values }: { readonly view: URLSearchParams; readonly most: number; readonly values: object },
): Promise<ApiResponse<{ readonly updated_count?: number }>> {
  const query = listQuery(collection, view)
  query.delete('sort')
  return send({
    ...{ method: 'PATCH', path: collection.path, query, body: values },
    headers: {
      'Content-Type': 'application/merge-patch+json',
      Prefer: `handling=strict, max-affected=${most}`,
    },
  })
}

/** The number of records that match the filters of a view, and that the caller may change. */
export async function countMatching(connection: Connection, collection: Collection, view: URLSearchParams) {
  try {
    // A change of no more than nothing counts.
    await changeMatching(connection, collection, { view, most: 0, values: {} })
    return 0
  } catch (error) {
    const count = error instanceof Problem ? countedIn(error) : undefined
    if (count === undefined) throw error
    return count
  }
}

/** How many records match, if a change was refused because they are too many. */
export function countedIn({ code, errors }: Problem): number | undefined {
  return code === 'TOO_MANY_AFFECTED' ? (errors[0] as { readonly count?: number }).count : undefined
}

/** What is wrong: with the value itself, or with some of the records. */
export interface BulkRefusal {
  readonly ofValue: readonly ProblemEntry[]
  readonly ofRecords: readonly { readonly id: string; readonly message: string }[]
}

/** Sorts the errors of a change. What is wrong with every record is wrong with the value. */
export function refusalOf({ errors }: Problem, ids: readonly string[], field: string): BulkRefusal {
  const placed = errors.flatMap((each) => {
    const id = ids[Number(/^\/(\d+)(?:\/|$)/.exec(each.pointer ?? '')?.[1])]
    return id === undefined ? [] : [{ ...each, id }]
  })
  const [first, ...others] = placed
  const isOne = first !== undefined && others.every(({ message }) => message === first.message)
  // Responses list a part of many errors.
  const areAll = new Set(placed.map(({ id }) => id)).size >= Math.min(ids.length, 100)
  const pointer = `/${field}`
  if (isOne && areAll) return { ofValue: [{ ...first, pointer }], ofRecords: [] }
  return { ofValue: errors.filter((each) => each.pointer === pointer), ofRecords: placed }
}
