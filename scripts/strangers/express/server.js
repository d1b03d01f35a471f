/** Categories and products of a shop: Express with handlers written by hand, and data in memory. */
import { randomUUID } from 'node:crypto'
import express from 'express'
import { z } from 'zod'

const categories = new Map()
const products = new Map()

const category = z.object({ name: z.string().min(1).max(60), description: z.string().optional() })
const product = z.object({
  sku: z.string().regex(/^[A-Z]{2}-\d{4}$/),
  title: z.string().min(1).max(120),
  price: z.number().positive(),
  inStock: z.boolean().default(true),
  categoryId: z.uuid(),
})

const app = express()
app.use(express.json())

app.get('/api', (_, res) => {
  res.json({ name: 'Shop', links: { categories: '/api/categories', products: '/api/products' } })
})

app.use('/api', (req, res, next) => {
  if (req.get('authorization') === 'Bearer shop-4711') return next()
  res
    .status(401)
    .set('WWW-Authenticate', 'Bearer')
    .json({ error: { code: 'UNAUTHORIZED', message: 'Sign in first.' } })
})

function fail(res, status, code, message, details) {
  res.status(status).json({ error: { code, message, details } })
}

/** The routes of one collection. */
function resource(path, records, schema, check) {
  const router = express.Router()

  router.get('/', (req, res) => {
    const page = Math.max(1, Number(req.query.page) || 1)
    const pageSize = Math.min(100, Math.max(1, Number(req.query.pageSize) || 20))
    let found = [...records.values()]
    if (req.query.categoryId) found = found.filter((record) => record.categoryId === req.query.categoryId)
    if (req.query.q) found = found.filter((record) => JSON.stringify(record).includes(req.query.q))
    res.json({
      data: found.slice((page - 1) * pageSize, page * pageSize),
      meta: { page, pageSize, total: found.length },
    })
  })

  router.post('/', (req, res) => {
    const parsed = schema.safeParse(req.body)
    if (!parsed.success) return fail(res, 422, 'VALIDATION_FAILED', 'The body is not valid.', parsed.error.issues)
    const conflict = check(parsed.data)
    if (conflict) return fail(res, conflict.status, conflict.code, conflict.message)
    const record = { id: randomUUID(), ...parsed.data, createdAt: new Date().toISOString() }
    records.set(record.id, record)
    res.status(201).location(`${path}/${record.id}`).json({ data: record })
  })

  router.get('/:id', (req, res) => {
    const record = records.get(req.params.id)
    if (!record) return fail(res, 404, 'NOT_FOUND', 'There is no such record.')
    res.json({ data: record })
  })

  router.put('/:id', (req, res) => {
    const record = records.get(req.params.id)
    if (!record) return fail(res, 404, 'NOT_FOUND', 'There is no such record.')
    const parsed = schema.safeParse(req.body)
    if (!parsed.success) return fail(res, 422, 'VALIDATION_FAILED', 'The body is not valid.', parsed.error.issues)
    const conflict = check(parsed.data, record.id)
    if (conflict) return fail(res, conflict.status, conflict.code, conflict.message)
    const changed = { id: record.id, ...parsed.data, createdAt: record.createdAt }
    records.set(record.id, changed)
    res.json({ data: changed })
  })

  router.delete('/:id', (req, res) => {
    if (records === categories && [...products.values()].some(({ categoryId }) => categoryId === req.params.id)) {
      return fail(res, 409, 'IN_USE', 'The category still has products.')
    }
    if (!records.delete(req.params.id)) return fail(res, 404, 'NOT_FOUND', 'There is no such record.')
    res.status(204).end()
  })

  app.use(path, router)
}

resource('/api/categories', categories, category, ({ name }, id) => {
  if ([...categories.values()].some((other) => other.name === name && other.id !== id)) {
    return { status: 409, code: 'DUPLICATE', message: 'name is already in use' }
  }
})
resource('/api/products', products, product, ({ sku, categoryId }, id) => {
  if (!categories.has(categoryId))
    return { status: 422, code: 'UNKNOWN_CATEGORY', message: 'categoryId does not exist' }
  if ([...products.values()].some((other) => other.sku === sku && other.id !== id)) {
    return { status: 409, code: 'DUPLICATE', message: 'sku is already in use' }
  }
})

app.use((_, res) => fail(res, 404, 'NOT_FOUND', 'There is no such page.'))
app.use((error, _req, res, _next) => fail(res, error.status ?? 500, 'ERROR', error.message))

for (const name of ['Tea', 'Coffee', 'Cups']) {
  const id = randomUUID()
  categories.set(id, { id, name, createdAt: new Date().toISOString() })
  for (let number = 1; number <= 9; number++) {
    const sku = `${name.slice(0, 2).toUpperCase()}-${1000 + number}`
    const record = { id: randomUUID(), sku, title: `${name} ${number}`, price: 2.5 * number, inStock: true }
    products.set(record.id, { ...record, categoryId: id, createdAt: new Date().toISOString() })
  }
}

app.listen(Number(process.env.PORT), '127.0.0.1')
