/** RES-16: sequences that are declared for collections with records, renamed, and removed. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { FieldDeclaration, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { MigrationRefused } from '../../packages/server/src/storage/migration/migration-step.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { type Trial, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

function shop(
  orders: Record<string, FieldDeclaration>,
  more: Partial<InterfaceDeclaration> = {},
): InterfaceDeclaration {
  const title = { type: 'string' } as const
  const city = { type: 'string', immutable: true } as const
  return { name: 'shop', resources: { orders: { fields: { title, city, ...orders }, access: anyone } }, ...more }
}

const number = { sequence: { per: 'city' } } as const

async function numbersOf({ send }: Trial, collection = 'orders', name = 'number', version = 'v1') {
  const { data } = (await send({ path: `/${version}/${collection}?limit=100` })).json
  return Object.fromEntries(data.map((each: Record<string, unknown>) => [each['title'], each[name]]))
}

/** A trial of another declaration on the same database. */
function redeclared(context: TestContext, { database }: Trial, declaration: InterfaceDeclaration) {
  return trialFor(context, declaration, { database })
}

/** Migrates a database, back to a former declaration too. */
async function migrated({ database }: Trial, declaration: InterfaceDeclaration) {
  const { stored } = completeVersions(declaration)
  await (await database.open(stored, { migrate: 'all' })).close()
}

it('RES-16: a sequence of a collection with records numbers them in the order of their creation', async (context) => {
  const before = await trialFor(context, shop({}))
  const deleted = await before.make('orders', { title: 'a', city: 'Bonn' })
  for (const title of ['b', 'c']) await before.make('orders', { title, city: 'Bonn' })
  const { updated_at, ...kept } = await before.make('orders', { title: 'd', city: 'Ulm' })
  await before.send({ method: 'DELETE', path: `/v1/orders/${deleted.id}` })
  before.clock.ahead = 1_000
  const after = await redeclared(context, before, shop({ number }))
  assert.deepEqual(await numbersOf(after), { b: 2, c: 3, d: 1 })
  assert.equal((await after.make('orders', { title: 'e', city: 'Bonn' })).number, 4)
  assert.equal((await after.make('orders', { title: 'f', city: 'Ulm' })).number, 2)
  const restored = await after.send({ method: 'POST', path: `/v1/orders/${deleted.id}/restore` })
  assert.equal(restored.json.number, 1)
  const { json } = await after.send({ path: `/v1/orders/${kept.id}` })
  assert.ok(json.updated_at >= updated_at)
  // Servers of the same declaration find nothing to do.
  const again = await redeclared(context, after, shop({ number }))
  assert.equal((await again.make('orders', { title: 'g', city: 'Ulm' })).number, 3)
})

it('RES-16: a field with numbers becomes a sequence, and goes on from the greatest', async (context) => {
  const before = await trialFor(context, shop({ number: { type: 'integer', optional: true } }))
  await before.make('orders', { title: 'a', city: 'Bonn', number: 7 })
  await before.make('orders', { title: 'b', city: 'Bonn' })
  await before.make('orders', { title: 'c', city: 'Ulm' })
  const after = await redeclared(context, before, shop({ number }))
  assert.deepEqual(await numbersOf(after), { a: 7, b: 8, c: 1 })
  assert.equal((await after.make('orders', { title: 'd', city: 'Bonn' })).number, 9)
  // As a plain field it keeps its values; then it counts on.
  const plain = await redeclared(context, after, shop({ number: { type: 'integer' } }))
  await plain.make('orders', { title: 'e', city: 'Bonn', number: 20 })
  await migrated(plain, shop({ number }))
  const back = await redeclared(context, plain, shop({ number }))
  assert.equal((await back.make('orders', { title: 'f', city: 'Bonn' })).number, 21)
})

it('RES-16: numbers that are there twice refuse the sequence', async (context) => {
  const before = await trialFor(context, shop({ number: { type: 'integer' } }))
  for (const title of ['a', 'b']) await before.make('orders', { title, city: 'Bonn', number: 1 })
  const { stored } = completeVersions(shop({ number }))
  await assert.rejects(before.database.open(stored, { migrate: 'all' }), (error: unknown) => {
    assert.ok(error instanceof MigrationRefused)
    assert.match(error.message, /x keep city, number unique in orders: 1 record has the same value/)
    return true
  })
})

it('RES-16: counters follow a collection and fields that get new names', async (context) => {
  const before = await trialFor(context, shop({ number, place: { sequence: {} } }))
  for (const title of ['a', 'b']) await before.make('orders', { title, city: 'Bonn' })
  const fields = { title: { type: 'string' }, town: { type: 'string', immutable: true } } as const
  const resources = {
    sales: { fields: { ...fields, place: { sequence: { per: 'town' } }, number: { sequence: {} } }, access: anyone },
  }
  const after = await redeclared(context, before, {
    ...{ name: 'shop', resources, versions: { v1: {}, v2: {} } },
    changes: [
      {
        ...{ version: 'v2', resource: 'sales', was: 'orders' },
        rename: { city: 'town', number: 'place', place: 'number' },
      },
    ],
  })
  const made = await after.send({ path: '/v2/sales', body: { title: 'c', town: 'Bonn' } })
  assert.deepEqual([made.status, made.json.place, made.json.number], [201, 3, 3], made.text)
  const other = await after.send({ path: '/v1/orders', body: { title: 'd', city: 'Ulm' } })
  assert.deepEqual([other.status, other.json.number, other.json.place], [201, 1, 4], other.text)
  assert.deepEqual(await numbersOf(after, 'sales', 'place', 'v2'), { a: 1, b: 2, c: 3, d: 1 })
})

it('RES-16: a collection that is dropped and declared again begins with 1', async (context) => {
  const before = await trialFor(context, shop({ number }))
  await before.make('orders', { title: 'a', city: 'Bonn' })
  const others = { notes: { fields: { text: { type: 'string' } }, access: anyone } } as const
  await migrated(before, { name: 'shop', resources: others })
  await migrated(before, shop({ number }))
  const after = await redeclared(context, before, shop({ number }))
  assert.equal((await after.make('orders', { title: 'b', city: 'Bonn' })).number, 1)
})
