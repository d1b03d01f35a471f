/** The operations of webhooks and of deliveries, where a resource has events (EVT-8, EVT-11). */
import type { Resource } from 'resourced-contract/model/resource'
import { type Json, object, refTo, withoutDescriptions } from './components.ts'
import { collectionPath, type NestedUnder, type OperationParts, shownPath } from './operations.ts'
import { onceParameter, sharedParameters } from './parameters.ts'
import { codesOf } from './problems.ts'
import { answer, body, patchBody } from './responses.ts'
import { bodySchemas, resourceSchemas } from './schemas.ts'

const secret: Json = {
  type: 'string',
  description: 'The secret that signs deliveries (Standard Webhooks): it is shown here, and never again.',
}

/** The Path Items of webhooks. */
export function webhookPaths(resource: Resource, parts: OperationParts): Json {
  const { names, problems } = parts
  const { one } = names
  const tags = [resource.name]
  const record = resourceSchemas(resource, names)[one] as { properties: Json; required: string[] }
  const bodies = bodySchemas(resource, one)
  const { subject: _, ...sent } = (bodies[`${one}Create`] as { properties: Json }).properties
  const creation = { ...(bodies[`${one}Create`] as Json), properties: sent }
  const patch = bodies[`${one}Patch`] as { properties: Json }
  const rotate = { enum: [true], description: 'Makes a new secret. The former one signs too for another day.' }
  const changeable = { ...patch, properties: { ...patch.properties, rotate_secret: rotate } }
  const conditions = sharedParameters('IfMatch', 'IfUnmodifiedSince')
  return {
    [`/${resource.name}`]: {
      ...collectionPath(resource, parts),
      post: {
        operationId: `create${one}`,
        tags,
        summary: 'Create a webhook',
        description: 'Administrators create webhooks. A webhook gets the events that its maker may read.',
        parameters: [onceParameter('webhook', 'secret')],
        requestBody: body(['application/json'], creation),
        ...problems.of(codesOf('create-webhook'), {
          201: answer(
            'The webhook with its secret.',
            ['Location'],
            object({ ...withoutDescriptions(record.properties), secret }, [...record.required, 'secret']),
          ),
        }),
      },
    },
    [`/${resource.name}/{id}`]: {
      ...shownPath(resource, parts),
      patch: {
        operationId: `update${one}`,
        tags,
        summary: 'Change a webhook, or its secret',
        description: 'Its maker changes what it gets and its secret; administrators only description and active.',
        parameters: conditions,
        requestBody: patchBody(changeable),
        ...problems.of(codesOf('update-webhook'), {
          200: answer(
            'The webhook as it is now; with a new secret, where one was asked for.',
            [],
            object({ ...withoutDescriptions(record.properties), secret }, record.required),
          ),
        }),
      },
      delete: {
        operationId: `delete${one}`,
        tags,
        summary: 'Delete a webhook',
        description: 'Its deliveries that are pending are discarded.',
        parameters: conditions,
        ...problems.of(codesOf('delete-own'), { 204: refTo('responses', 'ApiDeleted') }),
      },
    },
  }
}

/** The Path Items of deliveries. */
export function deliveryPaths(resource: Resource, parts: OperationParts, webhooks: NestedUnder): Json {
  const { names, problems } = parts
  const { one } = names
  const text = (description: string): Json => ({ type: 'string', description })
  const asked = object(
    {
      webhook_id: text('The webhook.'),
      function: text('In place of a webhook: the function, as deliveries name it. Only administrators may send it.'),
      event_id: text('An event that you may read, and that is still kept.'),
    },
    ['event_id'],
  )
  return {
    [`/${resource.name}`]: {
      ...collectionPath(resource, parts),
      post: {
        operationId: `create${one}`,
        tags: [resource.name],
        summary: 'Deliver an event to a webhook or a function again',
        description: 'After the deliveries of the record that are pending.',
        parameters: sharedParameters('IdempotencyKey'),
        requestBody: body(['application/json'], asked),
        ...problems.of(codesOf('create-delivery'), {
          201: answer('The delivery.', ['Location'], refTo('schemas', one)),
        }),
      },
    },
    [`/${resource.name}/{id}`]: shownPath(resource, parts),
    [`/webhooks/{id}/${resource.name}`]: collectionPath(resource, parts, webhooks),
  }
}
