/** LIM-3: text that is too long for an index is refused, alike on every engine. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { places, type Received, type Trial, trialFor } from '../harness.ts'

const shelves = defineInterface({
  name: 'shelves',
  resources: {
    shelves: { fields: { name: { type: 'string' } }, access: { read: 'anyone' } },
    books: {
      fields: {
        title: { type: 'string', filter: true, sort: true, search: true },
        isbn: { type: 'string', optional: true, unique: true },
        row: { type: 'string', optional: true },
        place: { type: 'string', optional: true },
        notes: { type: 'string', optional: true },
        shelf_id: { reference: 'shelves', optional: true },
      },
      within: 'shelf_id',
      unique: [['row', 'place']],
    },
  },
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'books', rename: { line: 'row' } }],
})

/** Text of so many bytes that no engine makes shorter. */
function noise(bytes: number): string {
  return randomBytes(bytes).toString('base64url').slice(0, bytes)
}

function expectTooLong(answer: Received, ...pointers: string[]): void {
  assert.equal(answer.status, 400, answer.text)
  assert.deepEqual(
    places(answer),
    pointers.map((pointer) => `TOO_LONG ${pointer}`),
  )
}

const patch = 'application/json-patch+json'

async function shelf(trial: Trial): Promise<{ readonly id: string; readonly nested: string; readonly path: string }> {
  const { id } = await trial.make('shelves', { name: 'One' })
  const book = await trial.make('books', { title: 'Ulysses', isbn: '1', row: 'a', place: '1' })
  return { id, nested: `/v2/shelves/${id}/books`, path: `/v2/books/${book.id}` }
}

it('LIM-3: text that is too long for an index is refused by POST, PUT, PATCH, JSON Patch and import, with its place', async (context) => {
  const trial = await trialFor(context, shelves)
  const { send, app } = trial
  const { nested, path } = await shelf(trial)
  for (const bytes of [2_501, 2_700, 9_000, 300_000]) {
    const title = noise(bytes)
    expectTooLong(await send({ path: '/v2/books', body: { title } }), '/title')
    expectTooLong(await send({ path: nested, body: { title } }), '/title')
    expectTooLong(await send({ method: 'PATCH', path, body: { title, isbn: noise(bytes) } }), '/title', '/isbn')
    expectTooLong(await send({ method: 'PUT', path, body: { title } }), '/title')
    const body = JSON.stringify([{ op: 'replace', path: '/title', value: title }])
    expectTooLong(await send({ method: 'PATCH', path, body, headers: { 'content-type': patch } }), '/title')
    expectTooLong(await send({ path: '/v2/books', body: { title: 'x', row: title } }), '/row')
    expectTooLong(await send({ path: '/v1/books', body: { title: 'x', line: title } }), '/line')
  }
  const resource = app.catalog.resources.get('books')!
  const plan = {
    ...({
      kind: 'create',
      resource,
      id: '019aa7b4-0000-7000-8000-000000000001',
      permitted: { kind: 'always' },
    } as const),
    ...{ body: { title: noise(5_000) }, parent: undefined, caller: { id: 'root', roles: [] }, mayAssignOwner: true },
    ...{ now: Date.now() },
  }
  const [outcome] = await app.storage.load([plan as never], 'skip')
  assert.equal(outcome?.kind, 'invalid')
  assert.equal((await send({ path: '/v2/books' })).json.pagination.total_count, 1)
})

it('LIM-3: fields of one unique constraint have equal shares, and are named as in the version of the request', async (context) => {
  const trial = await trialFor(context, shelves)
  const { send } = trial
  const { path } = await shelf(trial)
  const [row, place] = [noise(1_000), noise(1_251)]
  const refused = await send({ path: '/v1/books', body: { title: 'x', line: row, place } })
  expectTooLong(refused, '/place')
  assert.match(
    refused.json.errors[0].message,
    /^place is too long .* together with line: 1251 bytes .* at most 1250\.$/,
  )
  expectTooLong(await send({ method: 'PATCH', path, body: { row: place, place: row } }), '/row')
  const fitting = { title: 'x', row, place: place.slice(1) }
  assert.equal((await send({ path: '/v2/books', body: fitting })).status, 201)
  expectTooLong(
    await send({ method: 'PATCH', path, body: { row: noise(2_500), place: noise(2_500) } }),
    '/row',
    '/place',
  )
})

