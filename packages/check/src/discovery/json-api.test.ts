/** Discovery of servers that speak another media type than application/json. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cases } from '../cases/cases.ts'
import { Client } from '../client/client.ts'
import { served } from '../client/served.fixture.ts'
import { discover } from './discover.ts'
import { tryCollections } from './try-collections.ts'

const type = 'application/vnd.api+json'

interface Resource {
  readonly type: string
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly relationships?: Readonly<Record<string, { readonly data?: unknown }>>
}

/** A strict server of JSON:API: shelves, and books that need a shelf. */
async function serveJsonApi(context: TestContext, isLenient = false) {
  const all = new Map<string, Resource>()
  const put = (resource: Resource) => all.set(`/${resource.type}/${resource.id}`, resource)
  put({ type: 'shelves', id: 'k', attributes: { label: 'Top' } })
  const relationships = { shelf: { data: { type: 'shelves', id: 'k' } } }
  put({ type: 'books', id: 'a', attributes: { title: 'Left', pages: 5 }, relationships })
  const refused: string[] = []
  let last = 0
  const origin = await served(context, (request, response, text) => {
    const { method = '', url = '', headers } = request
    const path = url.replace(/\?.*/, '')
    const send = (status: number, body?: object) => {
      if (status >= 400) refused.push(`${method} ${path} ${status} ${text}`)
      const shown = isLenient ? { 'Content-Type': 'application/json', 'Accept-Post': type } : { 'Content-Type': type }
      response.writeHead(status, shown).end(body && JSON.stringify(body))
    }
    const refuse = (status: number, pointer: string) =>
      send(status, { errors: [{ code: 'refused', detail: 'This field is required.', source: { pointer } }] })
    const isAccepted = isLenient || headers.accept === type || headers.accept === '*/*'
    if (!isAccepted) return refuse(406, '')
    if (path === '/') return send(200, { data: { books: '/books', shelves: '/shelves' } })
    const [, collection = '', id] = path.split('/')
    if (!/^(?:books|shelves)$/.test(collection) || (id !== undefined && !all.has(path))) return refuse(404, '')
    if (method === 'GET' && id === undefined) {
      const fields = new URL(url, origin).searchParams.get(`fields[${collection}]`)?.split(',')
      const data = [...all.values()]
        .filter((each) => each.type === collection)
        .map((each) => {
          if (fields === undefined) return each
          const attributes = Object.fromEntries(
            Object.entries(each.attributes).filter(([name]) => fields.includes(name)),
          )
          return { type: each.type, id: each.id, attributes }
        })
      return send(200, { data, meta: { count: data.length } })
    }
    if (method === 'GET') return send(200, { data: all.get(path) })
    if (method === 'DELETE') return send(all.delete(path) ? 204 : 404)
    if (!/^(?:POST|PATCH)$/.test(method)) return refuse(405, '')
    if (headers['content-type'] !== type) return refuse(415, '')
    const { data } = JSON.parse(text)
    if (data?.type !== collection || data.id !== id) return refuse(409, '/data')
    const found = all.get(path)
    const merged = {
      ...{ type: collection, id: id ?? `n${++last}x` },
      attributes: { ...found?.attributes, ...data.attributes },
      relationships: { ...found?.relationships, ...data.relationships },
    }
    if (collection === 'books' && merged.attributes.title === undefined) return refuse(422, '/data/attributes/title')
    if (collection === 'books' && !merged.relationships.shelf?.data?.id) return refuse(422, '/data/relationships/shelf')
    put(merged)
    send(method === 'POST' ? 201 : 200, { data: merged })
  })
  return { origin, all, refused }
}

