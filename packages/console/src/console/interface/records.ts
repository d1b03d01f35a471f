/** Reads and changes of records, with the entity tags that keep two people from overwriting each other. */
import { type QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { Collection } from './catalog.ts'
import { type Connection, useConnection } from './connection.tsx'
import type { Problem } from './problem.ts'

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

export type RecordData = Readonly<Record<string, JsonValue>> & { readonly id: string }

/** A record and the tag that a change of it must send. */
export interface TaggedRecord {
  readonly record: RecordData
  readonly etag: string | undefined
}

/** One page of a list. */
export interface Page {
  readonly data: readonly RecordData[]
  /** Related records by collection and id, if the list was asked for them. */
  readonly included?: Readonly<Record<string, Readonly<Record<string, RecordData>>>>
  readonly pagination: {
    readonly total_count: number
    readonly next_cursor?: string | null
    readonly previous_cursor?: string | null
    readonly limit?: number
  }
}

/** The path of a record. */
export function recordPath(collection: string, id: string): string {
  return `/${collection}/${encodeURIComponent(id)}`
}

/** The address of the view of a record's history. */
export function historyAddress({ name }: Pick<Collection, 'name'>, id: string): string {
  return `/-/history${recordPath(name, id)}`
}

/** The key under which everything of a collection is cached; lists and records begin with it. */
export function collectionKey({ version }: Connection, collection: string): readonly unknown[] {
  return [version.name, 'collection', collection]
}

export function useRecord(collection: string, id: string): UseQueryResult<TaggedRecord, Problem> {
  const connection = useConnection()
  return useQuery<TaggedRecord, Problem>({
    queryKey: [...collectionKey(connection, collection), 'record', id],
    queryFn: async ({ signal }) => readRecord(connection, collection, id, signal),
  })
}

export async function readRecord(
  { send }: Connection,
  collection: string,
  id: string,
  signal?: AbortSignal,
): Promise<TaggedRecord> {
  const { body, etag } = await send<RecordData>({ path: recordPath(collection, id), signal })
  return { record: body, etag }
}

/** A key by which the server knows a creation that was sent twice (MET-9). */
export function newIdempotencyKey(): string {
  return crypto.randomUUID()
}

/**
 * Reads everything again that a change may have altered: with cascades and cleared references, that is every
 * collection of the version.
 */
export function refreshAll(client: QueryClient, { version }: Connection): Promise<void> {
  return client.invalidateQueries({ queryKey: [version.name, 'collection'] })
}