/** Callers with the role `clerk` may write the place, and may not read the row. */
const guarded = structuredClone(shelves) as typeof shelves & { resources: { books: { access: object } } }
guarded.resources.books.access = {
  ...{ read: 'anyone', create: 'anyone', update: 'anyone' },
  fields: { row: { read: 'role:admin' } },
}

it('AUT-9: whether a text is too long beside another one does not depend on a value that the caller may not read', async (context) => {
  const { send, make } = await trialFor(context, guarded)
  const told = new Set<string>()
  for (const length of [0, 1, 700, 1_249, 1_250]) {
    const { id } = await make('books', { title: 'x', row: noise(length), place: 'a' })
    for (const size of [1_250, 1_251, 2_500]) {
      const body = { place: noise(size) }
      const { status, json } = await send({ method: 'PATCH', path: `/v2/books/${id}`, body, as: 'bob' })
      assert.equal(status, size === 1_250 ? 200 : 400)
      if (status === 400) told.add(json.errors[0].message)
    }
  }
  assert.equal(told.size, 2, 'one message for each length that was sent')
})

it('AUT-9: beside a text that was stored before fields had shares, the other one may not grow', async (context) => {
  const apart = structuredClone(guarded) as { resources: { books: { unique?: unknown } } }
  delete apart.resources.books.unique
  const before = await trialFor(context, apart as never)
  const { id } = await before.make('books', { title: 'x', row: noise(1_300), place: noise(20) })
  const { send } = await trialFor(context, guarded, { database: before.database })
  const path = `/v2/books/${id}`
  for (const size of [21, 1_000, 1_200]) {
    const answer = await send({ method: 'PATCH', path, body: { place: noise(size) } })
    expectTooLong(answer, '/place')
    assert.equal(
      answer.json.errors[0].message,
      'place cannot have more bytes beside row, which is longer than its share.',
    )
  }
  assert.equal((await send({ method: 'PATCH', path, body: { place: noise(20) } })).status, 200)
  assert.equal((await send({ method: 'PATCH', path, body: { row: noise(1_250), place: noise(1_250) } })).status, 200)
})

it('LIM-3: text of the longest size is stored, found and sorted; text without an index may be longer', async (context) => {
  const { send, make } = await trialFor(context, shelves)
  const [title, notes] = [noise(2_500), noise(500_000)]
  const made = await make('books', { title, isbn: noise(2_500), row: noise(1_250), place: noise(1_250), notes })
  assert.equal(made.title, title)
  const found = await send({ path: `/v2/books?title=${title}&sort=title&fields=id` })
  assert.deepEqual(found.json.data, [{ id: made.id }])
  // Three bytes each, of which none is half.
  await make('books', { title: '語'.repeat(833) })
  expectTooLong(await send({ path: '/v2/books', body: { title: '語'.repeat(834) } }), '/title')
})

it('QRY-1: a filter longer than any indexed text finds nothing', async (context) => {
  const { send, make } = await trialFor(context, shelves)
  await make('books', { title: 'Ulysses' })
  const text = noise(5_000)
  // A search has few words (LIM-5): this one is a single word.
  const filters = ['title', 'title[starts_with]', 'title[contains]', 'title[in]'].map(
    (filter) => [filter, text] as const,
  )
  for (const [filter, value] of [...filters, ['q', text.replaceAll(/[^A-Za-z0-9]/g, '')] as const]) {
    const answer = await send({ path: `/v2/books?${filter}=${value}` })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.pagination.total_count, 0, filter)
  }
  const body = { title: noise(100_000) }
  const answer = await send({ method: 'QUERY', path: '/v2/books', body })
  assert.deepEqual([answer.status, answer.json.data], [200, []], answer.text)
  assert.equal((await send({ path: `/v2/books?title[not]=${text}&title[gt]=A` })).json.pagination.total_count, 1)
})

