/**
 * CON-5, DEL-4, DEL-5, DEL-6: every pair of changes that affect one another, one on each server, in both orders. The
 * first change has been decided and has not yet written when the second arrives. Then both continue.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { uuidv7 } from 'uuidv7'
import { importRecords } from '../../packages/server/src/jobs/import.ts'
import { openStorage } from '../../packages/server/src/server/open-database.ts'
import type { Storage } from '../../packages/server/src/storage/storage.ts'
import { until } from '../until.ts'
import { catalogs, declarationOf, empty, isMade, jobsDone, violationsOf } from './pairs.ts'
import { type Race, type Racer, raceOf, skip } from './servers.ts'

// Servers with four workers race more often: before a release.
const rounds = Number(process.env.RACE_ROUNDS ?? (process.env.TEST_WORKERS === undefined ? 1 : 2))
const month = 31 * 86_400_000

interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any
}

/** One of two changes that race. */
interface Change {
  /** What it writes last: there it can be held (see `Race.gate`). */
  readonly held: readonly [event: string, condition?: string]
  readonly send: (server: Racer) => Promise<Answered>
}

interface Pair {
  readonly changes: readonly [Change, Change]
  /** Whether exactly one of the two may be made. */
  readonly isOneOnly?: boolean
}

/** What a pair is made with. */
interface Place extends Race {
  readonly storage: Storage
}

const post = (collection: string, body: unknown): Change => ({
  held: [`insert on "${collection}"`],
  send: ({ send }) => send('POST', `/v1/${collection}`, { body }),
})
const patch = (collection: string, id: string, body: unknown, method = 'PATCH'): Change => ({
  held: [`update on "${collection}"`],
  send: ({ send }) => send(method, `/v1/${collection}/${id}`, { body }),
})
const remove = (collection: string, id: string, preference = 'return=minimal'): Change => ({
  held: [`update on "${collection}"`],
  send: ({ send }) => send('DELETE', `/v1/${collection}/${id}`, { headers: { prefer: preference } }),
})
const removeMany = (collection: string, ids: readonly string[]): Change => ({
  held: [`update on "${collection}"`],
  send: ({ send }) => send('POST', `/v1/${collection}/bulk-delete`, { body: { ids } }),
})
const removeMatching = (collection: string, name: string, preference = 'return=minimal'): Change => ({
  held: [`update on "${collection}"`],
  send: ({ send }) => send('DELETE', `/v1/${collection}?name=${name}`, { headers: { prefer: preference } }),
})
const changeMatching = (collection: string, filter: string, body: unknown, preference = 'return=minimal'): Change => ({
  held: [`update on "${collection}"`],
  send: ({ send }) => send('PATCH', `/v1/${collection}?${filter}`, { body, headers: { prefer: preference } }),
})
const restore = (collection: string, id: string): Change => ({
  held: [`update on "${collection}"`],
  send: ({ send }) => send('POST', `/v1/${collection}/${id}/restore`),
})

/** Import by a process of its own. */
function load({ storage }: Place, collection: string, values: readonly object[]): Change {
  return {
    held: [`insert on "${collection}"`],
    async send() {
      const resource = completeCatalog(declarationOf([])).resources.get(collection)
      assert.ok(resource)
      const issues: unknown[] = []
      async function* records() {
        for (const [index, value] of values.entries()) yield { line: index + 1, value, size: 100 }
      }
      const caller = { id: 'root', roles: ['admin'], claims: {} }
      const onProblem = (problem: unknown) => void issues.push(problem)
      const { stopped } = await importRecords({ storage, resource, records: records(), caller, onProblem })
      return { status: stopped ? 409 : 201, json: issues }
    },
  }
}

/** A purge by a process whose clock is a month ahead. */
function purge({ storage: { jobs } }: Place): Change {
  return {
    held: ['update on resourced_clocks', 'new.deleted < old.deleted and new.live = old.live'],
    async send() {
      const later = Date.now() + month
      const id = uuidv7()
      const begun = await jobs.beginPurge({ id, statusUrl: `/v1/jobs/${id}` }, later)
      while (begun && (await jobs.step({ id, task: 'purge' }, later)) === 'more');
      return { status: 200, json: undefined }
    },
  }
}

/** A record that is deleted. */
async function deleted(race: Race, collection: string, body: unknown): Promise<{ readonly id: string }> {
  const record = await race.make(collection, body)
  assert.ok(isMade(await race.on(0).send('DELETE', `/v1/${collection}/${record.id}`)))
  return record
}

const pairs: Record<string, (place: Place) => Promise<Pair>> = {}
const parentOf = (place: Place) => place.make('parents', { name: 'goes' })

