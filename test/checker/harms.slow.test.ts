/** Servers of other makes that misbehave hold nothing of the checker after a check. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cases } from '../../packages/check/src/cases/cases.ts'
import { Client } from '../../packages/check/src/client/client.ts'
import { discover } from '../../packages/check/src/discovery/discover.ts'
import { tryCollections } from '../../packages/check/src/discovery/try-collections.ts'
import { takeCensus } from '../../packages/check/src/run/census.ts'
import { check as runCases } from '../../packages/check/src/run/check.ts'
import { Ledger } from '../../packages/check/src/run/ledger.ts'
import { assertTold, check, storeFor, strangersIn, verdictOf } from './check-store.ts'
import { orders, type Store, type StoreMake } from './plant/store.ts'

describe('A server with sequential keys', () => {
  it('gets no identifier that the checker chooses, and its sequence moves on by created records only', async (context) => {
    const store = await storeFor(context, { takesIds: true })
    const ended = await check(store)
    assert.ok(ended.report.created > 100, ended.err)
    const { last } = store.tables['orders'] as Store['tables'][string]
    assert.ok(last <= orders.length + 2 * ended.report.created, `the sequence is at ${last}`)
    assert.deepEqual(strangersIn(store), [])
    assert.deepEqual([ended.report.remains, ended.report.differences], [[], []])
    for (const id of ['RES-4/not-chosen', 'RES-4/kept', 'MET-7/put', 'MET-7/patch']) {
      assert.match(verdictOf(ended, id), /^not applicable: not tried: .*--allow-chosen-ids/)
    }
    assert.match(ended.err, /Identifiers that the server numbers move on: orders by up to about \d+\./)
  })

  it('gets identifiers near those in use if that is allowed, and the records are deleted', async (context) => {
    const store = await storeFor(context, { takesIds: true })
    const ended = await check(store, '--allow-chosen-ids', '--strict', '--only', 'RES-4,MET-7')
    for (const id of ['RES-4/not-chosen', 'RES-4/kept', 'MET-7/put']) assert.match(verdictOf(ended, id), /^fails/)
    assert.ok((store.tables['orders']?.last ?? 0) < 100_000)
    assert.deepEqual(strangersIn(store), [])
    assert.match(ended.err, /The checker sends identifiers that it chooses: .* orders from there/)
  })

  it('gets no record if it needs an identifier from the client', async (context) => {
    const store = await storeFor(context, {
      takesIds: true,
      schemas: { id: { type: 'integer' } },
      instead: ({ method, body }) =>
        method === 'POST' && body['id'] === undefined
          ? { status: 422, body: { errors: { id: ['is required'] } } }
          : undefined,
    })
    const { err } = await check(store, '--only', 'MET-2')
    assert.deepEqual([strangersIn(store), store.tables['orders']?.last], [[], 3])
    assert.match(err, /No record of orders can be created .*--allow-chosen-ids/)
  })
})

describe('A server that creates additional records', () => {
  const isRecord = (below: string | undefined) => /^\d+/.test(below ?? '')
  const makes: Readonly<Record<string, StoreMake>> = {
    'by POST to the address of a record': {
      instead({ method, below, body, collection }, store) {
        if (method !== 'POST' || !isRecord(below)) return undefined
        store.insert(collection, body)
        return { status: 200, body: { ok: true } }
      },
    },
    'and tells neither Location nor identifier': {
      instead({ method, below, body, collection, isValid }, store) {
        if (method !== 'POST' || below !== undefined || !isValid) return undefined
        store.insert(collection, body)
        return { status: 201 }
      },
    },
    'and answers 400 to a body that it has stored': {
      instead({ method, below, body, collection, isValid }, store) {
        if (method !== 'POST' || below !== undefined || isValid) return undefined
        store.insert(collection, body)
        return { status: 400, body: { error: 'bad' } }
      },
    },
    'and answers 500 to every third creation': {
      instead({ method, below, body, collection, isValid }, store) {
        if (method !== 'POST' || below !== undefined || !isValid) return undefined
        const { id } = store.insert(collection, body)
        return Number(id) % 3 === 0 ? { status: 500 } : { status: 201, body: { ...body, id } }
      },
    },
    'by PATCH where no record is': {
      instead({ method, below, body, collection }, store) {
        if (method !== 'PATCH' || !isRecord(below) || store.tables[collection]?.records.has(below ?? ''))
          return undefined
        return { status: 200, body: store.insert(collection, body) }
      },
    },
    'whose lists take no filter': {
      ignoresFilters: true,
      instead({ method, below, body, collection, isValid }, store) {
        if (method !== 'POST' || below !== undefined || !isValid) return undefined
        const { id } = store.insert(collection, body)
        return Number(id) % 5 === 0 ? { status: 503 } : { status: 201, body: { ...body, id } }
      },
    },
  }
  for (const [title, make] of Object.entries(makes)) {
    it(title, async (context) => {
      const store = await storeFor(context, make)
      const ended = await check(store, '--only', 'RES,MET,ERR')
      assert.ok(
        store.asked.some((each) => each.startsWith('POST')),
        ended.err,
      )
      assertTold(store, ended)
      // What bears the text of the checker is deleted, whatever the server said of it.
      const marked = [...(store.tables['orders']?.records.values() ?? [])].filter((each) =>
        /checked-/.test(JSON.stringify(each)),
      )
      assert.deepEqual(marked, [])
    })
  }

  it('and does not answer every seventh creation', async (context) => {
    const store = await storeFor(context, {
      instead({ method, below, body, collection, isValid }, { insert }) {
        if (method !== 'POST' || below !== undefined || !isValid) return undefined
        const { id } = insert(collection, body)
        return Number(id) % 7 === 0 ? 'silence' : { status: 201, body: { ...body, id } }
      },
    })
    const client = new Client({ patience: 150 })
    context.after(() => client.close())
    const ledger = new Ledger().watch(client)
    const found = await discover({ client, credential: [] }, { url: store.origin })
    const before = await takeCensus({ client, credential: [] }, found.profile)
    const { profile } = await tryCollections({ client, credential: [] }, { ...found, cases, ledger })
    const report = await runCases({ profile, client, credential: [], ledger, before, only: ['MET'] })
    assert.ok(ledger.unanswered > 0)
    assert.deepEqual([strangersIn(store), report.remains, report.differences], [[], [], []])
  })

  it('in a list that is too long to read', async (context) => {
    const many = Array.from({ length: 2_000 }, (_, index) => ({ id: index + 1, title: `Order ${index}`, note: '' }))
    const { instead } = makes['and answers 500 to every third creation'] as StoreMake
    const store = await storeFor(context, { collections: { orders: many }, instead })
    const { report } = await check(store, '--only', 'MET')
    assert.deepEqual(strangersIn(store, 'orders', many), [])
    assert.deepEqual(report.differences, [])
  })

  it('none, and answers with an existing record', async (context) => {
    const store = await storeFor(context, {
      instead: ({ method, below }) =>
        method === 'POST' && below === undefined ? { status: 200, body: orders[0] } : undefined,
    })
    const { err } = await check(store)
    assert.deepEqual(strangersIn(store), [])
    assert.deepEqual(
      store.asked.filter((each) => /^(?:DELETE|PUT|PATCH) \/orders\/[1-3]$/.test(each)),
      [],
    )
    assert.match(err, /names a record that existed before/)
  })

  it('is reported with its leftovers, which do not change the exit code', async (context) => {
    const store = await storeFor(context, makes['and answers 400 to a body that it has stored'] as StoreMake)
    const { err, code, report } = await check(store, '--only', 'MET-2,MET-3')
    const [difference] = report.differences
    const all = report.rules.flatMap(({ cases }) => cases)
    const fails = all.some(({ verdict, level }) => verdict === 'fails' && level === 'must')
    if (difference !== undefined) assert.match(err, /orders: \d+ records? more than before \(3, now \d+\)/)
    assert.equal(code, fails ? 1 : 0)
  })
})

describe('A server with collections of its own', () => {
  const account = { id: 1, title: 'Root', email: 'root@example.org', role: 'admin' }
  const collections = {
    orders,
    users: [account],
    ...Object.fromEntries(
      ['_superusers', 'directus_users', 'roles', 'permissions', 'api-keys', 'webhooks', 'settings'].map((name) => [
        name,
        [{ id: 1, title: 'Old' }],
      ]),
    ),
  }

  it('keeps the excluded ones unread and unchanged, and the plan shows the reason', async (context) => {
    const store = await storeFor(context, { collections })
    const { err } = await check(store, '--only', 'RES,MET,DEL')
    for (const [name, records] of Object.entries(collections)) assert.deepEqual(strangersIn(store, name, records), [])
    const others = store.asked.filter(
      (each) => !/^[A-Z]+ \/(?:orders|openapi\.json|no-such|users)?(?:[/?]|$)/.test(each),
    )
    assert.deepEqual(
      others.filter((each) => /superusers|directus|roles|permissions|api-keys|webhooks|settings/.test(each)),
      [],
    )
    assert.deepEqual([...new Set(store.asked.filter((each) => / \/users/.test(each)))], ['GET /users'])
    assert.match(err, /_superusers, directus_users are excluded/)
    assert.match(err, /users is excluded: its records look like accounts \(email and role\)/)
    assert.match(err, /roles, permissions, settings are excluded: .*--collection NAME/)
  })

  it('has an excluded one checked if the user names it', async (context) => {
    const store = await storeFor(context, { collections })
    await check(store, '--collection', 'roles', '--only', 'MET-2')
    assert.ok(store.asked.includes('POST /roles'))
    assert.ok(!store.asked.includes('POST /orders'))
    assert.deepEqual(strangersIn(store, 'roles', collections['roles' as keyof typeof collections]), [])
  })
})
