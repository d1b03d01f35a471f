/** Random histories: clients that change few records at the same time, and what must hold afterwards. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalog } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import { administer } from '../../packages/server/src/server/open-database.ts'
import type { JobStore } from '../../packages/server/src/storage/storage.ts'
import { pick, type Random } from '../durability/random.ts'
import { engine } from '../engine.ts'
import { until } from '../until.ts'
import { type Deed, explain, type Found } from './explain.ts'
import type { Reply } from './model.ts'
import { actOf, type Known, usualWeights, type Weights } from './random-acts.ts'
import { type Act, type Request, requestOf } from './requests.ts'
import type { Happened, State, Thing, Values, World } from './state.ts'

/** Where histories happen. */
export interface Site {
  /** Sends a request of a client. Rejects where the connection is lost. */
  send(client: number, request: Request): Promise<Reply>
  /** Reads the database, past the servers. */
  rows(text: string): Promise<Record<string, unknown>[]>
  /** For purges, by a clock that is a month ahead. */
  readonly jobs: Pick<JobStore, 'beginPurge' | 'step'>
}

/** A history between two moments at which nothing is changed. */
export interface Played {
  readonly clients: readonly (readonly Deed[])[]
  readonly known: Known
}

/** What was done until a moment: what was not answered by then has no response. */
export function playedUntil({ clients, known }: Played, { after, before }: { after: number; before: number }): Played {
  const until = clients.map((deeds) =>
    deeds
      .filter(({ called }) => called < before)
      .map(({ returned, reply, ...deed }): Deed => {
        return returned < after ? { ...deed, returned, reply } : { ...deed, returned: Number.POSITIVE_INFINITY }
      }),
  )
  return { clients: until, known }
}

const month = 31 * 86_400_000

/** What clients know at the beginning: not too much. */
export function knownOf(state: State, random: Random, made: number): Known {
  const some = (collection: Thing['collection'], live: number, deleted: number) => {
    const all = [...state.things.values()].filter((each) => each.collection === collection)
    const sample = (isLive: boolean, most: number) => {
      const those = all.filter((each) => each.isLive === isLive)
      while (those.length > most) those.splice(Math.floor(random() * those.length), 1)
      return those.map(({ id }) => id)
    }
    return [...sample(true, live), ...sample(false, deleted)]
  }
  const tags = [...state.things.values()].flatMap(({ id, tag }) => (tag === undefined ? [] : [[id, tag] as const]))
  return { items: some('items', 5, 2), boxes: some('boxes', 3, 1), tags: new Map(tags), made }
}

/**
 * Has clients act until each has done so many things, or loses its connection.
 *
 * @param lost whether an error means that no response will come
 */
export async function play(
  site: Site,
  known: Known,
  random: Random,
  how: {
    readonly clients: number
    readonly acts: number
    readonly weights?: Weights
    readonly lost?: (error: unknown) => boolean
    /** Happens while clients act. */
    readonly meanwhile?: (played: Played) => Promise<void>
  },
): Promise<Played> {
  const { clients, acts, weights = usualWeights, lost = () => false, meanwhile = async () => {} } = how
  const deeds = Array.from({ length: clients }, (): Deed[] => [])
  const all = deeds.map(async (own, client) => {
    while (own.length < acts) {
      if (random() < 0.3) await sleep(random() * 3)
      const act = actOf(random, known, weights)
      const called = performance.now()
      // Until it is answered, nobody knows whether it is done.
      const place = own.push({ act, called, returned: Number.POSITIVE_INFINITY }) - 1
      try {
        const reply = await done(site, client, act)
        const isKnown = reply.status < 500
        own[place] = { act, called, returned: performance.now(), ...(isKnown && { reply }) }
        if (isKnown) learn(known, reply)
        if (act.kind !== 'purge-begins' || reply.status !== 201) continue
        const ending: Deed = { act: { kind: 'purge-ended' }, called, returned: Number.POSITIVE_INFINITY }
        own.push(ending)
        await purge(site, reply.json)
        own[place + 1] = { ...ending, returned: performance.now(), reply: { status: 200, json: null } }
      } catch (error) {
        if (!lost(error)) throw error
        break
      }
    }
  })
  const played = { clients: deeds, known }
  await Promise.all([...all, meanwhile(played)])
  return played
}

