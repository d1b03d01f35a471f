/**
 * Deliveries, newest first, with the last answer of the receiver. They are read again, more often while one of them is
 * pending.
 */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { listQuery } from '../collections/filters.ts'
import { Empty } from '../collections/narrowing.tsx'
import { shortId } from '../collections/record-cell.tsx'
import { Moment, RecordLink } from '../events/event.tsx'
import type { Collection } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { collectionKey, type Page } from '../interface/records.ts'
import { useView } from '../shell/fragment.ts'
import { PageButtons } from '../ui/page-buttons.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { SmallTable } from '../ui/small-table.tsx'
import { answerText, type Delivery, DeliveryState, receiverOf, SendAgain } from './delivery.tsx'
import { useWebhooks } from './webhook.tsx'

type DeliveryPage = Pick<Page, 'pagination'> & { readonly data: readonly Delivery[] }

/** How often deliveries are read again, in milliseconds: events make new ones at any time. */
const readEvery = { pending: 3_000, ended: 10_000 }

interface Props {
  readonly collection: Collection
  /** The webhook whose deliveries are shown; `undefined`: those of all, and of functions. */
  readonly webhook?: string
}

export function DeliveryTable({ collection, webhook }: Props): ReactNode {
  const connection = useConnection()
  const [view] = useView()
  const filters = listQuery(collection, view)
  if (webhook !== undefined) filters.set('webhook_id', webhook)
  filters.set('sort', '-created_at')
  const filter = filters.toString()
  const [place, setPlace] = useState<{ readonly filter: string; readonly cursor: string }>()
  const query = new URLSearchParams([...filters, ['limit', '50']])
  if (place?.filter === filter) query.set('cursor', place.cursor)
  const { data, error, refetch } = useQuery<DeliveryPage, Problem>({
    queryKey: [...collectionKey(connection, 'deliveries'), 'list', query.toString()],
    queryFn: async ({ signal }) => (await connection.send<DeliveryPage>({ path: '/deliveries', query, signal })).body,
    refetchInterval: ({ state }) =>
      !state.error?.status &&
      readEvery[state.data?.data.some(({ status }) => status === 'pending') ? 'pending' : 'ended'],
  })
  const isOfAll = webhook === undefined
  const { data: webhooks } = useWebhooks(isOfAll && grantOf(connection, 'webhooks', 'read') !== 'none')
  return (
    <>
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      {/* An empty table that is wider than the page could not be scrolled by keyboard. */}
      {data !== undefined && data.data.length > 0 && (
        <SmallTable titles={['Event', 'Record', ...(isOfAll ? ['To'] : []), 'State', 'Answer', 'Made']} actions>
          {data.data.map((delivery) => (
            <tr key={delivery.id}>
              <td>
                <Link to={`/-/deliveries/${delivery.id}`}>{delivery.kind}</Link>
              </td>
              <td>
                <RecordLink event={delivery} name={shortId(delivery.record)} />
              </td>
              {isOfAll && (
                <td>
                  <bdi className="text">{receiverOf(delivery, webhooks?.data)}</bdi>
                </td>
              )}
              <td>
                <DeliveryState delivery={delivery} />
              </td>
              <td>
                <bdi className="text">{answerText(delivery.answer)}</bdi>
              </td>
              <td>
                <Moment at={delivery.created_at} />
              </td>
              <td>
                <SendAgain delivery={delivery} />
              </td>
            </tr>
          ))}
        </SmallTable>
      )}
      {data?.data.length === 0 && (
        <Empty collection={collection}>
          <p className="quiet">No deliveries yet.</p>
        </Empty>
      )}
      <PageButtons pagination={data?.pagination} onTurn={(cursor) => setPlace({ filter, cursor })} />
    </>
  )
}
