/** Webhooks (EVT-8): what they are, and whether they are on. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Moment } from '../events/event.tsx'
import { useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { collectionKey, type JsonValue, type Page, type RecordData } from '../interface/records.ts'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { brief } from '../ui/value.tsx'

export interface Webhook extends RecordData {
  readonly url: string
  /** The kinds of events that are sent. */
  readonly events: readonly string[]
  /** `null`: all that its maker may read. */
  readonly collections: readonly string[] | null
  readonly filter: JsonValue
  readonly active: boolean
  /** When it ends with the credential of its maker; `null`: not by itself. */
  readonly expires_at: string | null
  /** When the server turned it off; `null`: it has not. */
  readonly disabled_at: string | null
}

/** In responses that make a secret. */
export type WithSecret = Webhook & { readonly secret: string }

export type WebhookPage = Pick<Page, 'pagination'> & { readonly data: readonly Webhook[] }

/** How many characters of an address a list shows. */
export const mostOfUrl = 60

/** The newest webhooks. */
export function useWebhooks(isReadable = true): UseQueryResult<WebhookPage, Problem> {
  const connection = useConnection()
  return useQuery<WebhookPage, Problem>({
    queryKey: [...collectionKey(connection, 'webhooks'), 'list'],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ limit: '100', sort: '-created_at' })
      return (await connection.send<WebhookPage>({ path: '/webhooks', query, signal })).body
    },
    enabled: isReadable,
  })
}

export function WebhookState({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { active, expires_at: end, disabled_at: disabledAt, disabled_reason: reason } = webhook
  if (active) {
    return (
      <>
        <span className="job succeeded">on</span>
        {end !== null && (
          <>
            {' until '}
            <Moment at={end} />
          </>
        )}
      </>
    )
  }
  if (disabledAt === null) return <span className="quiet">off</span>
  return <span className="job failed">turned off by the server{reason && `: ${brief(String(reason))}`}</span>
}

interface SecretProps {
  readonly webhook: WithSecret
  readonly onClose: () => void
}

export function WebhookSecret({ webhook: { secret, expires_at: end }, onClose }: SecretProps): ReactNode {
  return (
    <SecretDialog title="The secret of the webhook" secret={secret} onClose={onClose}>
      {end !== null && (
        <p>
          <strong>
            The webhook ends with the credential that made it, <Moment at={end} />.
          </strong>{' '}
          For one that lasts, sign in with an API key that does not expire, and turn the webhook off and on.
        </p>
      )}
      <p>
        Your receiver verifies each delivery with it, before it reads the body. Deliveries are signed as Standard
        Webhooks defines: in JavaScript, <code>new Webhook(secret).verify(body, headers)</code> of the package{' '}
        <code>standardwebhooks</code> throws if the signature is wrong.
      </p>
    </SecretDialog>
  )
}
