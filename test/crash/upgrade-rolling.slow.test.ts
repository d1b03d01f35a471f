/** VER-2: while servers with two declarations share a database, an older server that restarts undoes nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FieldDeclaration, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { EventFunction } from 'resourced-contract/model/declared-functions'
import type { EventKind } from 'resourced-contract/model/event'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { administer } from '../../packages/server/src/server/open-database.ts'
import { MigrationRefused } from '../../packages/server/src/storage/migration/migration-step.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { type Trial, trial, trialFor } from '../harness.ts'

type Fields = Readonly<Record<string, FieldDeclaration>>
type Changes = Pick<InterfaceDeclaration, 'versions' | 'changes'>

function books(fields: Fields, others: InterfaceDeclaration['resources'] = {}, changes: Changes = {}) {
  return defineInterface({ name: 'books', resources: { books: { fields }, ...others }, ...changes })
}

const title = { type: 'string', search: true } as const
const older = books({ title, pages: { type: 'integer', optional: true } })
const newer = books(
  {
    title: { ...title, filter: true, sort: true, unique: true },
    pages: { type: 'integer', optional: true, filter: true },
    rank: { type: 'integer', filter: true, default: 3 },
    blurb: { type: 'string', optional: true, search: true },
  },
  { shelves: { fields: { name: { type: 'string' } } } },
)

/** All that is remembered, and the names of all that there is. */
async function stateOf({ database }: Trial): Promise<unknown> {
  const meta = await database.rows('select key, value from resourced_meta order by key')
  const isFile = database.address.startsWith('sqlite:')
  const names = isFile
    ? "select type || ' ' || name || ' ' || coalesce(sql, '') as name from sqlite_schema order by 1"
    : "select c.relname || ' ' || coalesce(string_agg(a.attname, ' ' order by a.attnum), '') as name from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relnamespace = current_schema()::regnamespace and not a.attisdropped group by c.relname order by 1"
  return { meta, names: (await database.rows(names)).map((row) => row['name']) }
}

async function start({ database }: Trial, declaration: InterfaceDeclaration, migrate?: 'never' | 'all'): Promise<void> {
  await (await database.open(completeVersions(declaration).stored, migrate && { migrate })).close()
}

test('an older server starts beside newer ones, serves requests, and keeps the newer tables', async (context) => {
  const first = await trialFor(context, older)
  await first.make('books', { title: 'Ulysses', pages: 700 })
  const second = await trialFor(context, newer, { database: first.database })
  const before = await stateOf(second)
  for (const migrate of [undefined, 'never'] as const) {
    await start(first, older, migrate)
    assert.deepEqual(await stateOf(second), before)
  }
  const again = await trialFor(context, older, { database: first.database })
  await again.make('books', { title: 'Dubliners' })
  assert.deepEqual(
    (await again.send({ path: '/v1/books?q=dubl' })).json.data.map((each: { title: string }) => each.title),
    ['Dubliners'],
  )
  assert.equal((await second.send({ path: '/v1/books?rank=3&sort=title' })).status, 200)
  await second.make('books', { title: 'Exiles', rank: 5, blurb: 'A play' })
  await second.make('shelves', { name: 'One' })
  // The newer one has nothing to put right.
  await start(first, newer, 'never')
  assert.deepEqual(await stateOf(second), before)
  // Values of a field that it does not know are no reason to refuse.
  await start(first, older)
  assert.deepEqual(await stateOf(second), before)
})

const renamed = books(
  { name: title, pages: { type: 'integer', optional: true } },
  {},
  {
    versions: { v1: {}, v2: {} },
    changes: [{ version: 'v2', resource: 'books', rename: { title: 'name' } }],
  },
)
const retyped = books({ title, pages: { type: 'string', optional: true } })
const mended = books({ title, pages: { type: 'integer', optional: true }, note: { type: 'string', optional: true } })

for (const [what, declaration, lacks] of [
  ['has renamed a field', renamed, /\+ add the column books\.title/],
  ['has changed a type', retyped, /change books\.pages from string to integer/],
] as const) {
  test(`an older server reports that a newer declaration ${what}, and changes nothing`, async (context) => {
    const first = await trialFor(context, older)
    await start(first, declaration)
    const second = await trialFor(context, declaration, { database: first.database })
    const before = await stateOf(second)
    const refused = await start(first, older).catch((error: unknown) => error)
    assert.ok(refused instanceof MigrationRefused)
    assert.match(refused.message, /^A newer declaration has changed the database since/)
    assert.match(refused.message, lacks)
    assert.match(refused.message, /resourced migrate$/)
    assert.deepEqual(await stateOf(second), before)
  })
}

