/** The names of records that others refer to, read one by one and only as many as the rate of the caller allows. */
import { useQuery } from '@tanstack/react-query'
import { namingField } from './catalog.ts'
import { grantOf, useConnection } from './connection.tsx'
import { collectionKey, type RecordData, recordPath } from './records.ts'

/** The most names that are read in a minute: the rest of the rate belongs to what people ask for. */
const mostPerMinute = 120
/** How long a row must stay on the screen before its names are read, in milliseconds. */
const rest = 150
let windowStart = 0
let readInWindow = 0

/** Waits until a name may be read. */
async function permitted(signal: AbortSignal): Promise<void> {
  for (let pause = rest; ; pause = 5_000) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    signal.throwIfAborted()
    const now = Date.now()
    if (now - windowStart > 60_000) [windowStart, readInWindow] = [now, 0]
    if (readInWindow < mostPerMinute) break
  }
  readInWindow += 1
}

/** @returns the name of a record; `undefined` if it is not known, or may not be read */
export function useRecordName(collection: string, id: string | undefined): string | undefined {
  const connection = useConnection()
  const target = connection.catalog.collections.get(collection)
  const field = target === undefined ? 'id' : namingField(target)
  const { data } = useQuery({
    queryKey: [...collectionKey(connection, collection), 'name', id],
    queryFn: async ({ signal }) => {
      await permitted(signal)
      const query = new URLSearchParams({ fields: field })
      const { body } = await connection.send<RecordData>({ path: recordPath(collection, id ?? ''), query, signal })
      return body[field] ?? null
    },
    enabled: id !== undefined && field !== 'id' && grantOf(connection, collection, 'read') !== 'none',
    staleTime: 300_000,
  })
  return typeof data === 'string' || typeof data === 'number' ? String(data) : undefined
}
