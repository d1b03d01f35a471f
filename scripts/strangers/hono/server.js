import { DatabaseSync } from 'node:sqlite'
import { serve } from '@hono/node-server'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'

const db = new DatabaseSync(':memory:')
db.exec(`PRAGMA foreign_keys = ON;
CREATE TABLE authors (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, country TEXT, born INTEGER);
CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, isbn TEXT UNIQUE, price REAL NOT NULL,
  published INTEGER NOT NULL DEFAULT 0, author_id INTEGER NOT NULL REFERENCES authors(id));`)
for (const [name, country, born] of [
  ['Ursula Le Guin', 'US', 1929],
  ['Stanislaw Lem', 'PL', 1921],
  ['Iain Banks', 'GB', 1954],
])
  db.prepare('INSERT INTO authors (name, country, born) VALUES (?, ?, ?)').run(name, country, born)
for (const [t, i, p, a] of [
  ['The Dispossessed', '9780060512750', 9.5, 1],
  ['Solaris', '9780156027601', 8, 2],
  ['The Cyberiad', '9780156027595', 11.25, 2],
  ['Excession', '9780553575378', 7.99, 3],
])
  db.prepare('INSERT INTO books (title, isbn, price, published, author_id) VALUES (?, ?, ?, 1, ?)').run(t, i, p, a)

const Params = z.object({
  id: z.coerce
    .number()
    .int()
    .openapi({ param: { name: 'id', in: 'path' }, example: 1 }),
})
const Problem = z.object({ message: z.string() }).openapi('Error')
const AuthorInput = z
  .object({
    name: z.string().min(1).max(100).openapi({ example: 'Jane Austen' }),
    country: z.string().length(2).nullable().optional(),
    born: z.number().int().nullable().optional(),
  })
  .openapi('AuthorInput')
const Author = AuthorInput.extend({ id: z.number().int() }).openapi('Author')
const BookInput = z
  .object({
    title: z.string().min(1).max(200),
    isbn: z
      .string()
      .regex(/^\d{13}$/)
      .optional(),
    price: z.number().nonnegative(),
    published: z.boolean().default(false),
    author_id: z.number().int(),
  })
  .openapi('BookInput')
const Book = BookInput.extend({ id: z.number().int() }).openapi('Book')
const json = (schema, description) => ({ content: { 'application/json': { schema } }, description })
const body = (schema) => ({ body: { content: { 'application/json': { schema } }, required: true } })

const app = new OpenAPIHono({
  defaultHook: (r, c) => {
    if (!r.success)
      return c.json({ message: r.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ') }, 422)
  },
})

function resource(path, name, Row, Input, toRow, fromRow, search) {
  const one = (id) => {
    const r = db.prepare(`SELECT * FROM ${name} WHERE id = ?`).get(id)
    return r && fromRow(r)
  }
  const Patch = Input.partial()
  const Query = z.object({
    page: z.coerce.number().int().min(1).default(1),
    limit: z.coerce.number().int().min(1).max(100).default(20),
    q: z.string().optional(),
  })
  app.openapi(
    createRoute({
      method: 'get',
      path,
      request: { query: Query },
      responses: { 200: json(z.object({ data: z.array(Row), total: z.number().int() }), `List ${name}`) },
    }),
    (c) => {
      const { page, limit, q } = c.req.valid('query')
      const where = q ? `WHERE ${search} LIKE ?` : ''
      const args = q ? [`%${q}%`] : []
      const total = db.prepare(`SELECT count(*) AS n FROM ${name} ${where}`).get(...args).n
      const rows = db
        .prepare(`SELECT * FROM ${name} ${where} ORDER BY id LIMIT ? OFFSET ?`)
        .all(...args, limit, (page - 1) * limit)
      return c.json({ data: rows.map(fromRow), total }, 200)
    },
  )
  app.openapi(
    createRoute({
      method: 'post',
      path,
      request: body(Input),
      responses: { 201: json(Row, 'Created'), 409: json(Problem, 'Conflict'), 422: json(Problem, 'Invalid') },
    }),
    (c) => {
      const row = toRow(c.req.valid('json'))
      const keys = Object.keys(row)
      try {
        const r = db.prepare(`INSERT INTO ${name} (${keys}) VALUES (${keys.map(() => '?')})`).run(...Object.values(row))
        return c.json(one(r.lastInsertRowid), 201)
      } catch (e) {
        return c.json({ message: e.message }, 409)
      }
    },
  )
  app.openapi(
    createRoute({
      method: 'get',
      path: `${path}/{id}`,
      request: { params: Params },
      responses: { 200: json(Row, 'One'), 404: json(Problem, 'Not found') },
    }),
    (c) => {
      const r = one(c.req.valid('param').id)
      return r ? c.json(r, 200) : c.json({ message: 'Not found' }, 404)
    },
  )
  app.openapi(
    createRoute({
      method: 'patch',
      path: `${path}/{id}`,
      request: { params: Params, ...body(Patch) },
      responses: { 200: json(Row, 'Updated'), 404: json(Problem, 'Not found'), 409: json(Problem, 'Conflict') },
    }),
    async (c) => {
      const { id } = c.req.valid('param')
      if (!one(id)) return c.json({ message: 'Not found' }, 404)
      const sent = await c.req.json()
      const row = Object.fromEntries(Object.entries(toRow(c.req.valid('json'))).filter(([k]) => k in sent))
      const keys = Object.keys(row)
      try {
        if (keys.length)
          db.prepare(`UPDATE ${name} SET ${keys.map((k) => `${k} = ?`)} WHERE id = ?`).run(...Object.values(row), id)
      } catch (e) {
        return c.json({ message: e.message }, 409)
      }
      return c.json(one(id), 200)
    },
  )
  app.openapi(
    createRoute({
      method: 'delete',
      path: `${path}/{id}`,
      request: { params: Params },
      responses: { 204: { description: 'Deleted' }, 404: json(Problem, 'Not found'), 409: json(Problem, 'Conflict') },
    }),
    (c) => {
      const { id } = c.req.valid('param')
      if (!one(id)) return c.json({ message: 'Not found' }, 404)
      try {
        db.prepare(`DELETE FROM ${name} WHERE id = ?`).run(id)
      } catch (e) {
        return c.json({ message: e.message }, 409)
      }
      return c.body(null, 204)
    },
  )
}
const same = (r) => ({ ...r })
resource('/authors', 'authors', Author, AuthorInput, same, same, 'name')
resource(
  '/books',
  'books',
  Book,
  BookInput,
  (r) => ({ ...r, ...('published' in r ? { published: r.published ? 1 : 0 } : {}) }),
  (r) => ({ ...r, published: r.published === 1 }),
  'title',
)
app.doc('/doc', { openapi: '3.0.0', info: { version: '1.0.0', title: 'Bookshop' } })
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' })
