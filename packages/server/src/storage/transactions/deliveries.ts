/**
 * Deliveries of events to their consumers (EVT-9, EVT-12). A delivery is a record, which callers see, and while it is
 * pending also a row in `resourced_deliveries`. Of the pending deliveries of one record to one consumer only the first
 * has a time at which it is due. The next one gets it when the first has ended, so they are made in order.
 *
 * Fan-out and the end of a delivery decide by each other's rows. On PostgreSQL they exclude each other by the row of
 * the consumer: fan-out updates it, and the end of a delivery takes a lock in share mode.
 */

import { consumerOfWebhook, type DeliveryStatus, type EventKind } from 'resourced-contract/model/event'
import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import sql, { join, type Sql } from 'sql-template-tag'
import type { CreateDelivery } from '../../plan/plan.ts'
import type {
  Claim,
  ClaimedDelivery,
  ConsumerState,
  Ending,
  FanOut,
  FunctionKinds,
  KindPositions,
  NewDelivery,
} from '../delivery-store.ts'
import type { SqlContext } from '../sql/context.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../transaction.ts'
import { tick } from './rows/clock.ts'
import { insertRecord, writeRecord } from './rows/record-row.ts'

/** The consumers that are active, with the time at which their next delivery is due. */
export function* listConsumers(): Transaction<ConsumerState[]> {
  const due = sql`(select min(d.due) from resourced_deliveries d where d.consumer = c.name)`
  const rows = yield sql`select c.name, c.webhook, c.position, c.kinds, ${due} as due
    from resourced_consumers c where c.active = 1 order by c.name`
  return rows.map((row) => ({
    name: String(row['name']),
    webhook: row['webhook'] === null ? undefined : String(row['webhook']),
    position: Number(row['position']),
    kinds: row['kinds'] === null ? undefined : kindsOf(row),
    due: row['due'] === null ? undefined : Number(row['due']),
  }))
}

/** Adds the consumer of functions unless it is there, and the kinds that it lacks, from a position on. */
export function* addConsumer(
  { dialect }: SqlContext,
  { name, position, kinds }: FunctionKinds & Pick<ConsumerState, 'position'>,
): Transaction<void> {
  yield sql`insert into resourced_consumers (name, position, active) values (${name}, ${position}, 1)
    on conflict (name) do nothing`
  const known = yield* lockKinds(dialect, name)
  const added = Object.fromEntries(kinds.map((kind) => [kind, position]))
  yield* keepKinds(name, { ...added, ...known })
}

/** Removes a kind from a consumer. */
export function* removeKind({ dialect }: SqlContext, name: string, kind: EventKind): Transaction<void> {
  const { [kind]: _, ...others } = yield* lockKinds(dialect, name)
  yield* keepKinds(name, others)
}

function* lockKinds({ lock }: SqlContext['dialect'], name: string): Transaction<KindPositions> {
  return kindsOf(yield* firstRow(sql`select kinds from resourced_consumers where name = ${name}${lock.update}`))
}

function* keepKinds(name: string, kinds: KindPositions): Transaction<void> {
  yield ignoringRows(sql`update resourced_consumers set kinds = ${JSON.stringify(kinds)} where name = ${name}`)
}

function kindsOf(row: Row | undefined): KindPositions {
  return JSON.parse(String(row?.['kinds'] ?? '{}')) as KindPositions
}

/**
 * Adds deliveries and advances the position of their consumer; `false` if the consumer is no longer at its former
 * position, because another server was first, or has got other kinds. Nothing is changed then.
 */
export function* fanOut(
  context: SqlContext,
  { consumer, kinds, from, to, deliveries, now }: FanOut,
): Transaction<boolean> {
  const isSame = kinds === undefined ? sql`kinds is null` : sql`kinds = ${JSON.stringify(kinds)}`
  const at = sql`name = ${consumer} and position = ${from} and ${isSame} and active = 1`
  const row = yield* firstRow(sql`update resourced_consumers set position = ${to} where ${at} returning webhook`)
  if (row === undefined) return false
  const owner = row['webhook'] === null ? undefined : yield* ownerOf(String(row['webhook']))
  if (deliveries.length > 0) yield* addDeliveries(context, { consumer, owner, deliveries, now })
  return true
}

/** A webhook whose deliveries are added. */
interface Owner {
  readonly webhook: string
  readonly subject: string
}

function* ownerOf(webhook: string): Transaction<Owner | undefined> {
  const row = yield* firstRow(sql`select subject from webhooks where id = ${webhook}`)
  return row === undefined ? undefined : { webhook, subject: String(row['subject']) }
}

