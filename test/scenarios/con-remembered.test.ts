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

const member = { some: 'members', where: { user: { caller: 'id' }, left: false } } as const
const soft = { ...everyone, readDeleted: 'role:admin' } as const
const press = defineInterface({
  name: 'press',
  resources: {
    members: {
      fields: { user: Type.String(), left: Type.Boolean({ default: false }) },
      access: { ...soft, read: 'nobody' },
    },
    authors: {
      fields: {
        name: Type.String({ sort: true }),
        hidden: Type.Boolean({ default: false }),
        note: Type.Optional(Type.String()),
      },
      access: { ...soft, read: [{ where: { hidden: false } }, 'role:admin'], fields: { note: { read: member } } },
    },
    books: {
      fields: { title: Type.String({ sort: true }), author_id: reference('authors', { onDelete: 'cascade' }) },
      within: 'author_id',
      access: { ...soft, read: 'anyone' },
    },
    chapters: {
      fields: { text: Type.String({ filter: true }), book_id: reference('books', { onDelete: 'cascade' }) },
      within: 'book_id',
      access: { ...soft, read: [member, 'role:admin'] },
    },
  },
})

it('REL-6, CON-4: a response with related records changes with each record and right that it depends on', async (context) => {
  const { send, make } = await trialFor(context, press)
  const author = await make('authors', { name: 'Ann' })
  const [book] = [
    await make('books', { title: 'b', author_id: author.id }),
    await make('books', { title: 'a', author_id: author.id }),
  ]
  const chapter = await make('chapters', { text: 'one', book_id: book.id })
  const { id } = await make('members', { user: 'ann' })
  const include = { include: ['author', 'chapters'] }
  const ofAuthors = {
    include: ['books', 'books.chapters'],
    'include[books][limit]': 1,
    'include[books][sort]': 'title',
  }
  // Each address, with a body of QUERY that finds the same: no server remembers what it answers to QUERY.
  const asked: [path: string, body: Record<string, unknown>][] = [
    ['/v1/authors', ofAuthors],
    ['/v1/books', { ...include, sort: 'title' }],
    [`/v1/authors/${author.id}/books`, include],
    [`/v1/books/${book.id}`, include],
    ['/v1/chapters', { include: 'book.author', 'fields[book.author]': ['name', 'note'] }],
    ['/v1/books', { include: 'chapters', 'include[chapters][where]': '{"text":"one"}' }],
  ]
  const tags = new Map<string, readonly [tag: string, text: string]>()
  const check = async (as: string, path: string, body: Record<string, unknown>) => {
    const query = Object.entries(body)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join('&')
    const isSingle = path.endsWith(book.id)
    const anew = isSingle
      ? await send({ method: 'QUERY', path: '/v1/books', body: { ...body, id: book.id }, as })
      : await send({ method: 'QUERY', path, body, as })
    const place = `${as} ${path}?${query}`
    for (let time = 0; time < 3; time++) {
      const answer = await send({ path: `${path}?${query}`, as })
      if (answer.status !== 200) {
        assert.ok(isSingle ? anew.json.data.length === 0 : anew.status === answer.status, place)
        continue
      }
      const { data, included, related } = answer.json
      assert.deepEqual(
        [isSingle ? [data] : data, included, related],
        [anew.json.data, anew.json.included, anew.json.related],
        place,
      )
      const before = tags.get(place)
      const tag = String(answer.headers.etag)
      assert.ok(before === undefined || (before[0] === tag) === (before[1] === answer.text), place)
      tags.set(place, [tag, answer.text])
      const again = await send({ path: `${path}?${query}`, as, headers: { 'if-none-match': tag } })
      assert.equal(again.status, 304, place)
    }
  }
  const patch = (path: string, body: object) => ({ method: 'PATCH', path: `/v1/${path}`, body })
  const restore = (path: string) => ({ method: 'POST', path: `/v1/${path}/restore` })
  for (const change of [
    patch(`authors/${author.id}`, { name: 'Bea' }),
    patch(`authors/${author.id}`, { note: 'secret' }),
    patch(`authors/${author.id}`, { hidden: true }),
    patch(`members/${id}`, { left: true }),
    patch(`authors/${author.id}`, { hidden: false }),
    patch(`members/${id}`, { left: false, user: 'eve' }),
    patch(`books/${book.id}`, { title: 'c' }),
    patch(`chapters/${chapter.id}`, { text: 'two' }),
    { path: '/v1/chapters', body: { text: 'one', book_id: book.id } },
    { method: 'DELETE', path: `/v1/chapters/${chapter.id}` },
    restore(`chapters/${chapter.id}`),
    { method: 'DELETE', path: `/v1/authors/${author.id}` },
    restore(`authors/${author.id}`),
    { method: 'DELETE', path: `/v1/members/${id}` },
    restore(`members/${id}`),
  ]) {
    const { status, text } = await send({ ...change, as: 'root' })
    assert.ok(status < 300, `${JSON.stringify(change)} ${text}`)
    for (const as of ['root', 'ann', 'eve']) for (const [path, body] of asked) await check(as, path, body)
  }
})

for (const [carrier, beginnings] of [
  ['path', ['/v1/shelves?', '/v2/shelves?']],
  ['query', ['/shelves?version=v1&', '/shelves?version=v2&', '/shelves?']],
] as const) {
  it(`REL-3, VER-2: what is remembered leads on in the version that is asked for by ${carrier}`, async (context) => {
    const { send, make } = await trialFor(context, {
      ...library,
      versions: { v1: {}, v2: {} },
      versionCarriers: [carrier],
      changes: [{ version: 'v2', resource: 'notes', was: 'papers' }],
      resources: { ...library.resources, notes: { fields: { text: Type.String() }, access: everyone } },
    })
    const shelf = await make('shelves', { name: 'Novels', open: true })
    for (const title of ['Emma', 'Persuasion']) await make('books', { title, shelf_id: shelf.id })
    for (const beginning of [...beginnings, ...beginnings, ...beginnings]) {
      const { json, text } = await send({ path: `${beginning}include=books&include[books][limit]=1` })
      const { next } = json.related?.books[shelf.id] ?? assert.fail(text)
      assert.ok(next.startsWith(beginning.replace('?', `/${shelf.id}/books?`)), `${beginning} ${next}`)
      assert.equal((await send({ path: next })).json.data[0].title, 'Persuasion')
    }
  })
}
