/** REL-4: related records obey their own rules. What a caller may not read shows nowhere in a response or its tag. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { press } from '../declarations-press.ts'
import { places, type Received, type Trial, trialFor } from '../harness.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of every collection
type Json = any

/** Authors, one of them hidden, with books of every reference, notes of two owners and a salary. */
async function fill({ make, send }: Trial) {
  const [open, hidden, gone] = [
    await make('authors', { name: 'Open' }),
    await make('authors', { name: 'Hidden', hidden: true }),
    await make('authors', { name: 'Gone' }),
  ]
  const rated = await send({ method: 'PATCH', path: `/v2/authors/${open.id}`, body: { rating: 5 }, as: 'eve' })
  assert.equal(rated.status, 200)
  const [one, two, three] = [
    await make('books', { title: 'One', author_id: open.id, source_id: open.id, editor_id: hidden.id }),
    await make('books', { title: 'Two', author_id: hidden.id, kind: 'poetry' }),
    await make('books', { title: 'Three', author_id: gone.id }),
  ]
  for (const as of ['ann', 'bob', 'ann']) await make('notes', { text: `of ${as}`, book_id: one.id }, as)
  return { open, hidden, gone, one, two, three }
}

const get = async ({ send }: Trial, path: string, as: string): Promise<Received> => {
  const answer = await send({ path, as })
  assert.equal(answer.status, 200, answer.text)
  return answer
}

/** The items of a list, all pages of it. */
async function walk(current: Trial, path: string, as: string): Promise<Json[]> {
  const found: Json[] = []
  for (let address: string | undefined = path; address !== undefined; ) {
    const { json, headers } = await get(current, address, as)
    found.push(...json.data)
    address = /<([^>]*)>; rel="next"/.exec(headers['link'] ?? '')?.[1]
  }
  return found
}

