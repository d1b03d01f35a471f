/** What belongs to a record: the collections whose records refer to it, with how many do. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { type Collection, fieldLabel, labelOf } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'
import { collectionKey, type Page } from '../interface/records.ts'

interface Props {
  readonly collection: Collection
  readonly id: string
}

export function Related({ collection, id }: Props): ReactNode {
  const connection = useConnection()
  const readable = collection.referredBy.filter((each) => grantOf(connection, each.collection, 'read') !== 'none')
  if (readable.length === 0) return null
  return (
    <nav aria-label="Related records">
      <h2>Related</h2>
      <ul className="related">
        {readable.map((each) => (
          <li key={`${each.collection} ${each.field}`}>
            <RelatedLink {...each} id={id} isOnlyOne={isOnlyOne(readable, each.collection)} />
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface LinkProps {
  readonly collection: string
  readonly field: string
  readonly id: string
  readonly isOnlyOne: boolean
}

function RelatedLink({ collection, field, id, isOnlyOne }: LinkProps): ReactNode {
  const connection = useConnection()
  const { data } = useQuery({
    queryKey: [...collectionKey(connection, collection), 'count', field, id],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ [field]: id, limit: '1', fields: 'id' })
      return (await connection.send<Page>({ path: `/${collection}`, query, signal })).body.pagination.total_count
    },
  })
  return (
    <Link to={`/${collection}?${field}=${encodeURIComponent(id)}`}>
      {labelOf(collection)}
      {!isOnlyOne && ` (${fieldLabel({ name: field, reference: collection }).toLowerCase()})`}{' '}
      {data !== undefined && <span>{data.toLocaleString()}</span>}
    </Link>
  )
}

function isOnlyOne(related: readonly { readonly collection: string }[], name: string): boolean {
  return related.filter(({ collection }) => collection === name).length === 1
}