test('a server of JSON:API is discovered, and records are created, changed and deleted in it', async (context) => {
  const { origin, all, refused } = await serveJsonApi(context)
  const client = new Client()
  context.after(() => client.close())
  const requester = { client, credential: [] }
  const discovered = await discover(requester, { url: origin, only: [] })
  const chosen = cases.filter(({ id }) => id === 'CON-2/etag' || id === 'DEL-5/refused')
  const { profile, remains } = await tryCollections(requester, { ...discovered, cases: chosen })
  const books = profile.collections.find(({ name }) => name === 'books')
  assert.equal(profile.mediaType, type)
  assert.deepEqual([profile.names.items, profile.names.total, profile.names.body], ['/data', '/meta/count', ''])
  assert.deepEqual([profile.names.code, profile.names.message], ['/errors/0/code', '/errors/0/detail'])
  assert.deepEqual(Object.keys(books?.example ?? {}), ['title', 'pages', 'shelf'])
  assert.equal(books?.query?.fields, 'fields[books]')
  assert.deepEqual(books?.references, { shelf: 'shelves' })
  assert.deepEqual([[...all.keys()], remains], [['/shelves/k', '/books/a'], []])
  // The type and the identifier of a resource object are right in every request.
  assert.deepEqual(
    refused.filter((each) => / (?:409|415) /.test(each)),
    [],
  )
})

test('cases about media types ask for their own, and a record is sent as a resource object', async (context) => {
  const { origin } = await serveJsonApi(context)
  const client = new Client()
  context.after(() => client.close())
  client.mediaType = type
  const fields = [['Accept', 'application/json'] as const]
  await client.send('', { method: 'GET', url: `${origin}/books`, fields })
  const body = '{"title":"New","shelf":"k"}'
  const url = `${origin}/books/a`
  const json = [...fields, ['Content-Type', 'application/json; charset=odd'] as const]
  const { asked } = await client.send('', { method: 'PATCH', url, fields: json, body })
  assert.deepEqual(asked.fields, [
    ['Accept', type],
    ['Content-Type', `${type}; charset=odd`],
  ])
  const relationships = { shelf: { data: { type: 'shelves', id: 'k' } } }
  const attributes = { title: 'New' }
  assert.deepEqual(JSON.parse(asked.body ?? ''), { data: { type: 'books', id: 'a', attributes, relationships } })
  assert.equal(asked.plain, body)
  const posted = await client.send('', { method: 'POST', url, fields: json, body: '{"title":"New"}' })
  assert.deepEqual(JSON.parse(posted.asked.body ?? ''), { data: { type: 'books', attributes: { title: 'New' } } })
  const query = await client.send('', { method: 'QUERY', url: `${origin}/books`, fields: json, body })
  assert.equal(query.asked.body, body)
  const other = [['Accept', 'text/csv'] as const, ['Content-Type', 'application/merge-patch+json'] as const]
  const unchanged = await client.send('', { method: 'PATCH', url, fields: other, body })
  assert.deepEqual([unchanged.asked.fields, unchanged.asked.body], [other, body])
})

test('the media type of a server is the one that its refusal names', async (context) => {
  const type = 'application/hal+json'
  const asked: string[] = []
  const origin = await served(context, ({ headers, method = '', url = '' }, response) => {
    if (headers.accept !== type) return response.writeHead(406, { Accept: type }).end()
    asked.push(`${method} ${url}`)
    const books = [{ id: 1, title: 'Left', _links: { self: { href: '/books/1' } } }]
    const body = url === '/' ? { _links: { books: { href: '/books' } } } : { _embedded: { books } }
    response.writeHead(200, { 'Content-Type': type }).end(JSON.stringify(body))
  })
  const client = new Client()
  context.after(() => client.close())
  const { profile } = await discover({ client, credential: [] }, { url: origin, only: [] })
  assert.equal(profile.mediaType, type)
  assert.equal(profile.names.items, '/_embedded/books')
  assert.deepEqual(profile.collections.find(({ name }) => name === 'books')?.example, { title: 'Left' })
  assert.ok(asked.includes('GET /books'))
})

test('the media type of bodies is the one that a refusal of a body names', async (context) => {
  const { origin } = await serveJsonApi(context, true)
  const client = new Client()
  context.after(() => client.close())
  const requester = { client, credential: [] }
  const discovered = await discover(requester, { url: origin, only: ['books'] })
  assert.equal(discovered.profile.mediaType, undefined)
  const chosen = cases.filter(({ id }) => id === 'CON-2/etag')
  const { profile } = await tryCollections(requester, { ...discovered, cases: chosen })
  assert.equal(profile.mediaType, type)
})