for (const dependents of ['restricts', 'cascades', 'clears']) {
  const isOneOnly = dependents === 'restricts'
  const under = (id: string) => ({ name: 'n', parent_id: id })

  pairs[`POST of ${dependents}, DELETE of their parent`] = async (place) => {
    const { id } = await parentOf(place)
    return { changes: [post(dependents, under(id)), remove('parents', id)], isOneOnly }
  }
  for (const method of ['PATCH', 'PUT']) {
    pairs[`${method} moves ${dependents}, DELETE of the new parent`] = async (place) => {
      const { id } = await parentOf(place)
      const child = await place.make(dependents, under((await place.make('parents', { name: 'stays' })).id))
      return { changes: [patch(dependents, child.id, under(id), method), remove('parents', id)], isOneOnly }
    }
  }
  for (const [how, preference] of [
    ['', 'return=minimal'],
    [' as a job', 'respond-async'],
  ] as const) {
    pairs[`a change by filter${how} moves ${dependents}, DELETE of the new parent`] = async (place) => {
      const { id } = await parentOf(place)
      for (const parent of [undefined, (await place.make('parents', { name: 'stays' })).id]) {
        await place.make(dependents, parent === undefined ? { name: 'n' } : under(parent))
      }
      const change = changeMatching(dependents, 'name=n', { parent_id: id }, preference)
      return { changes: [change, remove('parents', id)], isOneOnly: isOneOnly && how === '' }
    }
  }
  pairs[`a change by filter as a job moves ${dependents} away, DELETE of the old parent`] = async (place) => {
    const { id } = await parentOf(place)
    await place.make(dependents, under(id))
    const other = await place.make('parents', { name: 'stays' })
    const change = changeMatching(dependents, 'name=n', { parent_id: other.id }, 'respond-async')
    return { changes: [change, remove('parents', id)] }
  }
  pairs[`PATCH moves ${dependents} away, DELETE of the old parent`] = async (place) => {
    const { id } = await parentOf(place)
    const child = await place.make(dependents, under(id))
    const other = await place.make('parents', { name: 'stays' })
    return { changes: [patch(dependents, child.id, { parent_id: other.id }), remove('parents', id)] }
  }
  pairs[`PATCH of the name of ${dependents}, DELETE of their parent`] = async (place) => {
    const { id } = await parentOf(place)
    const child = await place.make(dependents, under(id))
    return { changes: [patch(dependents, child.id, { name: 'changed' }), remove('parents', id)] }
  }
  pairs[`restoration of ${dependents}, DELETE of their parent`] = async (place) => {
    const { id } = await parentOf(place)
    const child = await deleted(place, dependents, under(id))
    return { changes: [restore(dependents, child.id), remove('parents', id)], isOneOnly }
  }
  pairs[`import of ${dependents}, DELETE of their parent`] = async (place) => {
    const { id } = await parentOf(place)
    return { changes: [load(place, dependents, [under(id), under(id)]), remove('parents', id)], isOneOnly }
  }
  pairs[`POST of ${dependents}, bulk deletion of their parent`] = async (place) => {
    const { id } = await parentOf(place)
    const ids = [id, (await parentOf(place)).id]
    return { changes: [post(dependents, under(id)), removeMany('parents', ids)], isOneOnly }
  }
  pairs[`POST of ${dependents}, deletion of their parent by filter`] = async (place) => {
    const { id } = await parentOf(place)
    return { changes: [post(dependents, under(id)), removeMatching('parents', 'goes')], isOneOnly }
  }
  for (const what of ['one', 'filter']) {
    pairs[`POST of ${dependents}, a job that deletes what their parent is under, by ${what}`] = async (place) => {
      const top = await place.make('tops', { name: 'goes' })
      const { id } = await place.make('parents', { name: 'goes', top_id: top.id })
      const job =
        what === 'one' ? remove('tops', top.id, 'respond-async') : removeMatching('tops', 'goes', 'respond-async')
      return { changes: [post(dependents, under(id)), job] }
    }
    pairs[`PATCH moves ${dependents}, a job that deletes what their new parent is under, by ${what}`] = async (
      place,
    ) => {
      const top = await place.make('tops', { name: 'goes' })
      const { id } = await place.make('parents', { name: 'goes', top_id: top.id })
      const child = await place.make(dependents, { name: 'n' })
      const job =
        what === 'one' ? remove('tops', top.id, 'respond-async') : removeMatching('tops', 'goes', 'respond-async')
      return { changes: [patch(dependents, child.id, under(id)), job] }
    }
    pairs[`restoration of ${dependents}, a job that deletes what their parent is under, by ${what}`] = async (
      place,
    ) => {
      const top = await place.make('tops', { name: 'goes' })
      const { id } = await place.make('parents', { name: 'goes', top_id: top.id })
      const child = await deleted(place, dependents, under(id))
      const job =
        what === 'one' ? remove('tops', top.id, 'respond-async') : removeMatching('tops', 'goes', 'respond-async')
      return { changes: [restore(dependents, child.id), job] }
    }
  }
}