/** Adds deliveries in order. The row of their consumer is locked. */
function* addDeliveries(
  context: SqlContext,
  {
    consumer,
    owner,
    deliveries,
    now,
  }: Pick<FanOut, 'consumer' | 'deliveries' | 'now'> & { readonly owner: Owner | undefined },
): Transaction<void> {
  const records = [...new Set(deliveries.map(recordOf))]
  const among = context.dialect.isAnyOf(sql`record`, records)
  const found = yield sql`select distinct record from resourced_deliveries where consumer = ${consumer} and ${among}`
  const waiting = new Set(found.map((row) => String(row['record'])))
  const at = timestamp(now)
  const rows: Sql[] = []
  for (const delivery of deliveries) {
    const record = recordOf(delivery)
    const due = waiting.has(record) ? null : now
    waiting.add(record)
    rows.push(sql`(${delivery.id}, ${consumer}, ${record}, ${delivery.turn}, ${delivery.position}, 0, ${due})`)
    yield* insertRecord(context, resourceOf(context), {
      ...{ id: delivery.id, webhook_id: owner?.webhook ?? null, subject: owner?.subject ?? null },
      function: owner === undefined ? consumer : null,
      ...{ event_id: delivery.event, collection: delivery.collection, record: delivery.record, kind: delivery.kind },
      ...{ status: 'pending', attempts: 0, next_attempt_at: due === null ? null : at },
      ...{ created_at: at, updated_at: at },
    })
  }
  const columns = sql`delivery, consumer, record, turn, position, attempts, due`
  yield ignoringRows(sql`insert into resourced_deliveries (${columns}) values ${join(rows, ', ')}`)
  yield ignoringRows(tick(context, 'deliveries', deliveries.length, 0))
}

function recordOf({ collection, record }: Pick<NewDelivery, 'collection' | 'record'>): string {
  return `${collection}/${record}`
}

/** Adds one delivery to a consumer, after those that are pending. Returns `false` if there is no such consumer. */
export function* addDelivery(
  context: SqlContext,
  { to, delivery, now }: { to: CreateDelivery['to']; delivery: Omit<NewDelivery, 'turn'>; now: number },
): Transaction<boolean> {
  const consumer = 'webhook' in to ? consumerOfWebhook(to.webhook) : to.function
  const { update } = context.dialect.lock
  const row = yield* firstRow(sql`select position from resourced_consumers where name = ${consumer}${update}`)
  const owner = 'webhook' in to ? yield* ownerOf(to.webhook) : undefined
  if (row === undefined || ('webhook' in to && owner === undefined)) return false
  const turn = Math.max(Number(row['position']), delivery.position)
  yield* addDeliveries(context, { consumer, owner, deliveries: [{ ...delivery, turn }], now })
  return true
}

/** Claims deliveries that are due, those first that are due longest. */
export function* claimDeliveries(
  context: SqlContext,
  { consumer, server, limit, now, until }: Claim,
): Transaction<ClaimedDelivery[]> {
  const { isAnyOf, lock } = context.dialect
  const which = sql`consumer = ${consumer} and due <= ${now} order by due limit ${limit}`
  const free = yield sql`select delivery from resourced_deliveries where ${which}${lock.skipLocked}`
  if (free.length === 0) return []
  const ids = free.map((row) => String(row['delivery']))
  const first = sql`first_at = coalesce(first_at, ${now})`
  const rows = yield sql`update resourced_deliveries
    set due = ${until}, server = ${server}, attempts = attempts + 1, ${first}
    where ${isAnyOf(sql`delivery`, ids)} returning delivery, position, attempts, first_at`
  const found = yield sql`select id, event_id, collection, record, kind from deliveries where ${isAnyOf(sql`id`, ids)}`
  const shown = new Map(found.map((row) => [String(row['id']), row]))
  return rows.flatMap((row) => claimedOf(row, shown.get(String(row['delivery']))))
}

function claimedOf(row: Row, shown: Row | undefined): ClaimedDelivery[] {
  if (shown === undefined) return []
  const text = (name: string) => String(shown[name])
  return [
    {
      ...{ id: text('id'), event: text('event_id'), collection: text('collection'), record: text('record') },
      kind: text('kind') as ClaimedDelivery['kind'],
      ...{ position: Number(row['position']), attempts: Number(row['attempts']), firstAt: Number(row['first_at']) },
    },
  ]
}

