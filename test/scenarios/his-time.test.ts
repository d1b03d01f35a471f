/** HIS-3: a record at a time (RFC 7089), and its time map. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { type Trial, trial } from '../harness.ts'

const all = 'anyone' as const
const access = {
  ...{ read: all, create: all, update: all, delete: all, restore: all, readDeleted: all, readHistory: all },
} as const

const library = defineInterface({
  name: 'library',
  resources: {
    authors: { fields: { name: { type: 'string' } }, access },
    books: {
      fields: {
        title: { type: 'string' },
        author_id: { reference: 'authors', onDelete: 'restrict', optional: true },
        pin: { type: 'string', writeOnly: true, optional: true },
      },
      access,
      history: true,
    },
  },
})

/** A record whose states are ten seconds apart. */
async function changed({ make, send, clock }: Trial) {
  const made = await make('books', { title: 'A', pin: 'secret' })
  const path = `/v1/books/${made.id}`
  const start = Date.parse(made.created_at)
  const after = (seconds: number) => ({ 'accept-datetime': new Date(start + seconds * 1_000).toUTCString() })
  clock.ahead = 10_000
  const b = await send({ method: 'PATCH', path, body: { title: 'B' } })
  clock.ahead = 20_000
  await send({ method: 'DELETE', path })
  clock.ahead = 30_000
  const back = await send({ method: 'POST', path: `${path}/restore` })
  clock.ahead = 40_000
  const c = await send({ method: 'PATCH', path, body: { title: 'C' } })
  return { made, path, after, b, back, c }
}

