/** HIS-2, HIS-3: the calls of the client that read former states. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { expectTypeOf } from 'expect-type'
import { defineInterface, Type } from '../../packages/server/src/index.ts'
import { testApp } from '../../packages/server/src/testing/testing.ts'

const library = defineInterface({
  name: 'library',
  resources: {
    books: {
      fields: { title: Type.String(), copies: Type.Integer({ default: 0 }) },
      history: true,
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', readDeleted: 'anyone' },
    },
  },
})

/** A book that was changed an hour after it was made, and deleted an hour later. */
async function book(context: TestContext) {
  const app = await testApp(library, { now: '2027-01-01T08:00:00Z' })
  context.after(() => app.close())
  const { books } = app.as({ id: 'ann', roles: ['admin'] })
  const made = await books.create({ title: 'Emma' })
  await app.clock.advance('PT1H')
  const changed = await books.update(made, { copies: 3 })
  await app.clock.advance('PT1H')
  return { app, books, made, changed }
}

it('HIS-2: revisions lists the states, newest first', async (context) => {
  const { books, made, changed } = await book(context)
  const { data, pagination } = await books.revisions(made)
  assert.deepEqual(
    data.map(({ kind, caller, record }) => [kind, caller, record?.copies]),
    [
      ['updated', 'ann', 3],
      ['created', 'ann', 0],
    ],
  )
  assert.equal(pagination.total_count, 2)
  const { data: newest, pagination: rest } = await books.revisions(made.id, { limit: 1 })
  assert.deepEqual(newest[0]?.record, changed)
  const { data: oldest } = await books.revisions(made.id, { limit: 1, cursor: rest.next_cursor ?? '' })
  assert.deepEqual(oldest[0]?.record, made)
  await books.delete(changed)
  await assert.rejects(books.revisions(made), { status: 404 })
  const { data: all } = await books.revisions(made, { include_deleted: true })
  assert.deepEqual([all[0]?.kind, all[0]?.record], ['deleted', null])
})

it('HIS-3: at reads the record as it was at a time, and never from the cache', async (context) => {
  const { books, made, changed } = await book(context)
  const { id } = made
  assert.deepEqual(await books.get(id), changed)
  assert.deepEqual(await books.at(id, '2027-01-01T08:30:00Z'), made)
  assert.deepEqual(await books.at(id, new Date('2027-01-01T09:00:00Z')), changed)
  assert.deepEqual(await books.get(id), changed)
  const part = await books.at(id, '2027-01-01T08:00:00Z', { fields: 'copies' })
  expectTypeOf(part).toEqualTypeOf<Pick<typeof made, 'id' | 'copies'>>()
  assert.deepEqual(part, { id, copies: 0 })
  await assert.rejects(books.at(id, '2027-01-01T07:59:59Z'), { status: 404 })
  await assert.rejects(books.at(id, 'yesterday'), { status: 400, code: 'MALFORMED_CONDITION' })
})

it('HIS-4: eraseHistory erases former states, if nobody has changed the record meanwhile', async (context) => {
  const { books, made, changed } = await book(context)
  await assert.rejects(books.eraseHistory(made), { status: 412 })
  await books.eraseHistory(changed)
  const { data } = await books.revisions(made)
  assert.deepEqual(
    data.map(({ kind, record }) => [kind, record]),
    [['updated', changed]],
  )
  // The entity tag is still that of the record.
  await books.delete(changed)
  await assert.rejects(books.eraseHistory(made.id), { status: 404 })
  await books.eraseHistory(made.id, { include_deleted: true })
  const { pagination } = await books.revisions(made, { include_deleted: true })
  assert.equal(pagination.total_count, 1)
})
