/**
 * The message that delivers an event: a CloudEvents 1.0 event in its structured JSON form, signed as Standard Webhooks
 * defines (EVT-8, EVT-9).
 */
import { createHmac } from 'node:crypto'
import { webhookSecretPrefix } from 'resourced-contract/model/event'
import type { ReadEvent } from '../plan/plan-events.ts'

/** The media type of an event. */
export const cloudEventType = 'application/cloudevents+json; charset=utf-8'

/**
 * The text of an event.
 *
 * @param source the path of the collection in the version of the receiver: `/v1/tasks`
 * @example
 * // {"specversion":"1.0","id":"…","source":"/v1/tasks","type":"tasks.created","subject":"…","time":"…",
 * //  "correlationid":"…","datacontenttype":"application/json","data":{"id":"…","title":"…"}}
 */
export function cloudEventText(event: Omit<ReadEvent, 'position'>, source: string): string {
  const { id, collection, record, kind, createdAt, json } = event
  const { data = null, request_id } = JSON.parse(json) as { readonly data?: unknown; readonly request_id?: unknown }
  return JSON.stringify({
    specversion: '1.0',
    id,
    source,
    type: `${collection}.${kind}`,
    subject: record,
    time: createdAt,
    // The extension Correlation: an attribute is never null.
    ...(request_id != null && { correlationid: request_id }),
    datacontenttype: 'application/json',
    data,
  })
}

/** What a signature covers. */
interface SignedMessage {
  /** The same in each attempt. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly body: string
}

/**
 * The header fields that identify and sign a message, with one signature for each secret.
 *
 * @param secrets as `newWebhookSecret` makes them
 */
export function signatureHeaders(secrets: readonly string[], { id, now, body }: SignedMessage): Record<string, string> {
  const seconds = String(Math.floor(now / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
}
