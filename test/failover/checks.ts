/** What must hold after a failure, and the figures of it. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../postgres/query.ts'
import { until } from '../until.ts'
import type { Cluster } from './cluster.ts'
import type { Event, Workload } from './workload.ts'

/** For how long deliveries may wait: a delivery that was claimed is made again after 45 seconds. */
const deliveryPatience = 150

/** What must be nothing. */
export interface Findings {
  readonly lost: readonly string[]
  readonly 'two winners': readonly string[]
  readonly 'made twice': readonly string[]
  /** Of changes that certainly were not made, by what the client was told. */
  readonly 'made though refused': readonly string[]
  readonly events: readonly string[]
  readonly deliveries: readonly string[]
  readonly stale: readonly string[]
  /** Jobs that have not ended, and answers that no client should get. */
  readonly wrong: readonly string[]
}

/**
 * Ends a workload and compares what its clients were told with what is in the database.
 *
 * @param since when the failure began, by `performance.now()`
 * @returns the longest time in which no change was acknowledged, in milliseconds
 */
export async function check(
  context: TestContext,
  cluster: Cluster,
  workload: Workload,
  since: number,
): Promise<{ readonly findings: Findings; readonly pause: number }> {
  await workload.end()
  const all = await workload.events()
  await until(() => workload.streamed.at(-1) === all.at(-1)?.id || workload.wrong.length > 0).catch(() => {})
  const received = () => new Set(workload.receiver.got.map(({ event }) => event.id))
  await until(() => received().size >= all.length, 'everything is delivered', deliveryPatience).catch(() => {})
  // Nothing more may come.
  await sleep(500)
  await workload.close()
  const url = cluster.urlAt(await cluster.only('leader'), workload.database)
  const notes = countBy((await query(url, 'select title from notes')).map(({ title }) => String(title)))
  const counters = await query(url, 'select id::text as id, n from counters')
  const made = countBy(all.flatMap((event) => (event.collection === 'counters' ? (event.data?.change ?? []) : [])))
  const told = (what: string) => workload.changes.filter((change) => change.told === what)
  const tags = countBy(told('made').map(({ counter, tag }) => `${counter} ${tag}`))
  const findings: Findings = {
    lost: [
      ...[...workload.created.keys()].filter((title) => !notes.has(title)),
      ...told('made').flatMap(({ name }) => (made.has(name) ? [] : name)),
    ],
    'two winners': several(tags),
    'made twice': [...several(notes), ...several(made).filter((name) => name !== 'none')],
    'made though refused': told('refused').flatMap(({ name }) => (made.has(name) ? name : [])),
    events: [...eventsAmiss(all, notes, counters), ...streamAmiss(all, workload.streamed)],
    deliveries: deliveriesAmiss(all, workload),
    stale: workload.stale,
    wrong: workload.wrong,
  }
  const pause = longestPause(workload, since)
  report(context, workload, { findings, pause, events: all.length })
  return { findings, pause }
}

/** Fails unless nothing was found. */
export function assertNone(findings: Findings): void {
  assert.deepEqual(Object.fromEntries(Object.entries(findings).filter(([, found]) => found.length > 0)), {})
}

/** Each record has its events once and in order, and they end in what the record is. */
function eventsAmiss(
  all: readonly Event[],
  notes: ReadonlyMap<string, number>,
  counters: readonly Record<string, unknown>[],
): string[] {
  const created = countBy(all.flatMap((event) => (event.collection === 'notes' ? (event.data?.title ?? []) : [])))
  const values = new Map<string, number[]>()
  for (const { collection, record, data } of all) {
    if (collection === 'counters') values.set(record, [...(values.get(record) ?? []), data?.n ?? -1])
  }
  return [
    ...[...notes.keys()].filter((title) => created.get(title) !== 1),
    ...[...created.keys()].filter((title) => !notes.has(title)),
    ...counters.flatMap(({ id, n }) => {
      const found = values.get(String(id)) ?? []
      const isRight = found.length === Number(n) + 1 && found.every((value, index) => value === index)
      return isRight ? [] : `${id} is ${n}, by its events ${found}`
    }),
  ]
}

function streamAmiss(all: readonly Event[], streamed: readonly string[]): string[] {
  const ids = all.map(({ id }) => id)
  const expected = ids.slice(ids.indexOf(String(streamed[0])))
  const wrong = expected.findIndex((id, index) => id !== streamed[index])
  if (wrong === -1 && streamed.length === expected.length) return []
  return [`A stream has ${streamed.length} of ${expected.length} events; number ${wrong} is the first that differs`]
}

/** A message may come twice, but never after a later one of its record was new. */
function deliveriesAmiss(all: readonly Event[], { receiver }: Workload): string[] {
  const first = new Set(receiver.got.map(({ event }) => event.id as string))
  const arrival = new Map([...first].map((id, index) => [id, index]))
  const last = new Map<string, number>()
  return all.flatMap(({ id, record }) => {
    const index = arrival.get(id)
    if (index === undefined) return `${id} was not delivered`
    const before = last.get(record) ?? -1
    last.set(record, index)
    return index > before ? [] : `${id} was delivered after a later one`
  })
}

function longestPause({ seen }: Workload, since: number): number {
  const isMade = ({ kind, status }: Workload['seen'][0]) => (kind === 'creation' || kind === 'change') && status < 300
  const times = seen.filter(isMade).map(({ at }) => at)
  return Math.max(0, ...times.map((at, index) => (at < since ? 0 : at - (times[index - 1] ?? at))))
}

function report(
  context: TestContext,
  workload: Workload,
  { findings, pause, events }: { readonly findings: Findings; readonly pause: number; readonly events: number },
): void {
  const statuses = (kind: string) => {
    const counts = countBy(workload.seen.flatMap((each) => (each.kind === kind ? String(each.status) : [])))
    return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ')
  }
  const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`
  const messages = workload.receiver.got.length
  const changes = workload.changes.filter(({ told }) => told === 'made').length
  const lines = [
    `${workload.created.size} creations and ${changes} changes with If-Match acknowledged`,
    Object.entries(findings)
      .map(([name, found]) => `${name}: ${found.length}`)
      .join(', '),
    `no change for ${seconds(pause)}; the longest creation took ${seconds(Math.max(...workload.created.values()))}`,
    `creations ${statuses('creation')}; changes ${statuses('change')}; reads ${statuses('read')}; ` +
      `ready ${statuses('ready')}`,
    `${events} events, ${messages} messages, ${workload.jobs.length} jobs, ` +
      `the longest ${seconds(Math.max(0, ...workload.jobs))}`,
  ]
  const examples = Object.entries(findings).flatMap(([name, found]: [string, readonly string[]]) =>
    found.slice(0, 3).map((each) => `${name}: ${each}`),
  )
  for (const line of [...lines, ...examples]) context.diagnostic(line)
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

function several(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].flatMap(([name, count]) => (count > 1 ? name : []))
}
