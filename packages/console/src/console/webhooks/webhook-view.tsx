/** One webhook: what it is sent, its state, and its deliveries. */
import { type ReactNode, useState } from 'react'
import { Narrowing } from '../collections/narrowing.tsx'
import type { Field } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'
import { type RecordData, recordPath, useRecord } from '../interface/records.ts'
import { useChange } from '../interface/use-change.ts'
import { ReadOnly } from '../records/read-only.tsx'
import { navigate } from '../shell/fragment.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { type Webhook, WebhookSecret, WebhookState, type WithSecret } from './webhook.tsx'
import { WebhookForm } from './webhook-form.tsx'

export default function WebhookView({ id }: { readonly id: string }): ReactNode {
  const connection = useConnection()
  const { data, error, refetch } = useRecord('webhooks', id)
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'delete'>()
  const [rotated, setRotated] = useState<WithSecret>()
  const { change, problem, isSending } = useChange()
  const webhook = data?.record as Webhook | undefined
  const { collections } = connection.catalog
  const [kept, deliveries] = [collections.get('webhooks'), collections.get('deliveries')]
  const patch = (body: object) =>
    change<WithSecret>({
      ...{ method: 'PATCH', path: recordPath('webhooks', id), body },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    })
  const close = () => setDialog(undefined)
  const rotate = async () => {
    const answer = await patch({ rotate_secret: true })
    close()
    setRotated(answer?.body)
  }
  const remove = async () => {
    close()
    const request = { method: 'DELETE', path: recordPath('webhooks', id) } as const
    if ((await change(request, 'Deleted: nothing is sent to it any more.')) === undefined) return
    navigate('/-/webhooks')
  }
  const button = (label: string, run: () => unknown, className = '') => (
    <button type="button" className={className} disabled={isSending} onClick={() => void run()}>
      {label}
    </button>
  )
  return (
    <>
      <div className="row">
        <h1>
          <a className="quiet" href="#/-/webhooks">
            Webhooks
          </a>{' '}
          {webhook !== undefined && <bdi>{URL.parse(webhook.url)?.host ?? webhook.url}</bdi>}
        </h1>
        <span className="spring" />
        {webhook !== undefined && grantOf(connection, 'webhooks', 'update') !== 'none' && (
          <>
            {button(webhook.active ? 'Turn off' : 'Turn on', () => patch({ active: !webhook.active }))}
            {button('Edit', () => setDialog('edit'))}
            {button('Rotate the secret', () => setDialog('rotate'))}
          </>
        )}
        {webhook !== undefined &&
          grantOf(connection, 'webhooks', 'delete') !== 'none' &&
          button('Delete', () => setDialog('delete'), 'danger')}
      </div>
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      {problem !== undefined && <ProblemView problem={problem} />}
      {webhook !== undefined && kept !== undefined && (
        <div className="card">
          <p>
            <WebhookState webhook={webhook} />
          </p>
          <ReadOnly collection={kept} record={withTexts(webhook)} names={kept.fields.flatMap(shownName)} />
        </div>
      )}
      {webhook !== undefined && deliveries !== undefined && (
        <>
          <h2>Deliveries</h2>
          <div className="row toolbar">
            <Narrowing collection={deliveries} />
          </div>
          <DeliveryTable collection={deliveries} webhook={id} />
        </>
      )}
      {dialog === 'edit' && webhook !== undefined && <WebhookForm webhook={webhook} onClose={close} onSaved={close} />}
      {dialog === 'rotate' && (
        <Dialog
          title="Rotate the secret"
          onClose={close}
          actions={
            <>
              {button('Cancel', close)}
              {button('Rotate', rotate, 'primary')}
            </>
          }
        >
          <p>
            You get a new secret. The present one signs together with it for a day, so that your receiver can change.
          </p>
        </Dialog>
      )}
      {dialog === 'delete' && (
        <Dialog
          title="Delete the webhook"
          onClose={close}
          actions={
            <>
              {button('Cancel', close)}
              {button('Delete', remove, 'danger')}
            </>
          }
        >
          <p>Its pending deliveries are not made. You cannot undo this. To pause it, turn it off instead.</p>
        </Dialog>
      )}
      {rotated !== undefined && <WebhookSecret webhook={rotated} onClose={() => setRotated(undefined)} />}
    </>
  )
}

const shownElsewhere = ['id', 'active', 'expires_at', 'disabled_at', 'disabled_reason', 'updated_at']

function shownName({ name }: Field): string[] {
  return shownElsewhere.includes(name) ? [] : [name]
}

/** Lists as texts, and what is not set left out. */
function withTexts(webhook: Webhook): RecordData {
  const entries = Object.entries(webhook)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value])
  return Object.fromEntries(entries)
}
