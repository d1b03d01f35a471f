/** Deliveries of events to webhooks and functions (EVT-11): what they are, and the button that makes them again. */
import type { ReactNode } from 'react'
import { shortId } from '../collections/record-cell.tsx'
import type { RecordEvent } from '../events/event.tsx'
import { grantOf, useConnection } from '../interface/connection.tsx'
import type { RecordData } from '../interface/records.ts'
import { useChange } from '../interface/use-change.ts'
import { countOf } from '../ui/count-of.ts'
import { brief } from '../ui/value.tsx'
import { mostOfUrl } from './webhook.tsx'

/** The last answer of a receiver, or why there is none. */
export interface Answer {
  readonly status: number | null
  readonly duration_ms: number | null
  readonly body: string | null
  readonly error: string | null
}

export interface Delivery extends Pick<RecordEvent, 'id' | 'collection' | 'record' | 'kind' | 'created_at'> {
  /** `null`: a function, or a webhook that was deleted. */
  readonly webhook_id: string | null
  readonly function: string | null
  readonly event_id: string
  readonly status: 'pending' | 'succeeded' | 'failed' | 'discarded'
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly answer: Answer | null
}

export function DeliveryState({ delivery: { status, attempts } }: { readonly delivery: Delivery }): ReactNode {
  return (
    <>
      <span className={`job ${status}`}>{status}</span>
      {attempts > 0 && `, ${countOf(attempts, 'attempt')}`}
    </>
  )
}

/** An answer in a few words: "200 in 35 ms". */
export function answerText(answer: Answer | null): string {
  if (answer === null) return ''
  const { status, duration_ms: took, error } = answer
  return status === null ? brief(error ?? '') : `${status} in ${(took ?? 0).toLocaleString()} ms`
}

/** What a delivery goes to. */
export function receiverOf(
  { webhook_id: id, function: name }: Delivery,
  webhooks: readonly RecordData[] | undefined,
): string {
  if (id === null) return name ?? 'a deleted webhook'
  const url = webhooks?.find((each) => each.id === id)?.['url']
  return typeof url === 'string' ? brief(url, mostOfUrl) : shortId(id)
}

/** Makes a delivery again, once it has ended. */
export function SendAgain({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const connection = useConnection()
  const { change, problem, isSending } = useChange()
  const { webhook_id, event_id, function: name, status } = delivery
  const mayCreate = grantOf(connection, 'deliveries', 'create') !== 'none'
  if (!mayCreate || status === 'pending' || (webhook_id === null && name === null)) return null
  const send = async () => {
    const body = webhook_id === null ? { function: name, event_id } : { webhook_id, event_id }
    await change({ method: 'POST', path: '/deliveries', body }, 'It is sent again, as a new delivery.')
  }
  return (
    <>
      <button type="button" disabled={isSending} onClick={() => void send()}>
        Send again
      </button>
      {problem !== undefined && <span role="alert">{brief(problem.detail)}</span>}
    </>
  )
}
