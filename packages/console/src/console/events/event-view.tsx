/** One event: what happened to which record, and the record as it was then. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useConnection } from '../interface/connection.tsx'
import { type RecordData, useRecord } from '../interface/records.ts'
import { ReadOnly } from '../records/read-only.tsx'
import { DetailPage } from '../ui/detail-page.tsx'
import { eventsAddress, Moment, type RecordEvent, RecordLink, recordNameOf } from './event.tsx'

export default function EventView({ id }: { readonly id: string }): ReactNode {
  const connection = useConnection()
  const { data, error, refetch } = useRecord('events', id)
  const event = data?.record as (RecordEvent & RecordData) | undefined
  const collection = event && connection.catalog.collections.get(event.collection)
  return (
    <DetailPage
      list={['/-/events', 'Events']}
      title={event?.kind}
      buttons={
        event && (
          <>
            <Link className="button" to={eventsAddress(event.collection, event.record)}>
              History of the record
            </Link>
            {connection.catalog.collections.has('deliveries') && (
              <Link className="button" to={`/-/deliveries?event_id=${event.id}`}>
                Deliveries
              </Link>
            )}
          </>
        )
      }
      error={error}
      again={refetch}
    >
      {event && (
        <>
          <p>
            <RecordLink event={event} name={recordNameOf(connection, event)} /> was {event.kind},{' '}
            <Moment at={event.created_at} />
          </p>
          {event.data !== null && collection !== undefined ? (
            <>
              <h2>The record after the change</h2>
              <ReadOnly collection={collection} record={event.data} names={collection.fields.map(({ name }) => name)} />
            </>
          ) : (
            <p className="quiet">An event of a deletion does not contain the record.</p>
          )}
        </>
      )}
    </DetailPage>
  )
}
