/** REL: related records in one response. Their permissions are in `rel-rights.test.ts`, limits in `rel-limits.test.ts`. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { press } from '../declarations-press.ts'
import { places, type Received, type Sent, type Trial, trial } from '../harness.ts'
import { nowhere } from '../steps.ts'

describe('related records', () => {
  let current: Trial
  // biome-ignore lint/suspicious/noExplicitAny: records of several collections
  const made: Record<string, any> = {}
  const ok = async (path: string, more: Partial<Sent> = {}): Promise<Received> => {
    const answer = await current.send({ path: path.startsWith('/') ? path : `/v2/${path}`, ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }
  const idsOf = (...names: readonly string[]): string[] => names.map((name) => made[name].id)

  before(async () => {
    current = await trial(press)
    const make = async (collection: string, body: object) => {
      const name = Object.values(body)[0]
      made[name] = await current.make(collection, body)
    }
    for (const name of ['Ursula', 'Italo', 'Stefan']) await make('authors', { name })
    const books = [
      ['Tehanu', 'Ursula', 3],
      ['Lathe', 'Ursula', null],
      ['Rocannon', 'Ursula', 1],
      ['Cities', 'Italo', 5],
    ] as const
    for (const [title, author, price] of books) {
      await make('books', { title, price, author_id: made[author].id, editor_id: made['Stefan'].id })
    }
    await make('books', { title: 'Loose' })
    for (let number = 1; number <= 25; number++) await make('notes', { text: `n${number}`, book_id: made['Cities'].id })
  })
  after(() => current.close())

  it('REL-2: a list has the related records beside its own, each once', async () => {
    const { json, headers } = await ok('books?include=author,responsible&sort=title')
    const plain = await ok('books?sort=title')
    assert.deepEqual([json.data, json.pagination], [plain.json.data, plain.json.pagination])
    assert.equal(headers['x-total-count'], '5')
    assert.deepEqual(Object.keys(json.included), ['authors'])
    assert.deepEqual(Object.keys(json.included.authors), idsOf('Ursula', 'Italo', 'Stefan').sort())
    assert.deepEqual(json.included.authors[made['Ursula'].id], made['Ursula'])
    assert.deepEqual(json.related, {})
  })

  it('REL-2: included records have the bytes of their own GET, in GET and QUERY of every address', async () => {
    const { id } = made['Ursula']
    const answers = [
      await ok(`authors/${id}?include=books.author`),
      await ok(`authors?id=${id}&include=books.author`),
      await ok('authors', { method: 'QUERY', body: { id, include: ['books.author'] } }),
      await ok(`authors/${id}?include=books,books.author`, { method: 'HEAD' }),
    ]
    for (const { json, text } of answers) {
      assert.deepEqual(json.related, {
        books: { [id]: { ids: idsOf('Tehanu', 'Lathe', 'Rocannon'), total_count: 3, next: null } },
      })
      for (const [collection, records] of Object.entries<object>(json.included)) {
        for (const own of Object.keys(records)) {
          const { text: alone } = await ok(`${collection}/${own}`)
          assert.ok(text.includes(`"${own}":${alone.trimEnd()}`), alone)
        }
      }
      assert.deepEqual(Object.keys(json.included.books), idsOf('Tehanu', 'Lathe', 'Rocannon').sort())
    }
    assert.deepEqual(answers[0]?.json.data, made['Ursula'])
    const nested = await ok(`authors/${id}/books?include=author&fields=title`)
    assert.deepEqual(nested.json.data[0], { id: made['Tehanu'].id, title: 'Tehanu' })
    assert.deepEqual(nested.json.included, { authors: { [id]: made['Ursula'] } })
  })

  it('REL-2: what leads nowhere is an empty relation', async () => {
    const { json } = await ok(`books/${made['Loose'].id}?include=author.books,notes`)
    assert.deepEqual(json.included, {})
    const none = { ids: [], total_count: 0, next: null }
    assert.deepEqual(json.related, { 'author.books': {}, notes: { [made['Loose'].id]: none } })
    const empty = await ok(`books?id=${nowhere}&include=author.books`)
    assert.deepEqual([empty.json.data, empty.json.included, empty.json.related], [[], {}, { 'author.books': {} }])
  })

  it('REL-3: limit, sort and fields of a path; next leads through all of the others', async () => {
    const { id } = made['Cities']
    const asked = 'include=notes&include[notes][limit]=10&include[notes][sort]=-created_at&fields[notes]=text'
    const { json } = await ok(`books/${id}?${asked}`)
    const { ids, total_count, next } = json.related.notes[id]
    const texts: string[] = ids.map((each: string) => json.included.notes[each].text)
    assert.equal(total_count, 25)
    assert.deepEqual(Object.keys(json.included.notes[ids[0]]), ['id', 'text'])
    for (let address: string | null = next; address !== null; ) {
      const page = await ok(address)
      assert.deepEqual(Object.keys(page.json.data[0]), ['id', 'text'])
      texts.push(...page.json.data.map(({ text }: { text: string }) => text))
      const link = /<([^>]*)>; rel="next"/.exec(page.headers['link'] ?? '')
      address = link?.[1] ?? null
    }
    assert.deepEqual(
      texts,
      Array.from({ length: 25 }, (_, index) => `n${25 - index}`),
    )
    const none = (await ok(`books/${id}?include=notes&include[notes][limit]=0`)).json
    assert.deepEqual([none.included, none.related.notes[id].ids, none.related.notes[id].total_count], [{}, [], 25])
    assert.equal((await ok(none.related.notes[id].next)).json.data[0].text, 'n1')
    assert.equal((await ok(`books/${id}?include=notes`)).json.related.notes[id].ids.length, 20)
  })

  it('REL-3: null sorts as in lists, and the list of a reference that is not nested is filtered by it', async () => {
    const { id } = made['Ursula']
    for (const [sort, titles] of [
      ['price', ['Rocannon', 'Tehanu', 'Lathe']],
      ['-price', ['Lathe', 'Tehanu', 'Rocannon']],
      ['-price,title', ['Lathe', 'Tehanu', 'Rocannon']],
    ] as const) {
      for (const limit of [1, 2]) {
        const { json } = await ok(
          `authors/${id}?include=books&include[books][sort]=${sort}&include[books][limit]=${limit}`,
        )
        const { ids, next } = json.related.books[id]
        const rest = (await ok(next)).json.data
        assert.deepEqual(
          [...ids, ...rest.map((each: { id: string }) => each.id)].slice(0, limit * 2),
          idsOf(...titles).slice(0, limit * 2),
        )
      }
    }
    const book = await current.make('books', { title: 'S1', source_id: made['Stefan'].id })
    await current.make('books', { title: 'S2', source_id: made['Stefan'].id })
    const { json } = await ok(
      `authors/${made['Stefan'].id}?include=sourced,edited&include[sourced][limit]=1&include[edited][limit]=1`,
      { as: 'eve' },
    )
    const { sourced, edited } = json.related
    assert.deepEqual(sourced[made['Stefan'].id].ids, [book.id])
    assert.match(sourced[made['Stefan'].id].next, /^\/v2\/books\?source_id=/)
    assert.equal((await ok(sourced[made['Stefan'].id].next, { as: 'eve' })).json.data[0].title, 'S2')
    // The reference is no filter itself.
    const { ids, total_count, next } = edited[made['Stefan'].id]
    assert.match(next, /^\/v2\/books\?responsible\.id=/)
    const rest = (await ok(next.replace('limit=1', 'limit=9'))).json.data.map((each: { id: string }) => each.id)
    assert.deepEqual([total_count, new Set([...ids, ...rest]).size], [4, 4])
  })

  it('REL-3, LIM-3: the parameters of a path fit into the address of the list that goes on', async () => {
    const { id } = made['Ursula']
    const ask = (count: number) => {
      const condition = { title: { not: 'x'.repeat(count) } }
      const body = { id, include: 'books', 'include[books][limit]': 1, 'include[books][where]': condition }
      return current.send({ method: 'QUERY', path: '/v2/authors', body })
    }
    const fitting = await ask(3_900)
    const { ids, total_count, next } = fitting.json.related.books[id]
    assert.equal((await ok(next)).json.data.length, Math.min(1, total_count - ids.length))
    const refused = await ask(4_000)
    assert.deepEqual([refused.status, places(refused)], [400, ['TOO_LONG include[books][where]']])
  })

  it('REL-3, WHR-1: a condition on the related records, in totals and addresses too', async () => {
    const { id } = made['Ursula']
    const where = { or: [{ title: { startsWith: 'te' } }, { title: 'Lathe' }], not: { title: 'Other' } }
    const asked = { id, include: ['books'], 'include[books][where]': where, 'include[books][limit]': 1 }
    const text = encodeURIComponent(JSON.stringify(where))
    const answers = [
      await ok('authors', { method: 'QUERY', body: asked }),
      await ok(`authors/${id}?include=books&include[books][where]=${text}&include[books][limit]=1`),
    ]
    for (const { json } of answers) {
      const { ids, total_count, next } = json.related.books[id]
      assert.deepEqual([ids, total_count], [idsOf('Tehanu'), 2])
      assert.deepEqual(
        (await ok(next)).json.data.map((each: { id: string }) => each.id),
        idsOf('Lathe'),
      )
    }
    const wrong = { 'include[books][where]': { or: [{ title: 'x' }, { price: { gte: 'a' } }, { title: { gte: 1 } }] } }
    const refused = await current.send({ method: 'QUERY', path: '/v2/authors', body: { ...asked, ...wrong } })
    assert.deepEqual(
      refused.json.errors.map(({ parameter, pointer }: Record<string, string>) => [parameter, pointer]),
      [
        ['include[books][where]', '/include[books][where]/or/1/price'],
        ['include[books][where]', '/include[books][where]/or/2/title/gte'],
      ],
    )
  })

  it('QRY-8: a refusal of a parameter of a single record says that it takes include', async () => {
    const { status, json } = await current.send({ path: `/v2/authors/${made['Ursula'].id}?expand=books` })
    assert.deepEqual([status, json.detail], [400, 'This address takes only fields and include with this method.'])
  })

  it('QRY-4: a refusal of a field names those that there are', async () => {
    const { json } = await current.send({ path: '/v2/authors?fields=nam' })
    assert.match(json.detail, /^authors has no field "nam" to answer with; it has id, .*name/)
  })

  it('REL-2: of two paths to a record with different fields it has the fields of both', async () => {
    const { json } = await ok(
      'books?include=author,responsible.edited&fields[author]=name&fields[responsible.edited]=title,kind',
    )
    assert.deepEqual(json.included.authors[made['Italo'].id], { id: made['Italo'].id, name: 'Italo' })
    assert.deepEqual(json.included.authors[made['Stefan'].id], made['Stefan'])
    assert.deepEqual(json.included.books[made['Cities'].id], { id: made['Cities'].id, title: 'Cities', kind: 'novel' })
    const both = await ok(`books?title=Cities&include=author,author.books.author`.replace('.books.author', '.books'))
    assert.deepEqual(both.json.included.authors[made['Italo'].id], made['Italo'])
  })

  it('REL-6: the tag changes with every part of the response, If-None-Match gives 304, and parts are sent', async () => {
    const path = `authors/${made['Italo'].id}?include=books&fields[books]=title`
    const tag = async () => String((await ok(path)).headers['etag'])
    const before = await tag()
    assert.equal((await ok(path)).headers['last-modified'], undefined)
    const known = await current.send({ path: `/v2/${path}`, headers: { 'if-none-match': before } })
    assert.deepEqual([known.status, known.headers['etag'], known.text], [304, before, ''])
    const plain = await ok(`authors/${made['Italo'].id}`)
    assert.equal(
      (await ok(path, { headers: { 'if-none-match': String(plain.headers['etag']) } })).headers['etag'],
      before,
    )
    assert.equal((await ok(`authors/${made['Italo'].id}`, { headers: { 'if-none-match': before } })).status, 200)
    const patch = { method: 'PATCH', path: `/v2/books/${made['Cities'].id}`, body: { price: 9 } }
    assert.equal((await current.send(patch)).status, 200)
    assert.equal(await tag(), before, 'no shown part has changed')
    assert.equal((await current.send({ ...patch, body: { title: 'Invisible Cities' } })).status, 200)
    assert.notEqual(await tag(), before)
    await current.send({ ...patch, body: { title: 'Cities' } })
    assert.equal(await tag(), before)
    const whole = await ok(path)
    const part = await current.send({ path: `/v2/${path}`, headers: { range: 'bytes=10-20', 'if-range': before } })
    assert.deepEqual([part.status, part.text], [206, whole.text.slice(10, 21)])
    const list = await ok('books?include=author')
    assert.equal(
      (
        await current.send({
          path: '/v2/books?include=author',
          headers: { 'if-none-match': String(list.headers['etag']) },
        })
      ).status,
      304,
    )
    const failed = { 'if-match': String((await ok('books')).headers['etag']) }
    assert.equal((await current.send({ path: '/v2/books?include=author', headers: failed })).status, 412)
  })

  it('REL-6: If-Match takes the tag of a single record with include as that of the record alone', async () => {
    const { id } = made['Stefan']
    const path = `/v2/authors/${id}`
    const tag = async () => String((await ok(`${path}?include=edited`)).headers['etag'])
    const before = await tag()
    await current.send({ method: 'PATCH', path: `/v2/books/${made['Cities'].id}`, body: { price: 11 } })
    assert.notEqual(await tag(), before)
    const change = (match: string) =>
      current.send({ method: 'PATCH', path, body: { rating: 3 }, headers: { 'if-match': match } })
    assert.equal((await change(`W/${before.replace(/"$/, '-gzip"')}`)).status, 200)
    assert.equal((await change(before)).status, 412)
    assert.equal((await ok(`${path}?include=edited`, { headers: { 'if-match': await tag() } })).status, 200)
    assert.equal((await current.send({ path: `${path}?include=edited`, headers: { 'if-match': before } })).status, 412)
  })

  const refused: readonly (readonly [query: string, ...errors: string[]])[] = [
    ['include=', 'INVALID_VALUE include'],
    ['include=author,', 'INVALID_VALUE include'],
    ['include=author.', 'INVALID_VALUE include'],
    ['include=author,author', 'INVALID_VALUE include'],
    ['include=author&include=notes', 'DUPLICATE_PARAMETER include'],
    ['include=writer', 'UNKNOWN_RELATION include'],
    ['include=books', 'UNKNOWN_RELATION include'],
    ['include=author_id', 'UNKNOWN_RELATION include'],
    ['include=__proto__', 'UNKNOWN_RELATION include'],
    ['include=author.constructor', 'UNKNOWN_RELATION include'],
    ['include=author.books.notes', 'INVALID_VALUE include'],
    ['include=a,b,c,d,e,f,g,h,i', 'TOO_MANY_ITEMS include'],
    ['include[author][limit]=1', 'UNKNOWN_PARAMETER include[author][limit]'],
    ['include=author&include[author][limit]=1', 'UNKNOWN_PARAMETER include[author][limit]'],
    ['include=author&include[author][sort]=name', 'UNKNOWN_PARAMETER include[author][sort]'],
    ['include=notes&include[notes][limit]=101', 'INVALID_PAGE include[notes][limit]'],
    ['include=notes&include[notes][limit]=-1', 'INVALID_PAGE include[notes][limit]'],
    ['include=notes&include[notes][limit]=1&include[notes][limit]=2', 'DUPLICATE_PARAMETER include[notes][limit]'],
    ['include=notes&include[notes][sort]=text', 'UNKNOWN_FIELD include[notes][sort]'],
    ['include=notes&include[notes][where]={', 'INVALID_VALUE'],
    ['include=author&include[author][where]={}', 'UNKNOWN_PARAMETER include[author][where]'],
    ['include=notes&include[notes][offset]=1', 'UNKNOWN_PARAMETER include[notes][offset]'],
    ['include=notes&include[notes]=1', 'UNKNOWN_PARAMETER include[notes]'],
    ['include=notes&fields[author]=name', 'UNKNOWN_PARAMETER fields[author]'],
    ['include=author&fields[author]=text', 'UNKNOWN_FIELD fields[author]'],
    ['include=writer&include[x][limit]=1', 'UNKNOWN_RELATION include', 'UNKNOWN_PARAMETER include[x][limit]'],
  ]
  it('REL-1: mistakes are 400, with the relations that exist', async () => {
    for (const [query, ...errors] of refused) {
      for (const path of ['/v2/books', `/v2/books/${made['Cities'].id}`, `/v2/authors/${made['Italo'].id}/books`]) {
        const answer = await current.send({ path: `${path}?${query}` })
        assert.deepEqual([answer.status, answer.json.code, places(answer)], [400, 'INVALID_QUERY', errors], query)
      }
    }
    const { json } = await current.send({ path: '/v2/books?include=writer' })
    assert.match(json.detail, /known are responsible, author, source and notes/)
    const { json: jobs } = await current.send({ path: '/v2/jobs?include=author' })
    assert.equal(jobs.code, 'INVALID_QUERY')
  })

  it('REL-1: requests that change something, and exports, take no include', async () => {
    const path = `/v2/books/${made['Cities'].id}?include=author`
    const title = { title: 'x' }
    for (const sent of [
      { path: '/v2/books?include=author', body: title },
      { method: 'PUT', path, body: title },
      { method: 'PATCH', path, body: title },
      { method: 'DELETE', path },
    ]) {
      assert.equal((await current.send(sent)).status, 400)
    }
    assert.equal((await ok(`books/${made['Cities'].id}`)).json.title, 'Cities')
  })
})
