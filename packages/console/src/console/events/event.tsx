/** Events (EVT-3): what they are, and how lists name the record of one. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { shortId } from '../collections/record-cell.tsx'
import { type Collection, labelOf, namingField } from '../interface/catalog.ts'
import type { Connection } from '../interface/connection.tsx'
import type { RecordData } from '../interface/records.ts'
import { brief } from '../ui/value.tsx'

export interface RecordEvent {
  readonly id: string
  readonly collection: string
  readonly record: string
  readonly kind: 'created' | 'updated' | 'deleted' | 'restored' | 'purged'
  /** The record after the change; `null`: it was deleted or purged. */
  readonly data: RecordData | null
  readonly created_at: string
}

/** The collection of events, if this version of the interface has events of a collection. */
export function eventsOf({ catalog }: Connection, { name }: Collection): Collection | undefined {
  const events = catalog.collections.get('events')
  return events?.field.get('collection')?.schema.enum?.includes(name) ? events : undefined
}

/** The address of the events of a record. */
export function eventsAddress(collection: string, record: string): string {
  return `/-/events?${new URLSearchParams({ collection, record })}`
}

/** What a record is called in its event; the end of its id if the event does not say. */
export function recordNameOf({ catalog }: Connection, { collection, record, data }: RecordEvent): string {
  const known = catalog.collections.get(collection)
  const name = known && data?.[namingField(known)]
  return brief(typeof name === 'string' && name.trim() !== '' ? name : shortId(record), 80)
}

type Happened = Pick<RecordEvent, 'collection' | 'record' | 'kind'>

/** A link to a record, unless it was removed for good. */
export function RecordLink({ event, name }: { readonly event: Happened; readonly name: string }): ReactNode {
  const { collection, record, kind } = event
  const label = <bdi className="text">{name}</bdi>
  return (
    <>
      {labelOf(collection)}{' '}
      {kind === 'purged' ? (
        label
      ) : (
        <Link to={`/${collection}/${encodeURIComponent(record)}`} title={record}>
          {label}
        </Link>
      )}
    </>
  )
}

/** A moment to the second: many events happen in the same minute. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  return (
    <time className="number" dateTime={at}>
      {new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}
    </time>
  )
}
