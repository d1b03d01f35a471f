/** Creations share connections; none of them waits for another one's lock, and each fails alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { defineInterface, reference } from '../../src/index.ts'
import { completeCatalog } from '../../src/model/catalog.ts'
import { assemble } from '../../src/server/app.ts'
import { openPostgres } from '../../src/storage/postgres/storage.ts'
import { databaseFor, whyNoDatabase } from './database.ts'
import { query } from './query.ts'

const skip = whyNoDatabase ?? false
const access = { read: 'anyone', create: 'anyone' } as const

const library = completeCatalog(
  defineInterface({
    name: 'library',
    resources: {
      shelves: { fields: { name: { type: 'string', unique: true } }, access },
      books: { fields: { title: { type: 'string' }, shelf_id: reference('shelves') }, access },
    },
  }),
)

async function serve(context: Parameters<typeof databaseFor>[0]) {
  const url = await databaseFor(context)
  const storage = await openPostgres(library, { url, unsafe: true, poolSize: 2 })
  const app = assemble(library, storage, { observe: () => {}, rateLimit: 'off' })
  context.after(() => app.close())
  const caller = { id: 'reader', roles: [], claims: {}, credential: 'own', expiresAt: Number.POSITIVE_INFINITY }
  const post = async (collection: string, values: Readonly<Record<string, unknown>>) => {
    const bytes = new TextEncoder().encode(JSON.stringify(values))
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
    const target = `/v1/${collection}`
    const sent = { method: 'POST', target, headers, secure: true, address: '127.0.0.1', readBody: async () => bytes }
    const { status, body } = await app.respond(sent, caller)
    return { status, json: JSON.parse(String(body)) }
  }
  return { url, post }
}

test('creations are served while another one waits for a record that is locked', { skip }, async (context) => {
  const { url, post } = await serve(context)
  const [held, free] = [
    (await post('shelves', { name: 'held' })).json.id,
    (await post('shelves', { name: 'b' })).json.id,
  ]
  const blocker = new pg.Client({ connectionString: url })
  blocker.on('error', () => {})
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query('select 1 from shelves where id = $1 for update', [held])
  let ended = false
  const waiting = post('books', { title: 'late', shelf_id: held }).then((answer) => {
    ended = true
    return answer
  })
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => post('books', { title: `${n}`, shelf_id: free })),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  }
  assert.equal(ended, false)
  await blocker.end()
  assert.equal((await waiting).status, 201)
  assert.equal((await query(url, 'select 1 from books')).length, 61)
})

test('creations that are refused or fail do not affect those beside them', { skip }, async (context) => {
  const { url, post } = await serve(context)
  const { json } = await post('shelves', { name: 'first' })
  const missing = '0190c0c0-0000-7000-8000-000000000000'
  const asked = Array.from({ length: 60 }, (_, n) => {
    if (n % 3 === 0) return post('shelves', { name: `same ${n % 2}` })
    return post('books', { title: `${n}`, shelf_id: n % 3 === 1 ? json.id : missing })
  })
  const found: Record<string, number> = {}
  for (const [n, { status }] of (await Promise.all(asked)).entries()) {
    const key = `${['shelf', 'book', 'lost book'][n % 3]} ${status}`
    found[key] = (found[key] ?? 0) + 1
  }
  assert.deepEqual(found, { 'shelf 201': 2, 'shelf 409': 18, 'book 201': 20, 'lost book 400': 20 })
  const [counts] = await query(
    url,
    "select (select count(*)::int from books) as books, (select sum(live)::int from resourced_clocks where collection = 'books') as live",
  )
  assert.deepEqual(counts, { books: 20, live: 20 })
})