it('MET-4: text that was too long before its field had an index stays while other fields change', async (context) => {
  // Engines that make it short enough have it in an index.
  const title = 'x'.repeat(50_000)
  const without = structuredClone(shelves) as { resources: { books: { fields: { title: object } } } }
  without.resources.books.fields.title = { type: 'string' }
  const before = await trialFor(context, without as never)
  const { id } = await before.make('books', { title, isbn: '1' })
  const { database } = before
  const { send } = await trialFor(context, shelves, { database })
  const path = `/v2/books/${id}`
  const patched = await send({ method: 'PATCH', path, body: { isbn: '2' } })
  assert.deepEqual([patched.status, patched.json.isbn, patched.json.title], [200, '2', title], patched.text)
  assert.equal((await send({ method: 'PUT', path, body: { title, isbn: '3' } })).status, 200)
  assert.equal((await send({ method: 'PATCH', path, body: { title } })).status, 200)
  const body = JSON.stringify([{ op: 'replace', path: '/isbn', value: '4' }])
  assert.equal((await send({ method: 'PATCH', path, body, headers: { 'content-type': patch } })).status, 200)
  expectTooLong(await send({ method: 'PATCH', path, body: { title: `${title}x` } }), '/title')
  assert.deepEqual((await send({ path: `/v2/books?isbn=4` })).status, 400)
  assert.equal((await send({ method: 'PATCH', path, body: { title: 'Short' } })).status, 200)
})

it('LIM-3: a deleted record with text that is too long for a later index is not restored, alone or with others', async (context) => {
  const without = structuredClone(shelves) as { resources: { books: Record<string, unknown> } }
  const { within: _, unique: __, ...books } = shelves.resources.books as Record<string, unknown>
  const fields = { title: {}, row: {}, place: {}, isbn: {}, notes: {} }
  const plain = Object.fromEntries(Object.keys(fields).map((name) => [name, { type: 'string', optional: true }]))
  without.resources.books = {
    ...books,
    fields: {
      ...plain,
      title: { type: 'string' },
      shelf_id: { reference: 'shelves', onDelete: 'cascade', optional: true },
    },
  }
  const now = structuredClone(shelves) as { resources: { books: { fields: { shelf_id: object } } } }
  now.resources.books.fields.shelf_id = { reference: 'shelves', onDelete: 'cascade', optional: true }
  const before = await trialFor(context, without as never)
  const { id: shelf } = await before.make('shelves', { name: 'One' })
  const long = noise(9_000)
  const alone = await before.make('books', { title: long, row: 'a' })
  const together = await before.make('books', { title: 'x', row: noise(1_500), place: noise(1_400) })
  // What an engine may make short enough is judged alike.
  const alike = await before.make('books', { title: 'x'.repeat(9_000) })
  const fits = await before.make('books', { title: noise(2_500), notes: long })
  const under = await before.make('books', { title: long, shelf_id: shelf })
  for (const { id } of [alone, together, alike, fits]) await before.send({ method: 'DELETE', path: `/v2/books/${id}` })
  await before.send({ method: 'DELETE', path: `/v2/shelves/${shelf}` })

  const { send } = await trialFor(context, now as never, { database: before.database })
  const restore = (path: string) => send({ method: 'POST', path: `${path}/restore` })
  const told = async (path: string) => {
    const answer = await restore(path)
    assert.deepEqual([answer.status, answer.json.code], [409, 'TEXT_TOO_LONG'], answer.text)
    assert.equal((await send({ path })).status, 404)
    return answer
  }
  const answer = await told(`/v2/books/${alone.id}`)
  assert.deepEqual(places(answer), ['TEXT_TOO_LONG /title'])
  assert.match(
    answer.json.detail,
    /^title is too long for a new index \(2500 bytes in UTF-8\); create a record with a shorter text\.$/,
  )
  assert.deepEqual(places(await told(`/v2/books/${alike.id}`)), ['TEXT_TOO_LONG /title'])
  const older = await told(`/v1/books/${together.id}`)
  assert.deepEqual(places(older), ['TEXT_TOO_LONG /line'])
  assert.match(older.json.detail, /^line is too long together with place /)
  assert.match((await told(`/v2/shelves/${shelf}`)).json.detail, new RegExp(`^books ${under.id}: title is too long`))
  assert.equal((await restore(`/v2/books/${fits.id}`)).status, 200)
  assert.equal((await send({ method: 'PATCH', path: `/v2/books/${fits.id}`, body: { isbn: '7' } })).status, 200)
})
