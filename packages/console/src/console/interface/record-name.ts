/**
 * The names of records that others refer to. Those of a page of a list come with the page (REL-2). The names of other
 * records that are on the screen are read together: by one request for each collection (WHR-5).
 */
import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query'
import { type Collection, namingField } from './catalog.ts'
import { type Connection, grantOf, useConnection } from './connection.tsx'
import { collectionKey, type JsonValue, type Page } from './records.ts'
import { relationName } from './relations.ts'

/** `null`: there is no such record, or the caller may not read it or its name. */
type Name = JsonValue

/** The names of a collection that are still to be read, by the ids of the records. */
type Waiting = Map<string, PromiseWithResolvers<Name>>

const waitingOf = new WeakMap<Connection, Map<string, Waiting>>()

/** How long ids are gathered before their names are read, in milliseconds: a page is drawn in several steps. */
const gathering = 20
/** The most requests in a minute: the rest of the rate belongs to what people ask for. */
const mostPerMinute = 120
let windowStart = 0
let sentInWindow = 0

/** Waits until names may be read. */
async function permitted(): Promise<void> {
  for (let pause = gathering; ; pause = 5_000) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    const now = Date.now()
    if (now - windowStart > 60_000) [windowStart, sentInWindow] = [now, 0]
    if (sentInWindow < mostPerMinute) break
  }
  sentInWindow += 1
}

/** Reads the name of a record, together with the names that are wanted at the same time. */
function readName(connection: Connection, target: Collection, id: string): Promise<Name> {
  const ofConnection = waitingOf.get(connection) ?? new Map<string, Waiting>()
  waitingOf.set(connection, ofConnection)
  const running = ofConnection.get(target.name)
  const waiting: Waiting = running ?? new Map()
  const asked = waiting.get(id) ?? Promise.withResolvers<Name>()
  // Behind the others: what was wanted last is on the screen, and is read first.
  waiting.delete(id)
  waiting.set(id, asked)
  if (running === undefined) {
    ofConnection.set(target.name, waiting)
    void readWaiting(connection, target, waiting).finally(() => ofConnection.delete(target.name))
  }
  return asked.promise
}

/** Reads names until none is waiting, one page at a time: meanwhile the next ones gather. */
async function readWaiting(connection: Connection, target: Collection, waiting: Waiting): Promise<void> {
  while (waiting.size > 0) {
    await permitted()
    const batch = [...waiting].slice(-connection.catalog.pageSize)
    for (const [id] of batch) waiting.delete(id)
    try {
      const ids = batch.map(([id]) => id)
      const names = await readNames(connection, target, ids)
      for (const [id, asked] of batch) asked.resolve(names.get(id) ?? null)
    } catch (error) {
      for (const [, asked] of batch) asked.reject(error)
    }
  }
}

async function readNames({ send }: Connection, target: Collection, ids: readonly string[]): Promise<Map<string, Name>> {
  const field = namingField(target)
  const names = new Map<string, Name>()
  const query = new URLSearchParams({ 'id[in]': ids.join(), fields: field, limit: String(ids.length) })
  // A page ends early if its names are long (LIM-6).
  for (let cursor: string | null | undefined; cursor !== null; ) {
    if (cursor !== undefined) query.set('cursor', cursor)
    const { body } = await send<Page>({ path: target.path, query })
    for (const record of body.data) names.set(record.id, record[field] ?? null)
    cursor = body.pagination.next_cursor ?? null
  }
  return names
}

// As a filter, another text is refused with all of the ids beside it.
const recordId = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/

/** Whether the records of a collection have names that the caller may read. */
function hasNames(connection: Connection, target: Collection): boolean {
  return namingField(target) !== 'id' && grantOf(connection, target.name, 'read') !== 'none'
}

/** @returns `undefined` if the record has no name that the caller may read */
function nameQuery(connection: Connection, collection: string, id: string) {
  const target = connection.catalog.collections.get(collection)
  if (target === undefined || !hasNames(connection, target) || !recordId.test(id)) return undefined
  return {
    queryKey: [...collectionKey(connection, collection), 'name', id],
    queryFn: () => readName(connection, target, id),
    staleTime: 300_000,
    // Whoever scrolls through a long list passes a hundred thousand of them.
    gcTime: 60_000,
  }
}

/** @returns the name of a record; `undefined` if it is not known, or may not be read */
export function useRecordName(collection: string, id: string | undefined): string | undefined {
  const connection = useConnection()
  const query = id === undefined ? undefined : nameQuery(connection, collection, id)
  const { data } = useQuery<Name>(query ?? { queryKey: ['no name'], queryFn: skipToken })
  return typeof data === 'string' || typeof data === 'number' ? String(data) : undefined
}

/** References of a list whose names come with its pages. */
export interface IncludedNames {
  /** What the list is asked for beside the records. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
  readonly references: readonly { readonly field: string; readonly target: Collection }[]
}

/**
 * The names that one request reads together with a page of a list, where the server includes related records.
 *
 * @param shown the fields that the list shows
 */
export function includedNames(
  connection: Connection,
  collection: Collection,
  shown: readonly string[] | undefined,
): IncludedNames {
  const { collections, includedPaths } = connection.catalog
  const found = collection.fields.flatMap(({ name: field, reference = '' }) => {
    const target = collections.get(reference)
    const relation = relationName(collection, { to: 'one', collection: reference, field })
    const isShown = shown === undefined || shown.includes(field)
    return isShown && relation && target && hasNames(connection, target) ? [{ relation, field, target }] : []
  })
  const references = found.slice(0, includedPaths)
  if (references.length === 0) return { parameters: [], references }
  const names = references.map(({ relation, target }) => [`fields[${relation}]`, namingField(target)] as const)
  return { parameters: [['include', references.map(({ relation }) => relation).join()], ...names], references }
}

/**
 * Keeps the names that a page has, and reads the names of the other records that its records refer to, before the rows
 * are drawn.
 */
export function readReferences(
  client: QueryClient,
  connection: Connection,
  { fields }: Collection,
  { data: records, included = {} }: Page,
  { references }: IncludedNames,
): void {
  for (const { field, target } of references) {
    for (const { [field]: id } of records) {
      const query = typeof id === 'string' ? nameQuery(connection, target.name, id) : undefined
      const name = included[target.name]?.[String(id)]?.[namingField(target)] ?? null
      if (query !== undefined) client.setQueryData<Name>(query.queryKey, name)
    }
  }
  for (const { name, reference } of fields) {
    if (reference === undefined) continue
    for (const { [name]: id } of records) {
      const query = typeof id === 'string' ? nameQuery(connection, reference, id) : undefined
      if (query !== undefined) void client.prefetchQuery(query)
    }
  }
}