describe('HIS-3: Accept-Datetime', () => {
  test('HIS-3: each time has its state, with its own tag; deleted then and before the first is 404', async () => {
    const books = await trial(library)
    const { send } = books
    const { made, path, after, b, back, c } = await changed(books)
    const at = (seconds: number) => send({ path, headers: after(seconds) })
    assert.equal((await at(-5)).status, 404)
    const first = await at(0)
    assert.deepEqual([first.status, first.json], [200, made])
    assert.deepEqual((await at(5)).json, made)
    assert.deepEqual((await at(15)).json, b.json)
    assert.equal((await at(15)).headers['etag'], b.headers['etag'])
    assert.equal((await at(25)).status, 404)
    assert.deepEqual((await at(35)).json, back.json)
    for (const seconds of [45, 4_000_000]) assert.deepEqual((await at(seconds)).json, c.json)
    for (const { headers } of [first, await send({ path })]) assert.match(String(headers['vary']), /Accept-Datetime/)
    // A date that was received gives the same state.
    const again = { 'accept-datetime': String(first.headers['memento-datetime']) }
    assert.deepEqual((await send({ path, headers: again })).json, made)
    await books.close()
  })

  test('HIS-3: a state has links, is selected by fields, and answers conditions and HEAD', async () => {
    const books = await trial(library)
    const { send } = books
    const { made, path, after } = await changed(books)
    const headers = after(5)
    const state = await send({ path, headers })
    const { json } = await send({ path: `${path}/revisions` })
    const dateOf = (time: string) => new Date(Math.floor(Date.parse(time) / 1_000) * 1_000).toUTCString()
    const [last, first] = [json.data[0], json.data[4]]
    assert.equal(state.headers['memento-datetime'], dateOf(made.created_at))
    assert.equal(
      state.headers['link'],
      [
        `<${path}>; rel="original timegate"`,
        `<${path}/revisions>; rel="timemap"; type="application/link-format"`,
        `</v1/revisions/${first.id}>; rel="first memento"; datetime="${dateOf(first.created_at)}"`,
        `</v1/revisions/${last.id}>; rel="last memento"; datetime="${dateOf(last.created_at)}"`,
      ].join(', '),
    )
    const memento = await send({ path: `/v1/revisions/${first.id}` })
    assert.equal(memento.headers['memento-datetime'], dateOf(first.created_at))
    assert.match(String(memento.headers['link']), new RegExp(`<${path}>; rel="original timegate"`))
    const tagged = { ...headers, 'if-none-match': String(state.headers['etag']) }
    assert.equal((await send({ path, headers: tagged })).status, 304)
    const known = { 'if-none-match': String(memento.headers['etag']) }
    assert.equal((await send({ path: `/v1/revisions/${first.id}`, headers: known })).status, 304)
    const few = await send({ path: `${path}?fields=title`, headers })
    assert.deepEqual(few.json, { id: made.id, title: 'A' })
    const head = await send({ method: 'HEAD', path, headers })
    assert.deepEqual([head.status, head.headers['etag']], [200, state.headers['etag']])
    await books.close()
  })

  test('HIS-3: the list of states is a time map where Accept asks for it', async () => {
    const books = await trial(library)
    const { send } = books
    const { path } = await changed(books)
    const { json } = await send({ path: `${path}/revisions` })
    const map = await send({ path: `${path}/revisions`, headers: { accept: 'application/link-format' } })
    assert.deepEqual([map.status, map.headers['content-type']], [200, 'application/link-format'])
    const lines = map.text.trim().split(',\n')
    assert.equal(lines[0], `<${path}>; rel="original timegate"`)
    assert.equal(lines[1], `<${path}/revisions>; rel="self"; type="application/link-format"`)
    const states = json.data.filter(({ kind }: { kind: string }) => kind !== 'deleted')
    const mementos = lines.filter((line) => line.includes('rel="memento"'))
    assert.deepEqual(
      mementos.map((line) => line.slice(1, line.indexOf('>'))),
      states.map(({ id }: { id: string }) => `/v1/revisions/${id}`),
    )
    assert.match(mementos[0] ?? '', / GMT"$/)
    const part = await send({ path: `${path}/revisions?limit=2`, headers: { accept: 'application/link-format' } })
    assert.match(part.text, /<[^>]*cursor=[^>]*>; rel="next timemap"/)
    await books.close()
  })

  test('HIS-3, HED-3: parts of a state, of a revision and of a time map fit the document', async () => {
    const books = await trial(library)
    const { send } = books
    const { path, after } = await changed(books)
    const [{ id }] = (await send({ path: `${path}/revisions` })).json.data
    for (const [whole, headers] of [
      [path, after(5)],
      [`/v1/revisions/${id}`, {}],
      [`${path}/revisions`, { accept: 'application/link-format' }],
    ] as const) {
      const { text } = await send({ path: whole, headers })
      const part = await send({ path: whole, headers: { ...headers, range: 'bytes=1-9' } })
      assert.deepEqual([part.status, part.text], [206, text.slice(1, 10)])
    }
    await books.close()
  })

  test('HIS-3: malformed times, lists and related records are refused', async () => {
    const books = await trial(library)
    const { send } = books
    const { id } = await books.make('books', { title: 'A' })
    const path = `/v1/books/${id}`
    const now = { 'accept-datetime': new Date().toUTCString() }
    const malformed = await send({ path, headers: { 'accept-datetime': 'yesterday' } })
    assert.deepEqual([malformed.status, malformed.json.code], [400, 'MALFORMED_CONDITION'])
    const list = await send({ path: '/v1/books', headers: now })
    assert.deepEqual([list.status, list.json.code], [400, 'MALFORMED_CONDITION'])
    assert.equal((await send({ path: '/v1/books/summary', headers: now })).status, 400)
    assert.equal((await send({ path: `${path}?include=author`, headers: now })).status, 400)
    assert.equal((await send({ path: `${path}?include_deleted=true` })).status, 400)
    assert.equal((await send({ path: '/v1/authors', headers: now })).status, 200)
    // A deleted record has its states for those who ask for deleted ones.
    assert.equal((await send({ method: 'DELETE', path })).status, 204)
    assert.equal((await send({ path, headers: now })).status, 404)
    await books.close()
  })
})
