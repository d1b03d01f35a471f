/** Events, newest first: what happened to which record. The filters stand in the address. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { listQuery } from '../collections/filters.ts'
import { Empty, Narrowing } from '../collections/narrowing.tsx'
import type { Collection } from '../interface/catalog.ts'
import { useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { collectionKey, type Page } from '../interface/records.ts'
import { useView } from '../shell/fragment.ts'
import { PageButtons } from '../ui/page-buttons.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { SmallTable } from '../ui/small-table.tsx'
import { Moment, type RecordEvent, RecordLink, recordNameOf } from './event.tsx'
import { mostFollowed, useLiveEvents } from './live-events.ts'

type EventPage = Pick<Page, 'pagination'> & { readonly data: readonly RecordEvent[] }

export default function EventsView({ collection }: { readonly collection: Collection }): ReactNode {
  const connection = useConnection()
  const [view, changeView] = useView()
  const isLive = view.get('live') === 'on'
  const filters = listQuery(collection, view)
  filters.delete('sort')
  const filter = filters.toString()
  const [place, setPlace] = useState<{ readonly filter: string; readonly cursor: string }>()
  const cursor = !isLive && place?.filter === filter && place.cursor
  const query = new URLSearchParams([...filters, ['sort', '-created_at'], ['limit', '50']])
  if (cursor) query.set('cursor', cursor)
  const { data, error, refetch } = useQuery<EventPage, Problem>({
    queryKey: [...collectionKey(connection, 'events'), 'list', query.toString()],
    queryFn: async ({ signal }) => (await connection.send<EventPage>({ path: '/events', query, signal })).body,
  })
  const live = useLiveEvents(isLive ? filter : undefined, () => void refetch())
  const arrived = new Set(live.events.map(({ id }) => id))
  const earlier = data?.data.filter(({ id }) => !arrived.has(id)) ?? []
  const events = [...live.events, ...earlier].slice(0, isLive ? mostFollowed : undefined)
  return (
    <>
      <div className="row">
        <h1>Events</h1>
        <span className="quiet" role="status">
          {isLive && live.problem === undefined && (live.isOpen ? 'Following' : 'Connecting…')}
        </span>
        <span className="spring" />
        <button
          type="button"
          aria-pressed={isLive}
          title="Shows events as they happen"
          onClick={() => changeView((next) => (isLive ? next.delete('live') : next.set('live', 'on')))}
        >
          Live
        </button>
      </div>
      <p className="quiet">What happened to records, newest first. You see the events of records that you may read.</p>
      <div className="row toolbar">
        <Narrowing collection={collection} />
      </div>
      {live.problem !== undefined && <ProblemView problem={live.problem} />}
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      {events.length > 0 && (
        <SmallTable titles={['Event', 'Record', 'Time']}>
          {events.map((event) => (
            <tr key={event.id}>
              <td>
                <Link to={`/-/events/${event.id}`}>{event.kind}</Link>
              </td>
              <td>
                <RecordLink event={event} name={recordNameOf(connection, event)} />
              </td>
              <td>
                <Moment at={event.created_at} />
              </td>
            </tr>
          ))}
        </SmallTable>
      )}
      {data !== undefined && events.length === 0 && (
        <Empty collection={collection}>
          <p className="quiet">No events yet.</p>
        </Empty>
      )}
      {!isLive && <PageButtons pagination={data?.pagination} onTurn={(next) => setPlace({ filter, cursor: next })} />}
    </>
  )
}
