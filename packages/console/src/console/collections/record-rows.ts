/**
 * The records of a list that are on the screen, and those around them: however far somebody scrolls, no others stay in
 * memory.
 */
import { type UseQueryOptions, useQueries, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useEffect, useMemo, useState } from 'react'
import type { Collection } from '../interface/catalog.ts'
import { type Connection, useConnection } from '../interface/connection.tsx'
import { Problem } from '../interface/problem.ts'
import { type IncludedNames, includedNames, readReferences } from '../interface/record-name.ts'
import { collectionKey, type Page, type RecordData } from '../interface/records.ts'
import { type DrawnRows, useDrawnRows } from './drawn-rows.ts'
import { firstPlace, numberedPlaces, type Place, placesWithin, withPage } from './places.ts'
import type { Position } from './scroll-scale.ts'

/** How many rows around those that are drawn are loaded too. */
const ahead = 60
/** How long a page that nobody sees stays in memory, in milliseconds. */
const keptFor = 10_000

const withoutNames: IncludedNames = { parameters: [], references: [] }

/**
 * @param query the filters, sort and fields of the list
 * @param at the cursor of the page, or how many records are before it; `undefined`: the first page
 */
export function pageQuery(
  connection: Connection,
  collection: Collection,
  query: string,
  at: Place['at'],
): UseQueryOptions<Page, Problem> {
  const { name, path } = collection
  return {
    queryKey: [...collectionKey(connection, name), 'list', query, at ?? ''],
    queryFn: async ({ signal, client }) => {
      const asked = new URLSearchParams(query)
      // A recycle bin includes no live records.
      const names = asked.has('include_deleted')
        ? withoutNames
        : includedNames(connection, collection, asked.get('fields')?.split(','))
      const read = async (begin: Place['at'], limit: number, including = names.parameters): Promise<Page> => {
        const parameters = new URLSearchParams([...asked, ...including.map((each) => [...each])])
        parameters.set('limit', String(limit))
        if (begin !== undefined) parameters.set(typeof begin === 'number' ? 'offset' : 'cursor', String(begin))
        try {
          const { body } = await connection.send<Page>({ path, query: parameters, signal })
          // The related records were too many, or too large: without them the page is longer.
          const isCut = body.data.length < limit && body.pagination.next_cursor != null
          return isCut && including.length > 0 ? await read(begin, limit, []) : body
        } catch (error) {
          const isRefused = error instanceof Problem && (error.code === 'INCLUDE_TOO_LARGE' || error.status === 403)
          // Then the names are read one collection at a time.
          if (isRefused && including.length > 0) return await read(begin, limit, [])
          const isTooLarge = error instanceof Problem && error.code === 'PAGE_TOO_LARGE'
          if (!isTooLarge || typeof begin !== 'number' || limit === 1) throw error
          // The server shortens pages only if they are asked for by cursor (LIM-6).
          const half = Math.ceil(limit / 2)
          const [one, other] = await Promise.all([read(begin, half, []), read(begin + half, limit - half, [])])
          return { ...one, data: [...one.data, ...other.data] }
        }
      }
      const page = await read(at, connection.catalog.pageSize)
      readReferences(client, connection, collection, page, page.included === undefined ? withoutNames : names)
      return page
    },
    gcTime: keptFor,
  }
}

/** The part of a list that is drawn, and what is known of the rest. */
export interface Rows extends DrawnRows {
  /** By the number of the row; rows that are not loaded are missing. */
  readonly records: ReadonlyMap<number, RecordData>
  readonly problem: Problem | null
  readonly reload: () => void
}

/** What is known of a list. */
interface Known {
  readonly places: readonly Place[]
  /** How many records it has. */
  readonly count: number
}

const nothing: Known = { places: [firstPlace], count: 0 }
const beginning: Position = { top: 0, above: 0 }

/** The list that was left last: whoever comes back finds the same rows. */
const left = { list: '', known: nothing, position: beginning }

export interface List {
  readonly collection: Collection
  /** What the places of the rows depend on: filters and sort, but not the fields. */
  readonly name: string
  readonly query: string
}

export function useRows(scroller: RefObject<HTMLElement | null>, { collection, name, query }: List): Rows {
  const connection = useConnection()
  const client = useQueryClient()
  const { pageSize } = connection.catalog
  const [known, setKnown] = useState(() => {
    if (left.list !== name) Object.assign(left, { list: name, known: nothing, position: beginning })
    return left.known
  })
  const drawn = useDrawnRows(scroller, known.count, left)
  const around = { first: drawn.first - ahead, end: Math.min(drawn.end + ahead, Math.max(known.count, 1)) }
  const wanted = [
    ...(drawn.isPassing ? [] : numberedPlaces(known.places, around, pageSize)),
    ...placesWithin(known.places, around, pageSize),
  ]
  // The result stays the same object while its parts do.
  const { pages, problem } = useQueries({
    queries: wanted.map(({ at }) => pageQuery(connection, collection, query, at)),
    combine: (results) => ({
      pages: results.flatMap(({ data, dataUpdatedAt }, index) =>
        data === undefined ? [] : [{ place: wanted[index] ?? firstPlace, data, dataUpdatedAt }],
      ),
      problem: results.find(({ error }) => error !== null)?.error ?? null,
    }),
  })
  useEffect(() => {
    setKnown((before) => {
      const places = pages.reduce((found, { place, data }) => withPage(found, place, data), before.places)
      const [newest] = pages.toSorted((one, other) => other.dataUpdatedAt - one.dataUpdatedAt)
      // Records that were made or deleted meanwhile move the others: the last page of all says where the list ends.
      const last = pages.find(({ place, data }) => place === places.at(-1) && data.pagination.next_cursor === null)
      const count =
        last === undefined
          ? (newest?.data.pagination.total_count ?? before.count)
          : last.place.start + last.data.data.length
      return places === before.places && count === before.count ? before : { places, count }
    })
  }, [pages])
  useEffect(() => {
    left.known = known
  }, [known])
  const records = useMemo(
    () =>
      new Map(pages.flatMap(({ place, data }) => data.data.map((each, index) => [place.start + index, each] as const))),
    [pages],
  )
  return {
    ...drawn,
    records,
    problem,
    reload: () =>
      void client.refetchQueries({ queryKey: [...collectionKey(connection, collection.name), 'list', query] }),
  }
}