describe('permissions of related records', () => {
  it('REL-4: a hidden record is as absent as a deleted one, and the reference stays its id', async (context) => {
    const current = await trialFor(context, press)
    const { open, hidden, gone, one, two, three } = await fill(current)
    const deletion = {
      method: 'DELETE',
      path: `/v2/salaries/${(await current.make('salaries', { amount: 1, author_id: gone.id })).id}`,
    }
    assert.equal((await current.send(deletion)).status, 204)
    const { json } = await get(current, '/v2/books?include=author,responsible', 'ann')
    assert.deepEqual(Object.keys(json.included.authors), [open.id, gone.id])
    const [shown] = json.data.filter(({ id }: Json) => id === two.id)
    assert.equal(shown.author_id, hidden.id)
    const of = async (id: string) => (await get(current, `/v2/books/${id}?include=author.books`, 'ann')).json
    const { included, related } = await of(two.id)
    assert.deepEqual([included, related], [{}, { 'author.books': {} }])
    assert.deepEqual(Object.keys((await of(three.id)).included).sort(), ['authors', 'books'])
    const all = (await get(current, '/v2/books?include=author,responsible', 'root')).json
    assert.deepEqual(Object.keys(all.included.authors).sort(), [open.id, hidden.id, gone.id].sort())
    assert.equal((await of(one.id)).included.authors[open.id].rating, null)
  })

  it('REL-4: a relation to many has and counts only what the caller may read', async (context) => {
    const current = await trialFor(context, press)
    const { one } = await fill(current)
    for (const [as, count] of [
      ['ann', 2],
      ['bob', 1],
      ['eve', 0],
      ['root', 3],
    ] as const) {
      const { json } = await get(current, `/v2/books/${one.id}?include=notes&include[notes][limit]=1`, as)
      const { ids, total_count, next } = json.related.notes[one.id]
      assert.deepEqual([ids.length, total_count, next === null], [Math.min(1, count), count, count < 2], as)
      assert.equal(Object.keys(json.included.notes ?? {}).length, ids.length)
      if (next !== null) assert.equal((await walk(current, next, as)).length, count - 1)
    }
  })

  it('REL-4: a hidden collection and a hidden reference are empty, whatever is there', async (context) => {
    const current = await trialFor(context, press)
    const { open } = await fill(current)
    const path = `/v2/authors/${open.id}?include=salaries,sourced,books.source`
    const before = await get(current, path, 'ann')
    const none = { [open.id]: { ids: [], total_count: 0, next: null } }
    assert.deepEqual([before.json.related.salaries, before.json.related.sourced], [none, none])
    assert.equal(before.json.included.authors, undefined)
    await current.make('salaries', { amount: 7, author_id: open.id })
    await current.make('books', { title: 'Source', source_id: open.id })
    const after = await get(current, path, 'ann')
    assert.deepEqual([after.text, after.headers['etag']], [before.text, before.headers['etag']])
    const { json } = await get(current, `/v2/authors/${open.id}?include=sourced,books.source`, 'eve')
    assert.equal(json.related.sourced[open.id].total_count, 2)
    assert.deepEqual(Object.keys(json.included.authors), [open.id])
    assert.equal((await get(current, path, 'root')).json.related.salaries[open.id].total_count, 1)
  })

  it('REL-4, REL-6: what the caller may not read changes no byte and no tag', async (context) => {
    const current = await trialFor(context, press)
    const { open, hidden, one } = await fill(current)
    const paths = [
      '/v2/books?include=author.salaries,responsible,notes,source',
      `/v2/authors/${open.id}?include=books.notes,books.responsible,salaries,sourced&include[books.notes][limit]=1`,
    ]
    const seen = () =>
      Promise.all(
        paths.map(async (path) => {
          const { text, headers } = await get(current, path, 'ann')
          return [text, headers['etag']]
        }),
      )
    const before = await seen()
    const changes: readonly (readonly [as: string, method: string, path: string, body?: object])[] = [
      ['eve', 'PATCH', `/v2/authors/${hidden.id}`, { rating: 3 }],
      ['root', 'PATCH', `/v2/authors/${hidden.id}`, { name: 'Other' }],
      ['bob', 'POST', '/v2/notes', { text: 'more', book_id: one.id }],
      ['root', 'POST', '/v2/salaries', { amount: 9, author_id: open.id }],
    ]
    for (const [as, method, path, body] of changes) {
      const { status, text } = await current.send({ as, method, path, body })
      assert.ok(status < 300, text)
      assert.deepEqual(await seen(), before, `${method} ${path}`)
    }
    assert.equal(
      (await current.send({ as: 'ann', path: '/v2/notes', body: { text: 'x', book_id: one.id } })).status,
      201,
    )
    assert.notDeepEqual(await seen(), before)
  })

  it('REL-4: a field that the caller may not read in every record orders nothing', async (context) => {
    const current = await trialFor(context, press)
    const path = '/v2/books?include=author.books&include[author.books][sort]=price'
    assert.equal((await current.send({ path, as: 'ann' })).status, 200)
    const secret = { path: '/v2/salaries?include=author', as: 'root' }
    assert.equal((await current.send(secret)).status, 200)
    const declared: InterfaceDeclaration = {
      ...press,
      resources: {
        ...press.resources,
        books: { ...press.resources.books, access: { read: 'anyone', fields: { price: { read: 'role:editor' } } } },
      },
    }
    const other = await trialFor(context, declared)
    const sorted = { path: '/v2/authors?include=books&include[books][sort]=-price' }
    const refused = await other.send({ ...sorted, as: 'ann' })
    assert.deepEqual([refused.status, places(refused)], [403, ['FORBIDDEN include[books][sort]']])
    assert.equal((await other.send({ ...sorted, as: 'eve' })).status, 200)
    const where = encodeURIComponent('{"rating":{"gte":1}}')
    const asked = { path: `/v2/authors?include=books.author&include[books][where]=${where}` }
    assert.equal((await other.send({ ...asked, as: 'eve' })).status, 400)
    const secretly = {
      path: `/v2/books?include=author.sourced&include[author.sourced][where]=${encodeURIComponent(`{"source_id":{"null":true}}`)}`,
    }
    const found = await current.send({ ...secretly, as: 'ann' })
    assert.deepEqual([found.status, places(found)], [403, ['FORBIDDEN include[author.sourced][where]']])
  })

  it('REL-4: deleted records come with include_deleted, where the caller may read those of their collection', async (context) => {
    const current = await trialFor(context, press)
    const { open, one } = await fill(current)
    const more = await current.make('books', { title: 'More', author_id: open.id })
    const remove = async (path: string) => assert.equal((await current.send({ method: 'DELETE', path })).status, 204)
    await remove(`/v2/books/${more.id}`)
    const of = async (path: string, as: string) => (await get(current, path, as)).json
    const list = '/v2/authors?sort=name&include=books&include[books][limit]=1&include_deleted=true'
    assert.deepEqual((await of(`/v2/authors/${open.id}?include=books`, 'root')).related.books[open.id].ids, [one.id])
    // Eve may read deleted authors, and no deleted books.
    assert.equal((await of(list, 'eve')).related.books[open.id].total_count, 1)
    const declared = {
      ...press,
      resources: {
        ...press.resources,
        authors: { ...press.resources.authors, access: { read: 'anyone', readDeleted: 'anyone' } },
        books: { ...press.resources.books, access: { read: 'anyone', readDeleted: 'role:editor' } },
      },
    } as InterfaceDeclaration
    const other = await trialFor(context, declared)
    const { make } = other
    const author = await make('authors', { name: 'A' })
    const books = [
      await make('books', { title: 'L', author_id: author.id }),
      await make('books', { title: 'D', author_id: author.id }),
    ]
    const gone = { method: 'DELETE', path: `/v2/books/${books[1].id}` }
    assert.equal((await other.send(gone)).status, 204)
    const asked = '/v2/authors?include=books&include[books][limit]=1&include_deleted=true'
    const [ann, eve] = [(await get(other, asked, 'ann')).json, (await get(other, asked, 'eve')).json]
    assert.deepEqual([ann.related.books[author.id].total_count, ann.related.books[author.id].next], [1, null])
    assert.equal(eve.related.books[author.id].total_count, 2)
    const rest = await walk(other, eve.related.books[author.id].next, 'eve')
    assert.deepEqual(
      rest.map(({ id, deleted_at }) => [id, typeof deleted_at]),
      [[books[1].id, 'string']],
    )
    const whole = (await get(other, '/v2/authors?include=books&include_deleted=true', 'eve')).json
    assert.equal(whole.included.books[books[1].id].deleted_at, rest[0].deleted_at)
    // The author of a deleted book is live, and a deleted author is read from the recycle bin alone.
    assert.equal((await other.send({ method: 'DELETE', path: `/v2/books/${books[0].id}` })).status, 204)
    assert.equal((await other.send({ method: 'DELETE', path: `/v2/authors/${author.id}` })).status, 204)
    const bin = (await get(other, '/v2/books?include_deleted=only&include=author', 'eve')).json
    assert.equal(bin.data.length, 2)
  })

  it('REL-4: paths, names, values and addresses are those of the version', async (context) => {
    const current = await trialFor(context, press)
    const { open, one } = await fill(current)
    await current.make('books', { title: 'Late', author_id: open.id })
    const path = `/v1/authors/${open.id}?include=works.penned_by,works.responsible&include[works][sort]=-heading&include[works][limit]=1`
    const { json } = await get(current, path, 'ann')
    const { ids, total_count, next } = json.related.works[open.id]
    assert.equal(total_count, 2)
    assert.deepEqual(json.included.works[one.id], (await get(current, `/v1/works/${one.id}`, 'ann')).json)
    assert.equal(json.included.works[one.id].kind, 'NOVEL')
    assert.equal(json.data.label, 'Open')
    assert.deepEqual(json.included.authors, { [open.id]: json.data })
    assert.match(next, /^\/v1\/authors\/[^/]+\/works\?sort=-heading/)
    assert.deepEqual([...ids, ...(await walk(current, next, 'ann')).map(({ id }) => id)].length, 2)
    for (const [query, errors] of [
      ['include=books', ['UNKNOWN_RELATION include']],
      ['include=works.notes', ['UNKNOWN_RELATION include']],
      ['include=works&include[works][sort]=title', ['UNKNOWN_FIELD include[works][sort]']],
      ['include=works&fields[works]=title', ['UNKNOWN_FIELD fields[works]']],
    ] as const) {
      assert.deepEqual(places(await current.send({ path: `/v1/authors?${query}` })), errors, query)
    }
    const queried = {
      method: 'QUERY',
      path: '/v1/works',
      as: 'ann',
      body: { include: 'penned_by', 'fields[penned_by]': ['label'] },
    }
    const named = (await current.send(queried)).json
    assert.deepEqual(named.included.authors[open.id], { id: open.id, label: 'Open' })
  })

  it('REL-3, WHR-2: related records in the order of records that they refer to, as far as those are readable', async (context) => {
    const current = await trialFor(context, press)
    const { make } = current
    const [first, last] = [await make('authors', { name: 'Z' }), await make('authors', { name: 'A' })]
    const hidden = await make('authors', { name: 'B', hidden: true })
    const books = [first, hidden, last].map(async ({ id }, index) =>
      make('books', { title: `${index}`, author_id: first.id, editor_id: id }),
    )
    const [z, b, a] = (await Promise.all(books)).map(({ id }: Json) => id)
    for (const [as, order] of [
      ['root', [a, b, z]],
      ['ann', [a, z, b]],
    ] as const) {
      for (const [sort, ids] of [
        ['responsible.name', order],
        ['-responsible.name', order.toReversed()],
      ] as const) {
        for (const [version, path, by] of [
          ['v2', 'books', sort],
          ['v1', 'works', sort.replace('name', 'label')],
        ]) {
          const query = `include=${path}&include[${path}][sort]=${by}&include[${path}][limit]=1`
          const { json } = await get(current, `/${version}/authors/${first.id}?${query}`, as)
          const { ids: shown, next } = json.related[String(path)][first.id]
          const rest = (await walk(current, next, as)).map(({ id }) => id)
          assert.deepEqual([...shown, ...rest], ids, `${as} ${by}`)
        }
      }
    }
  })

  it('REL-3, CON-8: next names the version as the request does, and caches keep all as long as its shortest', async (context) => {
    const { authors, books } = press.resources
    const current = await trialFor(
      context,
      {
        ...press,
        resources: { ...press.resources, authors: { ...authors, maxAge: 60 }, books: { ...books, maxAge: 5 } },
        versionCarriers: ['query', 'header'],
      },
      { basePath: '/api' },
    )
    const author = await current.make('authors', { name: 'A' })
    for (const title of ['1', '2']) await current.make('books', { title, author_id: author.id })
    const path = `/api/authors/${author.id}?version=v1&include=works&include[works][limit]=1`
    const { json, headers } = await get(current, path, 'ann')
    assert.equal(headers['cache-control'], 'private, max-age=5')
    const { next } = json.related.works[author.id]
    assert.match(next, /^\/api\/authors\/[^/]+\/works\?version=v1&limit=1&cursor=/)
    assert.deepEqual(
      (await walk(current, next, 'ann')).map(({ heading }) => heading),
      ['2'],
    )
  })

  it('REL-4, AUT-12: the function authorize is asked about each collection that is included', async (context) => {
    const asked: string[] = []
    const current = await trialFor(context, {
      ...press,
      authorize({ caller, collection, action, id }) {
        asked.push([collection, action, id].join(' '))
        return caller.id !== 'ann' || collection !== 'authors' ? true : { code: 'NO_AUTHORS', message: 'Not you.' }
      },
    })
    const { one } = await fill(current)
    asked.length = 0
    const refused = await current.send({ path: `/v2/books/${one.id}?include=notes,author,responsible`, as: 'ann' })
    assert.deepEqual([refused.status, places(refused)], [403, ['NO_AUTHORS']])
    assert.deepEqual(asked, [`books read ${one.id}`, 'notes read ', 'authors read '])
    assert.equal(
      (await current.send({ method: 'QUERY', path: '/v2/books', body: { include: 'author' }, as: 'ann' })).status,
      403,
    )
    assert.equal((await current.send({ path: '/v2/books?include=notes', as: 'ann' })).status, 200)
  })

  it('WHR-3, AUT-12: authorize is asked about what filters, conditions and sort orders read', async (context) => {
    const byFilter = { deletion: { byFilter: true }, updates: { byFilter: true } } as const
    const current = await trialFor(context, {
      ...press,
      resources: { ...press.resources, books: { ...press.resources.books, ...byFilter } },
      authorize: ({ caller, collection }) => caller.id !== 'ann' || collection !== 'authors',
    })
    await fill(current)
    const where = (condition: unknown) => encodeURIComponent(JSON.stringify(condition))
    const ofAuthor = where({ author: { hidden: false } })
    for (const query of [
      '/v2/books?author.hidden=false',
      '/v1/works?penned_by.hidden=false',
      '/v2/books?sort=author.name',
      `/v2/books?where=${ofAuthor}`,
      `/v2/notes?where=${where({ book: { author: {} } })}`,
      `/v2/books/summary?where=${ofAuthor}`,
      '/v2/books/summary?author.hidden=false',
      '/v1/works?sort=-penned_by.label',
      '/v2/books?include=notes&include[notes][sort]=book.author.name',
      `/v2/books?include=notes&include[notes][where]=${where({ book: { author: { hidden: false } } })}`,
    ]) {
      assert.equal((await current.send({ path: query, as: 'ann' })).status, 403, query)
      assert.equal((await current.send({ path: query, as: 'root' })).status, 200, query)
    }
    const path = '/v2/books?author.hidden=false'
    for (const sent of [
      { method: 'PATCH', path, body: { title: 'x' } },
      { method: 'DELETE', path },
    ]) {
      for (const as of ['ann', 'root'])
        assert.equal((await current.send({ ...sent, as })).status, as === 'ann' ? 403 : 200)
    }
  })

  it('REL-4: every response agrees with the lists and records of its caller', async (context) => {
    const current = await trialFor(context, press)
    await fill(current)
    for (const as of ['ann', 'bob', 'eve', 'root']) {
      for (const [path, collection, field] of [
        ['books', 'books', 'author_id'],
        ['edited', 'books', 'editor_id'],
        ['sourced', 'books', 'source_id'],
      ] as const) {
        const { json } = await get(current, `/v2/authors?include=${path}`, as)
        const all = await walk(current, `/v2/${collection}`, as)
        for (const { id } of json.data) {
          const ids = all.filter((each) => each[field] === id).map((each) => each.id)
          assert.deepEqual(
            [json.related[path][id].ids, json.related[path][id].total_count],
            [ids, ids.length],
            `${as} ${path}`,
          )
        }
        const own = new Map(all.map((each) => [each.id, each]))
        for (const [id, record] of Object.entries(json.included[collection] ?? {}))
          assert.deepEqual(record, own.get(id))
      }
      const { json } = await get(current, '/v2/books?include=author,responsible,source', as)
      const readable = new Map((await walk(current, '/v2/authors', as)).map((each) => [each.id, each]))
      const referred = json.data.flatMap((each: Json) => [each.author_id, each.editor_id, each.source_id])
      const expected = [...new Set(referred)].filter((id) => readable.has(id)).sort()
      assert.deepEqual(
        Object.entries(json.included.authors),
        expected.map((id) => [id, readable.get(id)]),
        as,
      )
    }
  })
})
