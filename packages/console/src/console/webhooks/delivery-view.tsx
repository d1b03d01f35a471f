/** One delivery: its attempts, and how the receiver answered. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { shortId } from '../collections/record-cell.tsx'
import { Moment, RecordLink } from '../events/event.tsx'
import type { RecordData } from '../interface/records.ts'
import { useRecord } from '../interface/records.ts'
import { DetailPage } from '../ui/detail-page.tsx'
import { visible } from '../ui/value.tsx'
import { answerText, type Delivery, DeliveryState, SendAgain } from './delivery.tsx'

export default function DeliveryView({ id }: { readonly id: string }): ReactNode {
  const { data, error, refetch } = useRecord('deliveries', id)
  const delivery = data?.record as (Delivery & RecordData) | undefined
  return (
    <DetailPage
      list={['/-/deliveries', 'Deliveries']}
      title={delivery?.kind}
      buttons={
        delivery && (
          <>
            <Link className="button" to={`/-/events/${delivery.event_id}`}>
              Event
            </Link>
            {delivery.webhook_id !== null && (
              <Link className="button" to={`/-/webhooks/${delivery.webhook_id}`}>
                Webhook
              </Link>
            )}
            <SendAgain delivery={delivery} />
          </>
        )
      }
      error={error}
      again={refetch}
    >
      {delivery && (
        <>
          <p>
            <DeliveryState delivery={delivery} />
            {delivery.next_attempt_at !== null && (
              <>
                {', the next one '}
                <Moment at={delivery.next_attempt_at} />
              </>
            )}
          </p>
          <p>
            <RecordLink event={delivery} name={shortId(delivery.record)} />
            {delivery.function !== null && `, to the function ${delivery.function}`}
          </p>
          <h2>The last answer</h2>
          <p>{answerText(delivery.answer) || 'None yet.'}</p>
          {delivery.answer?.body && <pre>{visible(delivery.answer.body)}</pre>}
        </>
      )}
    </DetailPage>
  )
}
