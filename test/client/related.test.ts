/** Related records, conditions and summaries by the client, against a server (REL, WHR, SUM). */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { etagOf } from '../../packages/client/src/index.ts'
import { defineInterface, reference, Type } from '../../packages/server/src/index.ts'
import { testApp } from '../../packages/server/src/testing/testing.ts'

const library = defineInterface({
  name: 'library',
  limits: { include: { records: 1000 } },
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'books', was: 'volumes', rename: { writer_id: 'author_id' } }],
  resources: {
    authors: {
      fields: {
        name: Type.String({ sort: true, filter: true }),
        born: Type.Integer({ filter: true }),
        hidden: Type.Boolean({ default: false }),
      },
      access: { read: ['role:admin', { where: { hidden: false } }], create: 'anyone', update: 'anyone' },
    },
    books: {
      fields: {
        title: Type.String({ sort: true, filter: true }),
        status: Type.Enum(['open', 'lent'], { default: 'open' }),
        price: Type.Decimal({ precision: 9, scale: 2, default: '1.00' }),
        author_id: reference('authors', { as: 'poet' }),
        reviewer: Type.Optional(reference('authors', { inverse: 'reviewed' })),
      },
      within: 'author_id',
      access: { read: 'anyone', create: 'anyone', update: 'anyone' },
    },
    'line-items': {
      fields: { text: { type: 'string', sort: true }, book_id: { reference: 'books' } },
      access: { read: 'anyone', create: 'anyone' },
    },
  },
})

async function filled(context: TestContext) {
  const app = await testApp(library)
  context.after(() => app.close())
  const client = app.as({ id: 'ann', roles: [] })
  const ada = await client.authors.create({ name: 'Ada', born: 1900 })
  const bea = await client.authors.create({ name: 'Bea', born: 1950, hidden: true })
  const titles = ['One', 'Two', 'Three', 'Four', 'Five']
  const books = []
  const admin = app.as({ id: 'root', roles: ['admin'] })
  for (const title of titles) books.push(await admin.books.create({ title, author_id: ada.id, reviewer: bea.id }))
  for (const text of ['x', 'y', 'z']) await client['line-items'].create({ text, book_id: books[0]!.id })
  return { app, client, admin, ada, bea, books }
}

it('REL-2, REL-4: joins what the caller may read, by declared names too', async (context) => {
  const { client, admin, ada, bea, books } = await filled(context)
  const { data } = await client.books.list({ include: ['poet', 'reviewer', 'line_items'], sort: 'title' })
  assert.deepEqual(data.map(({ poet, reviewer, line_items }) => [poet?.name, reviewer, line_items.total]), [
    ['Ada', null, 0],
    ['Ada', null, 0],
    ['Ada', null, 3],
    ['Ada', null, 0],
    ['Ada', null, 0],
  ]) // biome-ignore format: a table
  assert.deepEqual(data[0]?.poet, ada)
  const one = await admin.books.get(books[0]!.id, { include: ['reviewer.reviewed', 'line_items'] })
  assert.deepEqual([one.reviewer?.id, one.reviewer?.reviewed.total], [bea.id, 5])
  assert.deepEqual(one.line_items.map(({ text }) => text), ['x', 'y', 'z']) // biome-ignore format: a line
  // Without what was not asked for.
  const [part] = (await client.books.list({ include: 'poet', fields: ['title'], 'fields[poet]': 'name' })).data
  assert.deepEqual(part, { id: books[0]!.id, title: 'One', poet: { id: ada.id, name: 'Ada' } })
})

it('REL-3: reads on where a list was cut, by nested and by filtered collections', async (context) => {
  const { client, ada, books } = await filled(context)
  const author = await client.authors.get(ada.id, {
    ...{ include: ['books.line_items'], 'include[books][limit]': 2, 'include[books][sort]': '-title' },
    ...{ 'include[books.line_items][limit]': 1, 'fields[books]': ['title'] },
  })
  assert.deepEqual([author.books.length, author.books.total], [2, 5])
  const all = await Array.fromAsync(author.books.all())
  const titles = all.map(({ title }) => title)
  assert.deepEqual(titles, ['Two', 'Three', 'One', 'Four', 'Five'])
  const one = all.find(({ title }) => title === 'One')
  assert.deepEqual(Object.keys(one!), ['id', 'title', 'line_items'])
  const items = (await client.books.get(books[0]!.id, { include: 'line_items', 'include[line_items][limit]': 1 }))
    .line_items
  assert.deepEqual([items.length, items.total, items.next !== null], [1, 3, true])
  assert.deepEqual(
    (await Array.fromAsync(items.all())).map(({ text }) => text),
    ['x', 'y', 'z'],
  )
  for await (const each of client.books.all({ include: 'poet', limit: 2 })) assert.equal(each.poet?.name, 'Ada')
})

it('WHR-2, SUM-1: conditions, filters, orders and figures follow relations', async (context) => {
  const { admin, bea, books } = await filled(context)
  await admin.books.update(books[0]!.id, { status: 'lent', author_id: bea.id })
  const { data } = await admin.books.list({
    where: { or: [{ poet: { born: { gte: 1920 } } }, { title: 'Five' }] },
    ...{ sort: '-poet.name', include: 'poet' },
  })
  assert.deepEqual(data.map(({ title }) => title), ['One', 'Five']) // biome-ignore format: a line
  const authors = await admin.authors.list({ where: { books: { every: { status: 'open' } } } })
  assert.deepEqual(authors.data.map(({ name }) => name), ['Ada']) // biome-ignore format: a line
  const { data: rows } = await admin.books.summary({ group: 'status', sum: 'price', 'poet.born[lt]': 1920 })
  assert.deepEqual(rows, [{ group: { status: 'open' }, count: 4, sum: { price: '4.00' } }])
  const ada = await admin.authors.list({ include: 'books', 'include[books][where]': { title: 'Two' }, name: 'Ada' })
  assert.deepEqual(
    ada.data[0]?.books.map(({ title }) => title),
    ['Two'],
  )
})

it('REL-6: a record with its related records has its own tag', async (context) => {
  const { client, ada, books } = await filled(context)
  const book = await client.books.get(books[0]!.id, { include: 'poet' })
  assert.ok(etagOf(book))
  await client.authors.update(ada.id, { name: 'Ada L.' })
  // The author is another record: its change is no conflict.
  const changed = await client.books.update(book, { title: 'Eins' })
  assert.equal(changed.title, 'Eins')
  await assert.rejects(client.books.update(book, { title: 'Uno' }), { status: 412 })
  const [listed] = (await client.books.list({ include: 'poet' })).data
  assert.equal((await client.books.update(listed!, { title: 'Uno' })).title, 'Uno')
  await assert.rejects(client.books.update({ ...listed! }, { title: 'Un' }), { status: 412 })
})

it('REL-2: an older version has its own names', async (context) => {
  const { app, books, ada } = await filled(context)
  const origin = await app.listen()
  const { createClient } = await import('../../packages/client/src/index.ts')
  const old = createClient({ url: `${origin}/v1`, key: await app.key({ id: 'ann', roles: [] }) })
  const book = await old['volumes']!.get(books[0]!.id, { include: 'poet.volumes' })
  assert.deepEqual(
    [book['writer_id'], Object(book['poet']).id, Object(book['poet']).volumes.total],
    [ada.id, ada.id, 5],
  )
})
