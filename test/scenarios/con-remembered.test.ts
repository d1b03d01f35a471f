/** CON-4, AUT-4: what a server remembers of its reads is never older than the last change. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from '../../packages/server/src/index.ts'
import { trialFor } from '../harness.ts'

const everyone = { create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const library = defineInterface({
  name: 'library',
  resources: {
    shelves: {
      fields: { name: Type.String(), open: Type.Boolean() },
      access: { ...everyone, read: ['role:admin', { where: { open: true } }], readDeleted: 'anyone' },
    },
    books: {
      fields: { title: Type.String({ sort: true }), shelf_id: reference('shelves', { onDelete: 'cascade' }) },
      within: 'shelf_id',
      access: { ...everyone, read: ['role:admin', { through: 'shelf_id', action: 'read' }] },
    },
  },
})

const clubs = defineInterface({
  name: 'clubs',
  resources: {
    clubs: { fields: { name: Type.String() }, access: { ...everyone, read: 'anyone' } },
    members: {
      fields: { club_id: reference('clubs'), user: Type.String(), left: Type.Boolean({ default: false }) },
      access: { ...everyone, read: 'nobody' },
    },
    meetings: {
      fields: { title: Type.String({ sort: true }), club_id: reference('clubs') },
      within: 'club_id',
      access: {
        ...everyone,
        read: { some: 'members', where: { club_id: { record: 'club_id' }, user: { caller: 'id' }, left: false } },
      },
    },
  },
})

it('AUT-5: an answer changes with the record that its permission depends on', async (context) => {
  const { send, make } = await trialFor(context, library)
  const shelf = await make('shelves', { name: 'Novels', open: true })
  const book = await make('books', { title: 'Emma', shelf_id: shelf.id })
  const open = (value: boolean) =>
    send({ method: 'PATCH', path: `/v1/shelves/${shelf.id}`, body: { open: value }, as: 'root' })
  const paths = [`/v1/books/${book.id}`, `/v1/shelves/${shelf.id}/books`]
  for (const value of [true, false, true]) {
    await open(value)
    for (let time = 0; time < 4; time++) {
      for (const path of paths) assert.equal((await send({ path, as: 'ann' })).status, value ? 200 : 403, path)
      const { json } = await send({ path: '/v1/books', as: 'ann' })
      assert.equal(json.pagination.total_count, value ? 1 : 0)
    }
  }
})

it('AUT-15: an answer changes with the records that a lookup finds, and a 304 does not outlive a right', async (context) => {
  const { send, make } = await trialFor(context, clubs)
  const club = await make('clubs', { name: 'Chess' })
  const meeting = await make('meetings', { title: 'May', club_id: club.id })
  const member = await make('members', { club_id: club.id, user: 'ann' })
  const paths = [
    `/v1/meetings/${meeting.id}`,
    '/v1/meetings',
    '/v1/meetings?sort=title',
    `/v1/clubs/${club.id}/meetings`,
  ]
  const shown = async (path: string, tag?: string) => {
    const answer = await send({ path, as: 'ann', headers: tag === undefined ? {} : { 'if-none-match': tag } })
    return { status: answer.status, tag: answer.headers.etag, isShown: answer.text.includes('May') }
  }
  const tags = new Map<string, string>()
  for (const path of paths) tags.set(path, String((await shown(path)).tag))
  const changes = [
    [{ user: 'bob' }, false],
    [{ user: 'ann' }, true],
    [{ left: true }, false],
    [{ left: false }, true],
  ] as const
  for (const [body, isMember] of changes) {
    await send({ method: 'PATCH', path: `/v1/members/${member.id}`, body, as: 'root' })
    for (let time = 0; time < 3; time++) {
      for (const path of paths) {
        assert.equal((await shown(path)).isShown, isMember, path)
        const again = await shown(path, tags.get(path))
        const isSingle = path === paths[0]
        assert.equal(again.status, isMember ? 304 : isSingle ? 403 : 200, path)
        assert.equal(again.isShown, false)
      }
    }
  }
})

it('RES-2: a nested list is gone with its parent, and back with it', async (context) => {
  const { send, make } = await trialFor(context, library)
  const shelf = await make('shelves', { name: 'Novels', open: true })
  const path = `/v1/shelves/${shelf.id}/books`
  const statuses = async () => {
    const all: number[] = []
    for (const as of ['root', 'ann', 'root', 'ann', 'root', 'ann']) all.push((await send({ path, as })).status)
    return [...new Set(all)]
  }
  assert.deepEqual(await statuses(), [200])
  await send({ method: 'DELETE', path: `/v1/shelves/${shelf.id}`, as: 'root' })
  assert.deepEqual(await statuses(), [404])
  await send({ method: 'POST', path: `/v1/shelves/${shelf.id}/restore`, as: 'root' })
  assert.deepEqual(await statuses(), [200])
})

it('DEL-7: a list with deleted records changes when their grace period ends, without a change', async (context) => {
  const { send, make, clock } = await trialFor(context, library)
  const { id } = await make('shelves', { name: 'Novels', open: true })
  await send({ method: 'DELETE', path: `/v1/shelves/${id}`, as: 'root' })
  const count = async () => {
    const { json } = await send({ path: '/v1/shelves?include_deleted=true', as: 'root' })
    return json.pagination.total_count
  }
  for (let time = 0; time < 4; time++) assert.equal(await count(), 1)
  clock.ahead = 31 * 86_400_000
  assert.equal(await count(), 0)
})

it('CON-4: a list that was answered with 304 is sent whole after a change, to every caller', async (context) => {
  const { send, make } = await trialFor(context, library)
  const shelf = await make('shelves', { name: 'Novels', open: true })
  const book = await make('books', { title: 'Emma', shelf_id: shelf.id })
  const path = '/v1/books?sort=title'
  for (const title of ['Emma', 'Persuasion', 'Lady Susan']) {
    await send({ method: 'PATCH', path: `/v1/books/${book.id}`, body: { title } })
    for (let time = 0; time < 4; time++) {
      for (const as of ['root', 'ann']) {
        const { json, headers } = await send({ path, as })
        assert.equal(json.data[0].title, title)
        const again = await send({ path, as, headers: { 'if-none-match': String(headers.etag) } })
        assert.equal(again.status, 304)
        assert.equal((await send({ path, as, headers: { 'if-none-match': '"other"' } })).status, 200)
      }
    }
  }
})
