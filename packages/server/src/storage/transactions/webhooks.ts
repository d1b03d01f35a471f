/**
 * Webhooks (EVT-8). What callers see is a record. Secrets, and the caller as whom the webhook reads, are in the row of
 * the consumer, which no query of records reaches.
 */

import { addressPolicy } from 'resourced-contract/model/address-policy'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { consumerOfFunctions, consumerOfWebhook, type EventKind, secretOverlap } from 'resourced-contract/model/event'
import { always } from 'resourced-contract/model/predicate'
import { type RecordValues, type Resource, resourceInVersion } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql from 'sql-template-tag'
import { checkRecord } from '../../plan/check-record.ts'
import { isMakerOf, webhookIssues } from '../../plan/check-webhook.ts'
import { proposeCreate, proposeUpdate } from '../../plan/decide.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { CreateDelivery, CreateWebhook, DeleteWebhook, UpdateWebhook, WebhookMaker } from '../../plan/plan.ts'
import type { DeliveryStore, StoredWebhook } from '../delivery-store.ts'
import { subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { liveSql } from '../sql/predicate.ts'
import { recordOf, storedSql } from '../sql/records.ts'
import { firstRow, ignoringRows, type Runner, type Transaction } from '../transaction.ts'
import {
  addConsumer,
  addDelivery,
  claimDeliveries,
  deleteOldDeliveries,
  discardRemoved,
  endAttempt,
  fanOut,
  listConsumers,
  releaseDeliveries,
  removeKind,
} from './deliveries.ts'
import { tick } from './rows/clock.ts'
import { answeredOf, answerSql, lockRecord, represent, writeRecord } from './rows/record-row.ts'

/** A secret, and until when it signs in milliseconds since 1970; `null`: until it is replaced. */
interface KeptSecret {
  readonly secret: string
  readonly until: number | null
}

/** The most secrets that sign at the same time. */
const mostSecrets = 10

/** Runs a CreateWebhook. */
export function* createWebhook(context: SqlContext, plan: CreateWebhook): Transaction<Outcome> {
  const { resource, id, create, maker, version, networks, position = 0 } = plan
  const proposal = proposeCreate(context.catalog, create)
  if (proposal.kind !== 'proposal') return proposal
  const { draft } = proposal
  const { values, changed } = draft
  const wrong = webhookIssues({
    catalog: context.catalog,
    version,
    maker,
    values,
    changed,
    addresses: addressPolicy(networks),
  })
  const issues = [...draft.issues, ...wrong]
  if (issues.length > 0) return { kind: 'invalid', issues }
  const record: RecordValues = { ...values, version, ...shownOf(maker) }
  const row = yield* writeRecord(context, {
    resource,
    values: record,
    answer: answerSql(context, { resource }, always),
  })
  const secrets: KeptSecret[] = [{ secret: plan.secret(), until: null }]
  const state = sql`${consumerOfWebhook(id)}, ${id}, ${position}, ${record['active'] === true ? 1 : 0}`
  const hidden = sql`${JSON.stringify(secrets)}, ${JSON.stringify(maker)}`
  yield sql`insert into resourced_consumers (name, webhook, position, active, secrets, caller)
    values (${state}, ${hidden})`
  const { json, revision, updatedAt } = answeredOf(row)
  return { kind: 'created', id, json, revision, updatedAt }
}

/** What a webhook shows of its maker's credential. */
function shownOf({ id, roles, key, expires_at }: WebhookMaker): RecordValues {
  return { roles, made_by: key ?? id, expires_at }
}

/** What only the maker of a webhook may change: others would get events as the maker. */
const ofMaker = ['url', 'events', 'collections', 'filter']

/** Runs an UpdateWebhook. */
export function* updateWebhook(context: SqlContext, plan: UpdateWebhook): Transaction<Outcome> {
  const { resource, id, update, rotates, caller, now } = plan
  const current = yield* lockRecord(context, update)
  const proposal = proposeUpdate(context.catalog, update, current)
  if (proposal.kind !== 'proposal') return proposal
  const { draft } = proposal
  const name = consumerOfWebhook(id)
  const row = yield* firstRow(sql`select secrets, caller from resourced_consumers where name = ${name}`)
  const maker = JSON.parse(String(row?.['caller'])) as WebhookMaker
  const isOn = draft.changed.includes('active') && draft.values['active'] === true
  const isMaker = isMakerOf(caller, maker)
  if (!isMaker && (rotates || draft.changed.some((field) => ofMaker.includes(field)))) return { kind: 'forbidden' }
  const version = String(current.record?.['version'])
  const issues = [
    ...draft.issues,
    ...plan.issues,
    ...webhookIssues({ catalog: context.catalog, version, maker, ...draft, addresses: addressPolicy(plan.networks) }),
  ]
  const end = isOn ? yield* endOf(maker) : never
  // Of two credentials of its maker the webhook keeps the one that ends later.
  const renewed = isMaker && plan.maker !== undefined && expiryOf(plan.maker) > end ? plan.maker : undefined
  if (end <= now && renewed === undefined) {
    issues.push(issue('expiredMaker', { pointer: '/active' }))
  }
  if (issues.length > 0) return { kind: 'invalid', issues }
  if (rotates) {
    const secrets = rotated(JSON.parse(String(row?.['secrets'])) as KeptSecret[], plan.secret(), now)
    yield ignoringRows(sql`update resourced_consumers set secrets = ${JSON.stringify(secrets)} where name = ${name}`)
  }
  if (draft.changed.length > 0 || rotates) {
    const on = isOn ? { disabled_at: null, disabled_reason: null, ...(renewed && shownOf(renewed)) } : {}
    const updated_at = timestamp(Math.max(now, Date.parse(String(current.record?.['updated_at']))))
    yield* writeRecord(context, {
      resource,
      values: { ...draft.values, ...on, updated_at },
      changed: [...draft.changed, ...Object.keys(on)],
    })
    const active = draft.values['active'] === true ? 1 : 0
    const reader = JSON.stringify(renewed ?? maker)
    yield ignoringRows(sql`update resourced_consumers set active = ${active}, caller = ${reader} where name = ${name}`)
  }
  const { json, revision, updatedAt } = yield* represent(context, plan, id)
  return { kind: 'updated', json, revision, updatedAt }
}

/** The secrets after one was replaced: the former one signs for another day. */
function rotated(secrets: readonly KeptSecret[], secret: string, now: number): KeptSecret[] {
  const former = secrets.map((each) => ({ ...each, until: each.until ?? now + secretOverlap }))
  return [{ secret, until: null }, ...former.filter(({ until }) => until > now)].slice(0, mostSecrets)
}

/** Runs a DeleteWebhook. The worker discards its pending deliveries. */
export function* deleteWebhook(context: SqlContext, plan: DeleteWebhook): Transaction<Outcome> {
  const { found } = yield* lockRecord(context, plan)
  const refusal = checkRecord(plan, found)
  if (refusal !== undefined) return refusal
  yield ignoringRows(sql`delete from webhooks where id = ${plan.id}`)
  yield ignoringRows(tick(context, 'webhooks', -1, 0))
  const gone = sql`active = -1, secrets = null, caller = null`
  yield sql`update resourced_consumers set ${gone} where name = ${consumerOfWebhook(plan.id)}`
  return { kind: 'deleted', id: plan.id, deletedAt: timestamp(plan.now) }
}

/** Runs a CreateDelivery. */
export function* createDelivery(context: SqlContext, plan: CreateDelivery): Transaction<Outcome> {
  const { id, issues, to, event, mayReadWebhook, mayReadEvent, now } = plan
  if (issues.length > 0) return { kind: 'invalid', issues }
  const missing: Issue[] = []
  const miss = (name: string, what: string) =>
    void missing.push(issue('unreadableTarget', { pointer: `/${name}`, what }))
  const [webhooks, events] = [systemResource(context, 'webhooks'), systemResource(context, 'events')]
  const from = (resource: Resource, permitted: CreateDelivery['mayReadEvent'], wanted: string) =>
    sql`from ${subjectSql(resource.name)} where id = ${wanted} and ${liveSql(context, resource, permitted)}`
  const webhook = 'webhook' in to ? to.webhook : undefined
  const owner = webhook && (yield* firstRow(sql`select version ${from(webhooks, mayReadWebhook, webhook)}`))
  const found = yield* firstRow(sql`select _row, collection, record, kind ${from(events, mayReadEvent, event)}`)
  const collection = String(found?.['collection'])
  // Functions get events in terms of the current version.
  const version = owner ? String(owner['version']) : context.catalog.version
  const shown = resourceInVersion(context.catalog, version, collection)
  if (webhook !== undefined && owner === undefined) miss('webhook_id', 'webhook')
  if ('function' in to && to.function !== consumerOfFunctions(collection)) miss('function', 'function of this event')
  if (found === undefined || shown === undefined) miss('event_id', 'event')
  if (missing.length > 0 || found === undefined || shown === undefined) return { kind: 'invalid', issues: missing }
  const delivery = {
    ...{ id, event, collection: shown.name, record: String(found['record']) },
    ...{ kind: String(found['kind']) as EventKind, position: Number(found['_row']) },
  }
  // The webhook may have been deleted meanwhile.
  if (!(yield* addDelivery(context, { to, delivery, now }))) {
    if (webhook === undefined) miss('function', 'function')
    else miss('webhook_id', 'webhook')
    return { kind: 'invalid', issues: missing }
  }
  const { json, revision, updatedAt } = yield* represent(context, plan, id)
  return { kind: 'created', id, json, revision, updatedAt }
}

/** Finds a webhook for a delivery. */
function* findWebhook(context: SqlContext, id: string, now: number): Transaction<StoredWebhook | undefined> {
  const resource = systemResource(context, 'webhooks')
  const row = yield* firstRow(sql`select ${storedSql(context, resource)} from webhooks where id = ${id}`)
  const name = consumerOfWebhook(id)
  const hidden = yield* firstRow(sql`select secrets, caller from resourced_consumers where name = ${name}`)
  if (row === undefined || hidden === undefined || hidden['caller'] === null) return undefined
  const record = recordOf(resource, row)
  const maker = JSON.parse(String(hidden['caller'])) as WebhookMaker
  const { id: subject, roles, claims } = maker
  const secrets = JSON.parse(String(hidden['secrets'])) as KeptSecret[]
  return {
    id,
    url: String(record['url']),
    kinds: record['events'] as EventKind[],
    collections: (record['collections'] as string[] | null) ?? undefined,
    filter: (record['filter'] as StoredWebhook['filter'] | null) ?? {},
    version: String(record['version']),
    caller: { id: subject, roles, claims } satisfies CallerView,
    isCredentialValid: (yield* endOf(maker)) > now,
    secrets: secrets.filter(({ until }) => until === null || until > now).map(({ secret }) => secret),
  }
}

const never = Number.POSITIVE_INFINITY

/** When the credential that made a webhook ends, in milliseconds since 1970; 0: it is an API key that was revoked. */
function* endOf(maker: WebhookMaker): Transaction<number> {
  if (maker.key === null) return expiryOf(maker)
  const row = yield* firstRow(sql`select revoked_at from "api-keys" where id = ${maker.key}`)
  return row === undefined || row['revoked_at'] !== null ? 0 : expiryOf(maker)
}

function expiryOf({ expires_at }: WebhookMaker): number {
  return expires_at === null ? never : Date.parse(expires_at)
}

/** Turns a webhook off. */
function* disableWebhook(context: SqlContext, id: string, reason: string, now: number): Transaction<void> {
  const resource = systemResource(context, 'webhooks')
  const { update } = context.dialect.lock
  const row = yield* firstRow(sql`select active, updated_at from webhooks where id = ${id}${update}`)
  if (row === undefined || !isTrue(row['active'])) return
  const at = timestamp(Math.max(now, Date.parse(String(row['updated_at']))))
  const off = { active: false, disabled_at: at, disabled_reason: reason }
  yield* writeRecord(context, { resource, values: { ...off, id, updated_at: at }, changed: Object.keys(off) })
  yield sql`update resourced_consumers set active = 0 where name = ${consumerOfWebhook(id)}`
}

function isTrue(value: unknown): boolean {
  return value === 1 || value === true
}

function systemResource({ catalog }: SqlContext, name: string): Resource {
  return catalog.system.get(name) as Resource
}

/** The deliveries of an open database, as the port has them; `undefined` if no resource is declared with events. */
export function deliveryStore(context: SqlContext, { read, write }: Runner): DeliveryStore | undefined {
  const { system, limits } = context.catalog
  if (!system.has('deliveries')) return undefined
  const repeat = async (batch: () => ReturnType<typeof deleteOldDeliveries>) => {
    while ((await write(batch, (count) => count > 0)) > 0);
  }
  return {
    consumers: () => read(listConsumers),
    addConsumer: (consumer) => write(() => addConsumer(context, consumer)),
    removeKind: (consumer, kind) => write(() => removeKind(context, consumer, kind)),
    fanOut: (asked) =>
      write(
        () => fanOut(context, asked),
        (isFirst) => isFirst,
      ),
    claim: (asked) =>
      write(
        () => claimDeliveries(context, asked),
        (claimed) => claimed.length > 0,
      ),
    end: (ending) =>
      write(
        () => endAttempt(context, ending),
        (isKept) => isKept,
      ),
    release: async (server, now) => {
      await write(
        () => releaseDeliveries(server, now),
        (count) => count > 0,
      )
    },
    async sweep(now) {
      await repeat(() => discardRemoved(context, now))
      await repeat(() => deleteOldDeliveries(context, { before: now - limits.events.retention, now }))
    },
    webhook: (id, now) => read(() => findWebhook(context, id, now)),
    disable: (id, reason, now) => write(() => disableWebhook(context, id, reason, now)),
  }
}
