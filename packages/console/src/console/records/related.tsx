/** What belongs to a record: the collections whose records refer to it, with how many do. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { type Collection, fieldLabel, labelOf } from '../interface/catalog.ts'
import { type Connection, grantOf, useConnection } from '../interface/connection.tsx'
import { collectionKey, type Page, recordPath } from '../interface/records.ts'
import { relationName } from '../interface/relations.ts'

interface Props {
  readonly collection: Collection
  readonly id: string
}

export function Related({ collection, id }: Props): ReactNode {
  const connection = useConnection()
  const readable = collection.referredBy.filter((each) => grantOf(connection, each.collection, 'read') !== 'none')
  const paths = readable
    .map((each) => relationName(collection, { to: 'many', ...each }))
    .filter((path) => path !== undefined)
    .slice(0, connection.catalog.includedPaths)
  const { data: counts, isPending } = useQuery({
    queryKey: [...collectionKey(connection, collection.name), 'counts', id],
    queryFn: ({ signal }) => readCounts(connection, recordPath(collection.name, id), paths, signal),
    enabled: paths.length > 0,
  })
  if (readable.length === 0) return null
  return (
    <nav aria-label="Related records">
      <h2>Related</h2>
      <ul className="related">
        {readable.map((each) => {
          const path = relationName(collection, { to: 'many', ...each }) ?? ''
          const isCounting = isPending && paths.includes(path)
          return (
            <li key={`${each.collection} ${each.field}`}>
              <RelatedLink
                {...each}
                id={id}
                isOnlyOne={isOnlyOne(readable, each.collection)}
                count={counts?.get(path) ?? (isCounting ? null : undefined)}
              />
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** Counts the records that refer to one: one request for all collections. */
async function readCounts(
  { send }: Connection,
  path: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const query = new URLSearchParams({ fields: 'id', include: paths.join() })
  for (const each of paths) query.set(`include[${each}][limit]`, '0')
  const { body } = await send<Counted>({ path, query, signal })
  return new Map(paths.map((each) => [each, Object.values(body.related[each] ?? {})[0]?.total_count ?? 0]))
}

/** A record with related records, as far as they are counted. */
interface Counted {
  readonly related: Readonly<Record<string, Readonly<Record<string, { readonly total_count: number }>>>>
}

interface LinkProps {
  readonly collection: string
  readonly field: string
  readonly id: string
  readonly isOnlyOne: boolean
  /** How many records there are. `null`: it is being read; `undefined`: this link reads it. */
  readonly count: number | null | undefined
}

function RelatedLink({ collection, field, id, isOnlyOne, count }: LinkProps): ReactNode {
  const connection = useConnection()
  const { data = count } = useQuery({
    queryKey: [...collectionKey(connection, collection), 'count', field, id],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ [field]: id, limit: '1', fields: 'id' })
      return (await connection.send<Page>({ path: `/${collection}`, query, signal })).body.pagination.total_count
    },
    enabled: count === undefined,
  })
  return (
    <Link to={`/${collection}?${field}=${encodeURIComponent(id)}`}>
      {labelOf(collection)}
      {!isOnlyOne && ` (${fieldLabel({ name: field, reference: collection }).toLowerCase()})`}{' '}
      {typeof data === 'number' && <span>{data.toLocaleString()}</span>}
    </Link>
  )
}

function isOnlyOne(related: readonly { readonly collection: string }[], name: string): boolean {
  return related.filter(({ collection }) => collection === name).length === 1
}