/** Keeps the result of an attempt; `false`: another server has claimed the delivery since, and decides about it. */
export function* endAttempt(
  context: SqlContext,
  { consumer, server, delivery, end, now }: Ending,
): Transaction<boolean> {
  const { id, attempts } = delivery
  const { status, answer } = end
  const isOurs = sql`delivery = ${id} and server = ${server} and attempts = ${attempts}`
  if (status === 'pending') {
    const made = answer === undefined ? attempts - 1 : attempts
    const retry = sql`update resourced_deliveries set due = ${end.next}, server = null, attempts = ${made}`
    if ((yield sql`${retry} where ${isOurs} returning delivery`).length === 0) return false
    const next_attempt_at = timestamp(end.next)
    yield* changeDelivery(context, id, { ...(answer && { attempts: made, answer }), next_attempt_at }, now)
    return true
  }
  yield* lockConsumer(context, consumer)
  if ((yield sql`delete from resourced_deliveries where ${isOurs} returning delivery`).length === 0) return false
  yield* advanceRecord(consumer, recordOf(delivery), now)
  const finished = { status, attempts, answer, next_attempt_at: null, finished_at: timestamp(now) }
  yield* changeDelivery(context, id, finished, now)
  return true
}

function* lockConsumer({ dialect }: SqlContext, consumer: string): Transaction<void> {
  if (!dialect.lock.hasOtherWriters) return
  yield sql`select name from resourced_consumers where name = ${consumer}${dialect.lock.share}`
}

/** Makes the next delivery of a record due. */
function* advanceRecord(consumer: string, record: string, now: number): Transaction<void> {
  const waiting = sql`consumer = ${consumer} and record = ${record}`
  const next = sql`select delivery from resourced_deliveries where ${waiting} order by turn, delivery limit 1`
  yield ignoringRows(sql`update resourced_deliveries set due = ${now} where delivery in (${next}) and due is null`)
}

function* changeDelivery(
  context: SqlContext,
  id: string,
  changes: Readonly<Record<string, unknown>>,
  now: number,
): Transaction<void> {
  const values = { ...changes, id, updated_at: timestamp(now) }
  yield* writeRecord(context, { resource: resourceOf(context), values, changed: Object.keys(changes) })
}

/** Gives claimed deliveries back, because the server stops before it has made the attempts. */
export function* releaseDeliveries(server: string, now: number): Transaction<number> {
  const rows = yield sql`update resourced_deliveries set due = ${now}, server = null, attempts = attempts - 1
    where server = ${server} returning delivery`
  return rows.length
}

/** The most deliveries that one transaction ends or deletes: other writers wait for it. */
const batch = 200

/**
 * Ends pending deliveries of a webhook that was deleted, and returns their number. The consumer is forgotten when none
 * is left.
 */
export function* discardRemoved(context: SqlContext, now: number): Transaction<number> {
  const { isAnyOf, lock } = context.dialect
  const [removed] = yield sql`select name from resourced_consumers where active = -1 limit 1${lock.skipLocked}`
  if (removed === undefined) return 0
  const consumer = String(removed['name'])
  const pending = yield sql`select delivery from resourced_deliveries where consumer = ${consumer} limit ${batch}`
  const ids = pending.map((row) => String(row['delivery']))
  if (ids.length === 0) {
    yield sql`delete from resourced_consumers where name = ${consumer}`
    return 1
  }
  yield sql`delete from resourced_deliveries where ${isAnyOf(sql`delivery`, ids)}`
  const status: DeliveryStatus = 'discarded'
  const answer = { status: null, duration_ms: null, body: null, error: 'The webhook was deleted.' }
  const changes = { status, answer, next_attempt_at: null, finished_at: timestamp(now) }
  for (const id of ids) yield* changeDelivery(context, id, changes, now)
  return ids.length
}

/**
 * Deletes deliveries that are older than events are kept, and returns their number. One that is pending has no event
 * any more, because its webhook was turned off for so long: the next one of its record becomes due.
 */
export function* deleteOldDeliveries(
  context: SqlContext,
  { before, now }: { readonly before: number; readonly now: number },
): Transaction<number> {
  const { isAnyOf } = context.dialect
  // The index has live records only.
  const isOld = sql`created_at <= ${timestamp(before)} and deleted_at is null`
  const old = yield sql`select id from deliveries where ${isOld} order by created_at limit ${batch}`
  if (old.length === 0) return 0
  const ids = old.map((row) => String(row['id']))
  const pending =
    yield sql`delete from resourced_deliveries where ${isAnyOf(sql`delivery`, ids)} returning consumer, record`
  for (const row of pending) {
    yield* lockConsumer(context, String(row['consumer']))
    yield* advanceRecord(String(row['consumer']), String(row['record']), now)
  }
  const gone = yield sql`delete from deliveries where ${isAnyOf(sql`id`, ids)} returning id`
  if (gone.length > 0) yield tick(context, 'deliveries', -gone.length, 0)
  return gone.length
}

function resourceOf({ catalog }: SqlContext): Resource {
  return catalog.system.get('deliveries') as Resource
}
