/** Plans to create and change webhooks, and to repeat deliveries (EVT-8, EVT-11). */

import { randomBytes } from 'node:crypto'
import { webhookSecretPrefix } from 'resourced-contract/model/event'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Resource } from 'resourced-contract/model/resource'
import { isStorableText } from 'resourced-contract/model/text'
import { timestamp } from 'resourced-contract/model/time'
import { fault, type Issue, issue } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import { latestEnd } from '../policy/api-keys.ts'
import { isAdministrator, permit } from '../policy/permit.ts'
import { readText, unsettableMembers } from '../request/parameters.ts'
import type { Create, CreateDelivery, CreateWebhook, Update, UpdateWebhook, WebhookMaker } from './plan.ts'
import { idempotencyOf, type Planning } from './planning.ts'

/**
 * Plans a webhook. It reads events as its maker does.
 *
 * @param create the creation of its record
 * @throws Fault FORBIDDEN if the credential of the caller does not say when it ends
 */
export function planWebhook(planning: Planning, create: Create): CreateWebhook {
  const { caller, versionCatalog, now } = planning
  const maker = makerOf(planning)
  if (maker === undefined) {
    throw fault('FORBIDDEN', { errors: [issue('endlessWebhooks', { pointer: '' })] })
  }
  const secret = newWebhookSecret()
  return {
    ...{ kind: 'create-webhook', resource: create.resource, id: create.id },
    // It reads as its maker: nobody makes one for others.
    create: { ...create, mayAssignOwner: false },
    version: versionCatalog.version,
    maker,
    secret: () => secret,
    position: undefined,
    networks: planning.webhookNetworks,
    ...(create.idempotency && { idempotency: create.idempotency }),
    ...{ caller, now },
  }
}

/**
 * The caller as the maker of a webhook, which ends with the credential of the request (AUT-10). A webhook of an API key
 * ends with the key in any case, because the key can be asked for.
 */
function makerOf({ caller, catalog }: Planning): WebhookMaker | undefined {
  const { id, roles, claims, credential, expiresAt } = caller
  const isKey = credential !== 'jwt' && credential !== 'own'
  const end = isKey ? expiresAt : latestEnd(caller, catalog.limits.keys.lastingRoles)
  if (end === 0) return undefined
  return { id, roles, claims, key: isKey ? credential : null, expires_at: Number.isFinite(end) ? timestamp(end) : null }
}

/**
 * Plans a change of a webhook. `"rotate_secret": true` in a merge patch asks for a new secret.
 *
 * @param update the change of its record
 */
export function planWebhookUpdate(planning: Planning, update: Update): UpdateWebhook {
  const { caller, now } = planning
  const { body } = update
  const issues: Issue[] = []
  let rotates = false
  let rest = body
  if (update.kind === 'merge' && isObject(body) && Object.hasOwn(body, 'rotate_secret')) {
    const { rotate_secret: asked, ...others } = body
    rotates = asked === true
    rest = others
    if (!rotates) issues.push(issue('enum', { code: 'INVALID_VALUE', pointer: '/rotate_secret', allowed: [true] }))
  }
  const secret = newWebhookSecret()
  return {
    ...{
      kind: 'update-webhook',
      resource: update.resource,
      id: update.id,
      update: { ...update, body: rest, mayAssignOwner: false },
    },
    ...{ issues, rotates, secret: () => secret },
    maker: makerOf(planning),
    networks: planning.webhookNetworks,
    ...{ caller, now },
  }
}

const deliveryMembers = ['webhook_id', 'function', 'event_id']

/**
 * Plans a delivery by hand: of an event that the caller may read, to a webhook that the caller may read. Administrators
 * may deliver to functions too.
 */
export function planDelivery(
  planning: Planning,
  resource: Resource,
  input: { readonly body: unknown; readonly idempotencyKey: string | undefined },
): CreateDelivery {
  const { caller, catalog, now } = planning
  const { system } = catalog
  const [webhooks, events] = [system.get('webhooks') as Resource, system.get('events') as Resource]
  const { issues, to, event } = readDeliveryRequest(input.body, isAdministrator(caller))
  return {
    ...{ kind: 'create-delivery', resource, id: uuidv7(), issues, to, event },
    mayReadWebhook: permit(catalog, caller, 'read', webhooks),
    mayReadEvent: permit(catalog, caller, 'read', events),
    idempotency: idempotencyOf(planning, [resource.name], input),
    ...{ caller, now },
  }
}

/** The body of a delivery by hand, and what is wrong with it. */
interface DeliveryRequest {
  readonly to: CreateDelivery['to']
  readonly event: string
  readonly issues: readonly Issue[]
}

/**
 * Reads `{ "webhook_id": "…", "event_id": "…" }`, or `{ "function": "resources.tasks.on", "event_id": "…" }`.
 *
 * @example
 * readDeliveryRequest({ webhook_id: 'a' }) // { issues: [{ code: 'REQUIRED', pointer: '/event_id', … }], … }
 */
function readDeliveryRequest(body: unknown, mayRunFunctions = false): DeliveryRequest {
  if (!isObject(body)) {
    return { to: { webhook: '' }, event: '', issues: [issue('object', { pointer: '' })] }
  }
  const issues = unsettableMembers(body, deliveryMembers)
  const idOf = (name: string): string => {
    const given = Object.hasOwn(body, name) ? body[name] : undefined
    const text = readText(given ?? undefined, `/${name}`, issues) ?? ''
    return isStorableText(text) ? text : ''
  }
  const isToFunction = Object.hasOwn(body, 'function') && !Object.hasOwn(body, 'webhook_id')
  if (isToFunction) {
    if (!mayRunFunctions) issues.push(issue('administrators', { pointer: '/function' }))
    return { to: { function: idOf('function') }, event: idOf('event_id'), issues }
  }
  if (Object.hasOwn(body, 'function')) issues.push(issue('twoReceivers', { pointer: '/function' }))
  return { to: { webhook: idOf('webhook_id') }, event: idOf('event_id'), issues }
}

/** Makes a secret: `whsec_` and 256 random bits in base64. */
export function newWebhookSecret(): string {
  return `${webhookSecretPrefix}${randomBytes(32).toString('base64')}`
}
