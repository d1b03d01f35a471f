/** The first view: every collection with its total, and how to begin where there is nothing yet. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { isOperator } from '../interface/caller.ts'
import { type Collection, labelOf } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'
import { collectionKey, type Page } from '../interface/records.ts'
import { countOf } from '../ui/count-of.ts'
import { brief } from '../ui/value.tsx'

/** The most collections whose totals are asked for. */
const mostCounted = 24

export function Overview(): ReactNode {
  const connection = useConnection()
  const { catalog, caller } = connection
  const readable = [...catalog.collections.values()].filter(
    ({ name, made }) => made === 'by-clients' && grantOf(connection, name, 'read') !== 'none',
  )
  return (
    <>
      <h1>{catalog.title}</h1>
      <p className="quiet">
        Signed in as <bdi>{brief(caller.id)}</bdi>,{' '}
        {caller.roles.length === 0
          ? 'without roles'
          : `with the role${caller.roles.length === 1 ? '' : 's'} ${brief(caller.roles.join(', '))}`}
        .
      </p>
      {readable.length === 0 &&
        (isOperator(connection) ? (
          <p>
            You manage <Link to="/-/tenants">tenants</Link>, and see nothing of their records.
          </p>
        ) : (
          <p>There is no collection that you may read. Ask an administrator for a role.</p>
        ))}
      <ul className="tiles">
        {readable.map((collection, index) => (
          <Tile key={collection.name} collection={collection} isCounted={index < mostCounted} />
        ))}
      </ul>
    </>
  )
}

interface TileProps {
  readonly collection: Collection
  readonly isCounted: boolean
}

function Tile({ collection: { name, path, description }, isCounted }: TileProps): ReactNode {
  const connection = useConnection()
  const { data: total } = useQuery({
    queryKey: [...collectionKey(connection, name), 'total'],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ limit: '1', fields: 'id' })
      return (await connection.send<Page>({ path, query, signal })).body.pagination.total_count
    },
    enabled: isCounted,
  })
  return (
    <li className="card">
      <h2>
        <Link to={`/${name}`}>{labelOf(name)}</Link>
      </h2>
      {total !== undefined && <p className="number">{countOf(total, 'record')}</p>}
      {description !== undefined && <p className="quiet">{description}</p>}
      {total === 0 && grantOf(connection, name, 'create') !== 'none' && (
        <Link className="button" to={`/-/new/${name}`}>
          Create the first one
        </Link>
      )}
    </li>
  )
}