async function done(site: Site, client: number, act: Act): Promise<Reply> {
  if (act.kind === 'purge-ended') throw new Error('It follows the beginning.')
  if (act.kind !== 'purge-begins') return site.send(client, requestOf(act))
  const job = uuidv7()
  const hasBegun = await site.jobs.beginPurge({ id: job, statusUrl: `/v1/jobs/${job}` }, Date.now() + month)
  return { status: hasBegun ? 201 : 200, json: job }
}

async function purge({ jobs, rows }: Site, id: string): Promise<void> {
  while ((await jobs.step({ id, task: 'purge' }, Date.now() + month)) === 'more');
  // A server may run it too.
  await until(async () => (await rows(`select job from resourced_work where task = 'purge'`)).length === 0)
}

function learn(known: Known, { json, etag }: Reply): void {
  const parts = json?.results?.map(({ body, etag }: { body: Values; etag?: string }) => ({ body, etag }))
  for (const { body, etag: tag } of parts ?? [{ body: json, etag }]) {
    for (const { id, sku, name } of [body?.data ?? body].flat().filter((each) => typeof each?.id === 'string')) {
      if (tag !== undefined && body?.data === undefined) known.tags.set(id, tag)
      const ids = sku !== undefined ? known.items : name !== undefined ? known.boxes : undefined
      if (ids !== undefined && !ids.includes(id)) ids.push(id)
      if (ids !== undefined && ids.length > 10) ids.shift()
    }
  }
}

const numeric = new Set(['slot', 'amount', 'total'])

/** The records of the database. */
async function readRecords({ rows }: Site): Promise<Found> {
  const found = new Map<string, { values: Values; isLive: boolean; deletion: unknown; revision: string }>()
  for (const text of [
    'select id, sku, slot, title, kind, amount, box_id, deleted_at, _deletion, _revision from items',
    'select id, name, total, deleted_at, _deletion, _revision from boxes',
  ]) {
    for (const { id, deleted_at, _deletion: deletion, _revision, ...row } of await rows(text)) {
      const values = Object.entries(row).map(([name, value]) => {
        return [name, numeric.has(name) && value !== null ? Number(value) : value]
      })
      found.set(String(id), {
        values: Object.fromEntries(values),
        isLive: deleted_at === null,
        deletion,
        revision: String(_revision),
      })
    }
  }
  return found
}

/** The events after a row, and what they say of new records. */
async function readEvents({ rows }: Site, after: number, start: State) {
  const events = new Map<string, Happened[]>()
  const created = new Map<string, string>()
  const erased = new Set<string>()
  const purged = new Set<string>()
  const names = new Map<string, unknown>()
  let last = after
  for (const row of await rows(
    `select _row, collection, record, kind, data from events where _row > ${after} order by _row`,
  )) {
    const [record, kind] = [String(row['record']), String(row['kind'])]
    const told = (typeof row['data'] === 'string' ? JSON.parse(row['data']) : row['data']) as Values | null
    const data = told === null || Object.keys(told).length === 0 ? null : told
    last = Math.max(last, Number(row['_row']))
    if (kind === 'created' && data !== null) created.set(String(data['title'] ?? data['name']), record)
    assert.ok(!purged.has(record), `${record} was ${kind} after it was purged`)
    if (kind === 'purged') {
      purged.add(record)
      continue
    }
    if (row['collection'] === 'boxes') {
      const before = names.get(record) ?? start.things.get(record)?.values['name']
      if (data === null && kind !== 'deleted') erased.add(record)
      // It was its sum that changed.
      if (kind === 'updated' && data?.['name'] === before) continue
      if (data !== null) names.set(record, data['name'])
    }
    events.set(record, [...(events.get(record) ?? []), { kind, data }])
  }
  return { events, created, erased, purged, last }
}

/** What one history after the other has left. */
export interface Chain {
  readonly state: State
  /** The last row of the events. */
  readonly last: number
  /** How many histories only an order explains in which reads and refusals came at any time. */
  readonly relaxed: number
}

