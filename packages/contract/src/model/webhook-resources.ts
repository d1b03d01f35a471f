/** The resources of webhooks and of deliveries, which an interface has where a resource has events (EVT-8, EVT-11). */
import type { InterfaceDeclaration } from './declaration.ts'
import { deliveryStatuses, eventKinds } from './event.ts'

/** The limits of a webhook: characters of its URL and of its description, bytes of its filter as JSON. */
export const webhookBounds = { url: 2_000, description: 500, filter: 10_000 } as const

const instant = { type: 'string', format: 'date-time', optional: true, readOnly: true } as const
const shown = { optional: true, readOnly: true } as const

/** The declarations of both. The server writes their records when clients ask for it, or by itself. */
export const webhookResources: InterfaceDeclaration['resources'] = {
  webhooks: {
    title: 'Webhooks',
    description:
      'Webhooks: URLs that events are sent to. The secret that signs deliveries is shown once, in the response that ' +
      'creates or changes it.',
    fields: {
      url: {
        ...{ type: 'string', minLength: 1, maxLength: webhookBounds.url },
        description: 'Where events are sent: an https address without user name and password.',
      },
      events: {
        ...{ type: 'array', items: { enum: [...eventKinds] }, minItems: 1, uniqueItems: true },
        ...{ default: [...eventKinds], description: 'The kinds of events that are sent.' },
      },
      collections: {
        ...{ type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true, optional: true },
        description: 'The collections whose events are sent; null: all that its maker may read.',
      },
      filter: {
        ...{ type: 'object', optional: true },
        description:
          'Conditions on records by collection, as in access rules: {"tasks": {"status": "open"}}. Deletions are ' +
          'sent in any case, because they have no data.',
      },
      description: { type: 'string', maxLength: webhookBounds.description, optional: true },
      active: { type: 'boolean', default: true, description: 'Whether it is sent events. While it is not, they wait.' },
      version: { ...shown, type: 'string', description: 'The version in whose terms it gets events.' },
      subject: { type: 'string', filter: true, readOnly: true, description: 'Who made it: it may read what they may.' },
      roles: { ...shown, type: 'array', items: { type: 'string' }, description: 'The roles that it reads with.' },
      made_by: {
        ...{ ...shown, type: 'string' },
        description: 'The id of the API key, or the subject of the token, that made it or turned it on last.',
      },
      expires_at: {
        ...instant,
        description:
          'When it ends with the credential that made it; null: not by itself. Its maker can turn it on again.',
      },
      disabled_at: { ...instant, description: 'When the server turned it off; null: it has not.' },
      disabled_reason: { ...shown, type: 'string', description: 'Why the server turned it off.' },
    },
    owner: 'subject',
    access: {
      read: ['role:admin', 'owner'],
      create: 'role:admin',
      update: ['role:admin', 'owner'],
      delete: ['role:admin', 'owner'],
    },
    deletion: { variant: 'hard', bulk: false },
  },
  deliveries: {
    title: 'Deliveries',
    description: 'Deliveries of events to webhooks and to functions of the server: their state and the last answer.',
    fields: {
      webhook_id: {
        ...{ type: 'string', reference: 'webhooks', onDelete: 'clear', optional: true },
        description: 'The webhook; null: a function, or a webhook that was deleted.',
      },
      function: { type: 'string', optional: true, description: 'The function; null: a webhook.' },
      event_id: { type: 'string', format: 'uuid', filter: true, description: 'The event.' },
      collection: { type: 'string', description: 'The collection of the record.' },
      record: { type: 'string', format: 'uuid', filter: true, description: 'The id of the record.' },
      kind: { enum: [...eventKinds], filter: false, description: 'What happened to the record.' },
      status: {
        ...{ enum: [...deliveryStatuses], filter: true },
        description:
          'pending: an attempt is to come. discarded: the event may not be read any more, or is not kept any more.',
      },
      attempts: { type: 'integer', minimum: 0, description: 'How many attempts have ended.' },
      next_attempt_at: {
        ...instant,
        description: 'When the next attempt is made; null: not before others have ended.',
      },
      finished_at: { ...instant, description: 'When the last attempt ended; null: it is pending.' },
      answer: {
        ...{ type: 'object', optional: true },
        description: 'The last answer: its status, its time in milliseconds, how its body begins; or the error.',
        properties: {
          status: { type: ['integer', 'null'] },
          duration_ms: { type: ['integer', 'null'] },
          body: { type: ['string', 'null'] },
          error: { type: ['string', 'null'] },
        },
        required: ['status', 'duration_ms', 'body', 'error'],
        additionalProperties: false,
      },
      subject: { type: 'string', optional: true, description: 'Who made the webhook; null: the server.' },
    },
    owner: 'subject',
    within: 'webhook_id',
    access: { read: ['role:admin', 'owner'], create: ['role:admin', 'owner'], update: 'nobody', delete: 'nobody' },
    deletion: { variant: 'hard', bulk: false },
  },
}
