/** Webhooks: which addresses are sent events. */
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { Collection } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'
import { WhyNot } from '../records/why-not.tsx'
import { navigate } from '../shell/fragment.ts'
import { ProblemView } from '../ui/problem-view.tsx'
import { SmallTable } from '../ui/small-table.tsx'
import { brief } from '../ui/value.tsx'
import { mostOfUrl, useWebhooks, WebhookSecret, WebhookState, type WithSecret } from './webhook.tsx'
import { kinds, WebhookForm } from './webhook-form.tsx'

export default function WebhooksView({ collection }: { readonly collection: Collection }): ReactNode {
  const connection = useConnection()
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<WithSecret>()
  const { data, error, refetch } = useWebhooks()
  const mayCreate = grantOf(connection, 'webhooks', 'create') !== 'none'
  return (
    <>
      <div className="row">
        <h1>Webhooks</h1>
        <span className="spring" />
        <Link className="button" to="/-/deliveries">
          Deliveries
        </Link>
        {mayCreate && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            New webhook
          </button>
        )}
      </div>
      <p className="quiet">
        The server sends events to these addresses. A webhook gets the events that its maker may read.
      </p>
      {!mayCreate && <WhyNot collection={collection} action="create" />}
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      {data !== undefined && data.data.length > 0 && (
        <SmallTable titles={['Address', 'Events', 'Collections', 'State', 'Made by']}>
          {data.data.map((webhook) => (
            <tr key={webhook.id}>
              <td>
                <Link to={`/-/webhooks/${webhook.id}`}>
                  <bdi className="text">{brief(webhook.url, mostOfUrl)}</bdi>
                </Link>
              </td>
              <td>{webhook.events.length === kinds.length ? 'all' : webhook.events.join(', ')}</td>
              <td>{webhook.collections === null ? 'all' : brief(webhook.collections.join(', '))}</td>
              <td>
                <WebhookState webhook={webhook} />
              </td>
              <td>
                <bdi>{brief(String(webhook['subject']))}</bdi>
              </td>
            </tr>
          ))}
        </SmallTable>
      )}
      {data?.data.length === 0 && <p className="quiet">No webhooks yet.</p>}
      {data?.pagination.next_cursor && (
        <p className="quiet">The newest 100 of {data.pagination.total_count} webhooks.</p>
      )}
      {isCreating && (
        <WebhookForm
          onClose={() => setCreating(false)}
          onSaved={(saved) => {
            setCreating(false)
            setMade(saved as WithSecret)
          }}
        />
      )}
      {made !== undefined && <WebhookSecret webhook={made} onClose={() => navigate(`/-/webhooks/${made.id}`)} />}
    </>
  )
}
