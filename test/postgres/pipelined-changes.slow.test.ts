/** Changes share connections and commits; none of them waits for another one's lock, and each fails alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface, reference } from '../../packages/server/src/index.ts'
import { assemble } from '../../packages/server/src/server/app.ts'
import { openPostgres } from '../../packages/server/src/storage/postgres/storage.ts'
import { databaseFor, whyNoDatabase } from './database.ts'
import { query } from './query.ts'

const skip = whyNoDatabase ?? false
const access = { read: 'anyone', create: 'anyone', update: 'anyone' } as const

const library = completeCatalog(
  defineInterface({
    name: 'library',
    resources: {
      shelves: { fields: { name: { type: 'string', unique: true } }, access },
      books: { fields: { title: { type: 'string', maxLength: 200_000 }, shelf_id: reference('shelves') }, access },
    },
  }),
)

async function serve(context: Parameters<typeof databaseFor>[0]) {
  const url = await databaseFor(context)
  const storage = await openPostgres(library, { url, unsafe: true, poolSize: 2 })
  const app = assemble(library, storage, { observe: () => {}, rateLimit: 'off' })
  context.after(() => app.close())
  const caller = { id: 'reader', roles: [], claims: {}, credential: 'own', expiresAt: Number.POSITIVE_INFINITY }
  const send = async (method: 'POST' | 'PATCH', path: string, values: Readonly<Record<string, unknown>>) => {
    const bytes = new TextEncoder().encode(JSON.stringify(values))
    const type = method === 'POST' ? 'application/json' : 'application/merge-patch+json'
    const headers = { 'content-type': type, 'content-length': String(bytes.length) }
    const target = `/v1/${path}`
    const sent = { method, target, headers, secure: true, address: '127.0.0.1', readBody: async () => bytes }
    const { status, body } = await app.respond(sent, caller)
    return { status, json: JSON.parse(String(body)) }
  }
  const post = (collection: string, values: Readonly<Record<string, unknown>>) => send('POST', collection, values)
  const patch = (path: string, values: Readonly<Record<string, unknown>>) => send('PATCH', path, values)
  /** Creates books of these titles at the same time, on a shelf that is there. */
  const postBooks = async (titles: readonly string[]) => {
    const { json } = await post('shelves', { name: `for ${titles[0]?.slice(0, 9)}` })
    return Promise.all(titles.map((title) => post('books', { title, shelf_id: json.id })))
  }
  return { url, post, patch, postBooks }
}

/** Makes PostgreSQL do something before it writes a book with a certain title. */
async function onTitle(url: string, title: string, action: string): Promise<void> {
  const body = `begin if new.title = '${title}' then ${action}; end if; return new; end`
  await query(url, `create function react() returns trigger language plpgsql as $$ ${body} $$`)
  await query(url, 'create trigger react before insert or update on books for each row execute function react()')
}

/** Whether a problem says that the outcome is not known. */
function isUncertain({ detail }: { readonly detail?: string }): boolean {
  return /it was made, or it was not/.test(detail ?? '')
}

const inClocks = (collection: string) =>
  `(select sum(live)::int from resourced_clocks where collection = '${collection}')`

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

test('creations that arrive together share commits', { skip }, async (context) => {
  const { url, postBooks } = await serve(context)
  const answers = await postBooks(Array.from({ length: 64 }, (_, n) => `${n}`))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  const [row] = await query(url, 'select count(*)::int as books, count(distinct xmin::text)::int as commits from books')
  assert.equal(row?.['books'], 64)
  assert.ok(Number(row?.['commits']) <= 32, `${row?.['commits']} commits`)
})

test('large creations share no commit with others', { skip }, async (context) => {
  const { url, postBooks } = await serve(context)
  const large = 'x'.repeat(100_000)
  const answers = await postBooks(Array.from({ length: 20 }, (_, n) => `${n} ${large}`))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  const [row] = await query(url, 'select count(distinct xmin::text)::int as commits from books')
  assert.equal(row?.['commits'], 20)
})

test('a creation that PostgreSQL refuses affects none of those that it was sent with', { skip }, async (context) => {
  const { url, postBooks } = await serve(context)
  await onTitle(url, 'bad', "raise exception 'no' using errcode = '22023'")
  const titles = Array.from({ length: 40 }, (_, n) => (n % 10 === 5 ? 'bad' : `${n}`))
  const statuses = (await postBooks(titles)).map(({ status }) => status)
  assert.deepEqual(
    statuses,
    titles.map((title) => (title === 'bad' ? 502 : 201)),
  )
  const [row] = await query(url, `select count(*)::int as books, ${inClocks('books')} as live from books`)
  assert.deepEqual(row, { books: 36, live: 36 })
})

test('a connection that ends within a group makes no answer false, and none is missing', { skip }, async (context) => {
  const { url, postBooks } = await serve(context)
  await onTitle(url, 'end', 'perform pg_terminate_backend(pg_backend_pid())')
  const titles = Array.from({ length: 60 }, (_, n) => (n === 20 ? 'end' : `${n}`))
  const answers = await postBooks(titles)
  const stored = new Set((await query(url, 'select title from books')).map((row) => String(row['title'])))
  const acknowledged = titles.filter((_, n) => answers[n]?.status === 201)
  assert.deepEqual(
    acknowledged.filter((title) => !stored.has(title)),
    [],
  )
  const uncertain = answers.filter(({ json }) => isUncertain(json))
  assert.equal(acknowledged.length + uncertain.length, 60)
  assert.ok(uncertain.length >= 1 && uncertain.length <= 16, `${uncertain.length} uncertain`)
  assert.equal((await postBooks(['after']))[0]?.status, 201)
})

test('no outcome is uncertain where PostgreSQL has become read-only', { skip }, async (context) => {
  const { url, postBooks } = await serve(context)
  await onTitle(url, 'read-only', "perform set_config('transaction_read_only', 'on', false)")
  const answers = await postBooks(Array.from({ length: 60 }, (_, n) => (n % 20 === 3 ? 'read-only' : `${n}`)))
  const refused = answers.filter(({ status }) => status !== 201)
  assert.ok(refused.length > 0)
  assert.deepEqual(
    refused.filter(({ json }) => isUncertain(json)),
    [],
  )
  const [row] = await query(url, 'select count(*)::int as books from books')
  assert.equal(row?.['books'], 60 - refused.length)
})

test('updates of few records by many clients at once are all made, each once', { skip }, async (context) => {
  const { url, post, patch } = await serve(context)
  const shelves = await Promise.all(['a', 'b', 'c'].map(async (name) => (await post('shelves', { name })).json.id))
  const books = await Promise.all(
    shelves.map(async (id) => (await post('books', { title: 'new', shelf_id: id })).json.id),
  )
  const asked = Array.from({ length: 90 }, (_, n) => patch(`books/${books[n % 3]}`, { title: `${n}` }))
  // Deletions and updates of the records that they refer to lock rows in another order.
  const others = Array.from({ length: 30 }, (_, n) => patch(`shelves/${shelves[n % 3]}`, { name: `shelf ${n}` }))
  const statuses = (await Promise.all([...asked, ...others])).map(({ status }) => status)
  assert.deepEqual([...new Set(statuses)], [200])
  const revisions = await query(
    url,
    'select (_revision & 1048575)::int as revision from books union all select (_revision & 1048575)::int from shelves',
  )
  assert.deepEqual(revisions.map(({ revision }) => revision).sort(), [11, 11, 11, 31, 31, 31])
})