/**
 * Explains what was played, and checks the database.
 *
 * @returns what the next history begins with
 */
export async function check(site: Site, chain: Chain, { clients }: Played): Promise<Chain> {
  await until(async () => (await site.rows('select job from resourced_work')).length === 0)
  const found = await readRecords(site)
  const { last, purged, ...known } = await readEvents(site, chain.last, chain.state)
  assert.deepEqual(
    [...purged].filter((id) => found.has(id)),
    [],
  )
  const world: World = { ...known, kept: new Set(found.keys()) }
  const strict = explain(world, chain.state, clients, found)
  const isRelaxed = strict.end === undefined && engine === 'postgres'
  const { end, reasons, states } = isRelaxed ? explain(world, chain.state, clients, found, true) : strict
  if (end === undefined) {
    const parts = {
      reasons,
      before: chain.state.things.values(),
      history: linesOf(clients),
      events: known.events,
      found,
    }
    const told = Object.entries(parts).map(([name, part]) => `${name}:\n${[...part].map(textOf).join('\n')}`)
    assert.fail(`No order explains a history (${states} states).\n${told.join('\n')}`)
  }
  const things = [...end.things.values()].filter(({ id }) => found.has(id))
  // What comes later than the end is another history.
  const kept = things.map((thing): Thing => ({ ...thing, changes: 0, isDue: false, former: thing.former.slice(-5) }))
  return {
    last,
    relaxed: chain.relaxed + Number(isRelaxed),
    state: { ...end, isPurging: false, things: new Map(kept.map((thing) => [thing.id, thing])) },
  }
}

/** What clients did, in the order of its beginning. */
function linesOf(clients: Played['clients']): string[] {
  const all = clients.flatMap((deeds, client) => deeds.map((deed, place) => ({ ...deed, name: `${client}.${place}` })))
  return all
    .sort((one, other) => one.called - other.called)
    .map(({ name, act, reply, called, returned }) => {
      const [from, to] = [called, returned].map((time) => time.toFixed(2))
      return `${name} ${from}-${to} ${textOf(act)} ${reply?.status} ${textOf(reply?.json)}`
    })
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** SUM-3, RES-17, HIS-1: what is kept beside the records is what counting finds. */
export async function checkKept({ rows }: Site, catalog: Catalog, address: string): Promise<void> {
  const administration = await administer({ database: address, databaseUnsafe: true })
  const examined = await administration.examine(catalog)
  assert.deepEqual(
    [...(examined?.summaries ?? [])],
    [
      ['boxes.total', true],
      ['items/by_kind', true],
    ],
  )
  for (const collection of ['boxes', 'items']) {
    const [clock] = await rows(
      `select sum(live) as live, sum(deleted) as deleted from resourced_clocks where collection = '${collection}'`,
    )
    const [counted] = await rows(
      `select count(*) - count(deleted_at) as live, count(deleted_at) as deleted from ${collection}`,
    )
    const numbers = (row: typeof clock) => [Number(row?.['live']), Number(row?.['deleted'])]
    assert.deepEqual(numbers(clock), numbers(counted), `the clock of ${collection}`)
  }
  const kinds = async (table: string) => {
    const record = table === 'events' ? 'record' : 'record_id'
    const isThere = `${record} in (select id from items union all select id from boxes)`
    const found = await rows(`select ${record} as record, kind from ${table} where ${isThere} order by _row`)
    return Object.fromEntries(
      [...Map.groupBy(found, ({ record }) => String(record))].map(([id, list]) => [
        id,
        list.map(({ kind }) => kind).join(),
      ]),
    )
  }
  assert.deepEqual(await kinds('revisions'), await kinds('events'))
}

export const begun: Chain = { last: 0, relaxed: 0, state: { things: new Map(), jobs: new Map(), isPurging: false } }

/** A number of clients, and of things that each of them does. */
export function sizeOf(random: Random): { readonly clients: number; readonly acts: number } {
  const clients = pick(random, [2, 3, 4])
  return { clients, acts: clients === 2 ? pick(random, [2, 3, 4]) : 2 }
}
