/** The deliveries of all webhooks and functions. */
import type { ReactNode } from 'react'
import { Narrowing } from '../collections/narrowing.tsx'
import type { Collection } from '../interface/catalog.ts'
import { DeliveryTable } from './delivery-table.tsx'

export default function DeliveriesView({ collection }: { readonly collection: Collection }): ReactNode {
  return (
    <>
      <h1>Deliveries</h1>
      <p className="quiet">Events on their way to webhooks and to functions of the server, newest first.</p>
      <div className="row toolbar">
        <Narrowing collection={collection} />
      </div>
      <DeliveryTable collection={collection} />
    </>
  )
}
