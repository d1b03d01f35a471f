/**
 * CON-2: entity tags change with the fields that a migration removes from records, although the migration writes no
 * record.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { FieldDeclaration, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { type Received, type Trial, trialFor } from '../harness.ts'

type Changes = Pick<InterfaceDeclaration, 'versions' | 'changes'>

function books(fields: Readonly<Record<string, FieldDeclaration>>, changes: Changes = {}): InterfaceDeclaration {
  const declared = { title: { type: 'string' }, ...fields } as const
  return defineInterface({ name: 'books', resources: { books: { fields: declared } }, ...changes })
}

const rank = { type: 'integer', optional: true } as const
const ranked = books({ rank })
const plain = books({})

const tag = (answer: Received) => String(answer.headers['etag'])

/** Brings the database of a trial to another declaration, whatever that loses. */
async function apply({ database }: Trial, declaration: InterfaceDeclaration): Promise<void> {
  await (await database.open(completeVersions(declaration).stored, { migrate: 'all' })).close()
  // On SQLite whatever one turn reads is of one moment.
  await turn()
}

/**
 * The declaration is served before, and again after, a migration that dropped a field, and one that brought it back
 * empty.
 */
async function droppedAndBack(first: Trial): Promise<void> {
  await apply(first, plain)
  await apply(first, ranked)
}

test('CON-2: a field that is dropped and declared again changes the tag of each record, and of lists', async (context) => {
  const first = await trialFor(context, ranked)
  const path = `/v1/books/${(await first.make('books', { title: 'Ulysses', rank: 1 })).id}`
  const [one, list] = [await first.send({ path }), await first.send({ path: '/v1/books' })]
  await droppedAndBack(first)
  const { send } = await trialFor(context, ranked, { database: first.database })
  const now = await send({ path, headers: { 'if-none-match': tag(one) } })
  assert.deepEqual([now.status, now.json.rank], [200, null])
  assert.notEqual(tag(now), tag(one))
  assert.equal(now.json.updated_at, one.json.updated_at)
  assert.equal((await send({ path, headers: { 'if-none-match': tag(now) } })).status, 304)
  assert.equal((await send({ path: '/v1/books', headers: { 'if-none-match': tag(list) } })).status, 200)
  for (const method of ['PATCH', 'PUT', 'DELETE']) {
    const body = method === 'DELETE' ? undefined : { title: 'Dubliners' }
    assert.equal((await send({ method, path, body, headers: { 'if-match': tag(one) } })).status, 412, method)
  }
})

test('CON-3: tags of after a migration are conditions of changes, deletions and restorations, drop by drop', async (context) => {
  const first = await trialFor(context, ranked)
  const path = `/v1/books/${(await first.make('books', { title: 'Ulysses', rank: 1 })).id}`
  const seen = new Set([tag(await first.send({ path }))])
  for (let time = 2; time < 5; time++) {
    await droppedAndBack(first)
    const { send } = await trialFor(context, ranked, { database: first.database })
    const back = await send({ path })
    const changed = await send({ method: 'PATCH', path, body: { rank: time }, headers: { 'if-match': tag(back) } })
    assert.deepEqual([changed.status, changed.json.rank], [200, time])
    const read = await send({ path })
    assert.equal(tag(read), tag(changed))
    const gone = await send({ method: 'DELETE', path, headers: { 'if-match': tag(read) } })
    assert.equal(gone.status, 204)
    const restored = await send({ method: 'POST', path: `${path}/restore` })
    assert.equal(tag(restored), tag(await send({ path })))
    for (const each of [back, changed, restored]) {
      assert.ok(!seen.has(tag(each)), `${tag(each)} again`)
      seen.add(tag(each))
    }
  }
})

test('CON-2: a field without a value in any record is dropped without a change of tags', async (context) => {
  const first = await trialFor(context, ranked)
  const path = `/v1/books/${(await first.make('books', { title: 'Ulysses' })).id}`
  const before = tag(await first.send({ path }))
  await droppedAndBack(first)
  const { send } = await trialFor(context, ranked, { database: first.database })
  assert.equal((await send({ path, headers: { 'if-none-match': before } })).status, 304)
})

/** Version 2 without the field, where version 1 reads a constant. */
function without(value: number): InterfaceDeclaration {
  const changes = [{ version: 'v2', resource: 'books', remove: { rank: { schema: rank, value } } }] as const
  return books({}, { versions: { v1: {}, v2: {} }, changes })
}

test('VER-2: values that an older version reads in place of a removed field are part of its tags', async (context) => {
  const first = await trialFor(context, ranked)
  const path = `/v1/books/${(await first.make('books', { title: 'Ulysses', rank: 1 })).id}`
  let known = [await first.send({ path }), await first.send({ path: '/v1/books' })]
  for (const value of [7, 8]) {
    await apply(first, without(value))
    const { send } = await trialFor(context, without(value), { database: first.database })
    const [one, list] = known.map(tag) as [string, string]
    const now = await send({ path, headers: { 'if-none-match': one } })
    assert.deepEqual([now.status, now.json.rank], [200, value])
    const page = await send({ path: '/v1/books', headers: { 'if-none-match': list } })
    assert.deepEqual([page.status, page.json.data[0].rank], [200, value])
    known = [now, page]
    assert.equal((await send({ path, headers: { 'if-none-match': tag(now) } })).status, 304)
  }
})
