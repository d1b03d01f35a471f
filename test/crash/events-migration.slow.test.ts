/** EVT-1: what a migration writes is no event, and what other servers write while it runs or afterwards is one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { newDatabase, type TrialDatabase } from '../engine.ts'
import { type Trial, trial } from '../harness.ts'

type Fields = InterfaceDeclaration['resources'][string]['fields']

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const

function shelf(fields: Fields, events = true, more: Partial<InterfaceDeclaration> = {}): InterfaceDeclaration {
  return { name: 'shelf', resources: { books: { fields, access: anyone, events } }, ...more }
}

/** Serves a declaration, with a migration of everything, and stops. */
async function serving(
  database: TrialDatabase,
  declaration: InterfaceDeclaration,
  work: (trial: Trial) => Promise<void>,
) {
  const { stored } = completeVersions(declaration)
  // Open while the trial is closed, which would remove the database.
  const other = await database.open(stored, { migrate: 'all' })
  const served = await trial(declaration, { database })
  await work(served)
  await served.close()
  await other.close()
}

async function kindsIn(database: TrialDatabase): Promise<unknown[]> {
  return (await database.rows('select kind from events order by _row')).map(({ kind }) => kind)
}

const title = { type: 'string' } as const

test('EVT-1: columns are added, converted, filled and dropped without events, and records go on to have them', async () => {
  const database = await newDatabase()
  await serving(database, shelf({ title, pages: { type: 'string' } }), async ({ make }) => {
    await make('books', { title: 'A', pages: '12' })
  })
  const fields = {
    name: { type: 'string', optional: true },
    pages: { type: 'integer' },
    kind: { type: 'string', default: 'novel', filter: true },
  } as const
  let id: string
  await serving(database, shelf(fields as never), async ({ make, send }) => {
    assert.deepEqual(await kindsIn(database), ['created'], 'the migration wrote no event')
    ;({ id } = await make('books', { name: 'B', pages: 7 }))
    const listed = await send({ path: '/v1/books' })
    const former = listed.json.data.find((each: { id: string }) => each.id !== id)
    assert.deepEqual([former.name, former.pages, former.kind], [null, 12, 'novel'])
    assert.equal((await send({ method: 'PATCH', path: `/v1/books/${id}`, body: { pages: 8 } })).status, 200)
  })
  const events = await database.rows('select data, kind from events order by _row')
  const data = events.map((row) => (typeof row['data'] === 'string' ? JSON.parse(row['data']) : row['data']))
  assert.deepEqual([data[0].title, data[1].name, data[2].pages, data[2].kind], ['A', 'B', 8, 'novel'])
  assert.deepEqual(await kindsIn(database), ['created', 'created', 'updated'])
  await database.remove()
})

test('EVT-1: without the keyword there are no more events; with it again the following changes have some', async () => {
  const database = await newDatabase()
  const other = { magazines: { fields: { title }, access: anyone, events: true } }
  const declared = (events: boolean) => {
    const { resources, ...rest } = shelf({ title }, events)
    return { ...rest, resources: { ...resources, ...other } }
  }
  await serving(database, declared(true), async ({ make }) => void (await make('books', { title: 'A' })))
  await serving(database, declared(false), async ({ make }) => void (await make('books', { title: 'B' })))
  assert.deepEqual(await kindsIn(database), ['created'])
  await serving(database, declared(true), async ({ make }) => void (await make('books', { title: 'C' })))
  assert.deepEqual(await kindsIn(database), ['created', 'created'])
  await database.remove()
})

test('EVT-1: a collection and its fields get new names, and its events are those of the new name', async () => {
  const database = await newDatabase()
  await serving(database, shelf({ title }), async ({ make }) => void (await make('books', { title: 'A' })))
  const renamed: InterfaceDeclaration = {
    name: 'shelf',
    resources: { works: { fields: { name: title }, access: anyone, events: true } },
    versions: { v1: {}, v2: {} },
    changes: [{ version: 'v2', resource: 'works', was: 'books', rename: { title: 'name' } }],
  }
  await serving(database, renamed, async ({ send }) => {
    const body = { name: 'B' }
    assert.equal((await send({ method: 'POST', path: '/v2/works', body })).status, 201)
    assert.equal((await send({ method: 'POST', path: '/v1/books', body: { title: 'C' } })).status, 201)
  })
  const events = await database.rows('select collection, kind from events order by _row')
  assert.deepEqual(
    events,
    Array.from({ length: 3 }, () => ({ collection: 'works', kind: 'created' })),
  )
  await database.remove()
})

test('EVT-1: a second start changes nothing; where no resource has events there is no table of them', async () => {
  const database = await newDatabase()
  await serving(database, shelf({ title }), async () => {})
  const { stored } = completeVersions(shelf({ title }))
  await (await database.open(stored, { migrate: 'never' })).close()
  await database.remove()
  const without = await newDatabase()
  const served = shelf({ title }, false)
  await serving(without, served, async ({ send }) => {
    assert.equal((await send({ path: '/v1/events' })).status, 404)
    await assert.rejects(without.rows('select * from events'))
  })
  await without.remove()
})