const values = { left: 'l', right: 'r' }
pairs['two POSTs of the same values'] = async () => ({
  changes: [post('pairs', values), post('pairs', { ...values, left: 'L'.toLowerCase() })],
  isOneOnly: true,
})
pairs['PATCH to values, POST of the same'] = async (place) => {
  const { id } = await place.make('pairs', { left: 'l', right: 'other' })
  return { changes: [patch('pairs', id, { right: 'r' }), post('pairs', values)], isOneOnly: true }
}
pairs['a change by filter to values, POST of the same'] = async (place) => {
  await place.make('pairs', { left: 'l', right: 'other' })
  return { changes: [changeMatching('pairs', 'left=l', { right: 'r' }), post('pairs', values)], isOneOnly: true }
}
pairs['two changes by filter of the same records'] = async (place) => {
  for (const name of ['a', 'b', 'c']) await place.make('cascades', { name })
  const change = (order: string, preference?: string) =>
    changeMatching('cascades', `name[in]=${order}`, { code: null, name: 'n' }, preference)
  return { changes: [change('a,b,c'), change('c,b,a', 'respond-async')] }
}
pairs['restoration of values, POST of the same'] = async (place) => {
  const { id } = await deleted(place, 'pairs', values)
  return { changes: [restore('pairs', id), post('pairs', values)], isOneOnly: true }
}
pairs['restoration of a tree, POST of a value that is unique in it'] = async (place) => {
  const { id } = await parentOf(place)
  await place.make('cascades', { name: 'n', parent_id: id, code: 'c' })
  await place.on(0).send('DELETE', `/v1/parents/${id}`)
  return { changes: [restore('parents', id), post('cascades', { name: 'n', code: 'c' })], isOneOnly: true }
}
pairs['import of values, POST of the same'] = async (place) => ({
  changes: [load(place, 'pairs', [{ left: 'x', right: 'y' }, values]), post('pairs', values)],
  isOneOnly: true,
})
pairs['restoration of a tree, its purge'] = async (place) => {
  const { id } = await parentOf(place)
  for (const name of ['a', 'b']) await place.make('cascades', { name, parent_id: id })
  await place.on(0).send('DELETE', `/v1/parents/${id}`)
  return { changes: [restore('parents', id), purge(place)] }
}
pairs['two DELETEs of one record'] = async (place) => {
  const { id } = await parentOf(place)
  return { changes: [remove('parents', id), remove('parents', id)], isOneOnly: true }
}

/**
 * Sends a change that is held before it is made, then the other one, and lets both go on once the other waits too, or
 * has ended.
 */
async function force(race: Race, first: Change, second: Change, round: number): Promise<[Answered, Answered]> {
  const gate = await race.gate(...first.held)
  const ended = { first: false, second: false }
  const holds = (count: number, which: 'first' | 'second') => until(async () => ended[which] || gate.isHolding(count))
  const started = first.send(race.on(round)).finally(() => (ended.first = true))
  await holds(1, 'first')
  const following = second.send(race.on(round + 1)).finally(() => (ended.second = true))
  const both = Promise.allSettled([started, following])
  await holds(2, 'second')
  await gate.open()
  await both
  return [await started, await following]
}

for (const [title, ruled] of Object.entries(catalogs)) {
  describe(`in a catalog with ${title}`, { skip }, () => {
    const race = raceOf(declarationOf(ruled))
    let storage: Storage
    before(async () => {
      storage = await openStorage({ database: race.url, databaseUnsafe: true }, completeCatalog(declarationOf(ruled)))
    })
    after(() => storage.close())
    for (const [pair, prepare] of Object.entries(pairs)) {
      test(pair, { skip }, async (context) => {
        const found: Record<string, number> = {}
        const violations: string[] = []
        for (let round = 0; round < 2 * rounds; round++) {
          const { changes, isOneOnly } = await prepare({ ...race, storage })
          const isTurned = round % 2 === 1
          const [one, other] = isTurned ? [changes[1], changes[0]] : changes
          const answers = await force(race, one, other, round >> 1)
          await jobsDone(race)
          const made = answers.filter(isMade).length
          const how = `${isTurned ? 'turned' : 'as told'}: ${answers.map(({ status }) => status).join(', ')}`
          found[how] = (found[how] ?? 0) + 1
          violations.push(...(await violationsOf(race)).map((each) => `${how}: ${each}`))
          if (isOneOnly === true && made !== 1) violations.push(`${how}: ${made} of two were made`)
          await empty(race)
        }
        context.diagnostic(JSON.stringify(found))
        assert.deepEqual(violations, [])
      })
    }
  })
}