test('an older declaration with later corrections is an older one too', async (context) => {
  const first = await trialFor(context, older)
  await start(first, renamed)
  await assert.rejects(start(first, mended), /A newer declaration has changed the database since/)
})

test('the command can go back to the older declaration, and the newer one is then the older', async (context) => {
  const first = await trialFor(context, older)
  const { database } = first
  await start(first, newer)
  const catalog = completeVersions(older).stored
  const { migrate } = await administer({ database: database.address })
  const shown = await migrate(catalog, 'never')
  assert.equal(shown.applied, false)
  assert.ok(shown.steps.some(({ sentence }) => sentence === 'drop the column books.rank'))
  assert.equal((await migrate(catalog, 'all')).applied, true)
  await first.make('books', { title: 'Ulysses' })
  await start(first, older, 'never')
  await assert.rejects(start(first, newer), /A newer declaration has changed the database since/)
  assert.equal((await migrate(completeVersions(newer).stored, 'all')).applied, true)
  await start(first, newer, 'never')
  await start(first, older)
})

test('changes by a server whose declaration has no events are events (EVT-1)', async (context) => {
  const first = await trialFor(context, books({ title }))
  const newer: InterfaceDeclaration = { name: 'books', resources: { books: { fields: { title }, events: true } } }
  const second = await trialFor(context, newer, { database: first.database })
  const { id } = await first.make('books', { title: 'Ulysses' })
  const path = `/v1/books/${id}`
  await first.send({ method: 'PATCH', path, body: { title: 'Exiles' } })
  await first.send({ method: 'DELETE', path })
  const { json } = await second.send({ path: '/v1/events' })
  const shown = json.data.map(({ kind, data }: { kind: string; data: { title: string } | null }) => [kind, data?.title])
  assert.deepEqual(shown, [
    ['created', 'Ulysses'],
    ['updated', 'Exiles'],
    ['deleted', undefined],
  ])
})

test('functions of a new kind of event miss none that an older server examines (EVT-12)', async (context) => {
  const calls: string[] = []
  const running = (kinds: readonly EventKind[]): InterfaceDeclaration => {
    const note: EventFunction = ({ event }) => void calls.push(event.kind)
    const on = Object.fromEntries(kinds.map((kind) => [kind, note]))
    return { name: 'books', resources: { books: { fields: { title }, events: true, on } } }
  }
  const first = await trialFor(context, running(['created']))
  const { id } = await first.make('books', { title: 'Ulysses' })
  const path = `/v1/books/${id}`
  await first.app.deliveries?.settle()
  // Before the newer server starts, nobody asks for this event.
  await first.send({ method: 'PATCH', path, body: { title: 'Dubliners' } })
  const newer = running(['created', 'updated'])
  const second = await trial(newer, { database: first.database })
  await second.app.deliveries?.settle()
  await second.close()
  assert.deepEqual(calls, ['created'])
  await first.send({ method: 'PATCH', path, body: { title: 'Exiles' } })
  await first.make('books', { title: 'Chamber Music' })
  // The older server makes both deliveries, and leaves one to the newer one.
  await first.app.deliveries?.settle()
  const third = await trialFor(context, newer, { database: first.database })
  for (let tries = 0; calls.length < 3 && tries < 200; tries++) {
    await sleep(20)
    await third.app.deliveries?.settle()
  }
  assert.deepEqual(calls, ['created', 'created', 'updated'])
  const { json } = await third.send({ path: '/v1/deliveries' })
  assert.deepEqual(
    json.data.map(({ kind, status, attempts }: Record<string, unknown>) => [kind, status, attempts]).sort(),
    [
      ['created', 'succeeded', 1],
      ['created', 'succeeded', 1],
      ['updated', 'succeeded', 1],
    ],
  )
})

test('a declaration that was never applied to the database is not an older one', async (context) => {
  const first = await trialFor(context, older)
  await start(first, newer)
  const third = await trialFor(context, mended, { database: first.database })
  assert.equal((await third.make('books', { title: 'Ulysses', note: 'x' })).note, 'x')
})
