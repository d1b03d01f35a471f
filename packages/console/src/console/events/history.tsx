/** The last events of a record, on its page. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Collection } from '../interface/catalog.ts'
import { mayReadHistory, useConnection } from '../interface/connection.tsx'
import { collectionKey, type Page } from '../interface/records.ts'
import { eventsAddress, eventsOf, Moment, type RecordEvent } from './event.tsx'

/** How many events the page of a record shows. */
const shown = 8

interface Props {
  readonly collection: Collection
  readonly id: string
}

export function History({ collection, id }: Props): ReactNode {
  const connection = useConnection()
  const hasEvents = eventsOf(connection, collection) !== undefined
  const { data } = useQuery({
    queryKey: [...collectionKey(connection, 'events'), 'history', collection.name, id],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ collection: collection.name, record: id, sort: '-created_at' })
      query.set('limit', String(shown + 1))
      query.set('fields', 'id,kind,created_at')
      const { body } = await connection.send<Page>({ path: '/events', query, signal })
      return body.data as readonly Pick<RecordEvent, 'id' | 'kind' | 'created_at'>[]
    },
    enabled: hasEvents,
  })
  if (data === undefined || data.length === 0) return null
  return (
    <nav aria-label="History of the record">
      <h2>{mayReadHistory(connection, collection) ? 'Events' : 'History'}</h2>
      <ul className="related">
        {data.slice(0, shown).map((event) => (
          <li key={event.id}>
            <Link to={`/-/events/${event.id}`}>{event.kind}</Link> <Moment at={event.created_at} />
          </li>
        ))}
      </ul>
      {data.length > shown && (
        <p>
          <Link to={eventsAddress(collection.name, id)}>All events of the record</Link>
        </p>
      )}
    </nav>
  )
}
