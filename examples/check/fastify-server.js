/**
 * A server as many are made by hand: Fastify, its schemas, two collections in memory. It is here to be checked, not to be copied.
 * `npm install fastify` beside it, then `PORT=3000 node fastify-server.js`.
 */
import { randomUUID } from 'node:crypto'
import fastify from 'fastify'

const app = fastify()
const authors = new Map()
const books = new Map()

const author = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: { type: 'string', minLength: 1, maxLength: 200 }, country: { type: 'string' } },
}
const book = {
  type: 'object',
  required: ['title', 'author_id'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 200 },
    author_id: { type: 'string', format: 'uuid' },
    year: { type: 'integer' },
  },
}
const page = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    offset: { type: 'integer', minimum: 0, default: 0 },
  },
}

function serve(path, records, schema, check = () => undefined) {
  const { required: _, ...part } = schema
  app.get(path, { schema: { querystring: page } }, ({ query: { limit, offset, ...filter } }) => {
    const found = [...records.values()].filter((record) =>
      Object.entries(filter).every(([name, value]) => String(record[name]) === value),
    )
    return { data: found.slice(offset, offset + limit), total: found.length }
  })
  app.get(`${path}/:id`, ({ params }, reply) => records.get(params.id) ?? reply.callNotFound())
  app.post(path, { schema: { body: schema } }, ({ body }, reply) => {
    const problem = check(body)
    if (problem !== undefined) return reply.code(400).send({ error: problem })
    const record = { id: randomUUID(), created_at: new Date().toISOString(), ...body }
    records.set(record.id, record)
    return reply.code(201).header('Location', `${path}/${record.id}`).send(record)
  })
  app.put(`${path}/:id`, { schema: { body: schema } }, ({ params: { id }, body }, reply) => {
    const known = records.get(id)
    if (known === undefined) return reply.callNotFound()
    const record = { id, created_at: known.created_at, ...body }
    records.set(id, record)
    return record
  })
  app.patch(`${path}/:id`, { schema: { body: part } }, ({ params: { id }, body }, reply) => {
    const known = records.get(id)
    if (known === undefined) return reply.callNotFound()
    const record = { ...known, ...body }
    records.set(id, record)
    return record
  })
  app.delete(`${path}/:id`, ({ params: { id } }, reply) =>
    records.delete(id) ? reply.code(204).send() : reply.callNotFound(),
  )
}

serve('/authors', authors, author)
serve('/books', books, book, ({ author_id }) => (authors.has(author_id) ? undefined : 'There is no such author.'))

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
