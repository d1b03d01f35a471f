/**
 * The yardstick *by hand*: the atlas's cities as a good engineer serves them with Fastify and better-sqlite3, without
 * us. `node server.js DATABASE PORT`. It does the same work as ours, as durably, and gives the same records.
 */
import { hash, randomUUID, randomUUIDv7 } from 'node:crypto'
import Database from 'better-sqlite3'
import fastify from 'fastify'
import { destination } from 'pino'
import {
  body,
  cities,
  city,
  countriesQuery,
  fields,
  listQuery,
  listWithCities,
  listWithCountries,
  summaryQuery,
} from './schemas.js'

const [, , file, port] = process.argv
const database = new Database(file)
for (const setting of ['journal_mode = wal', 'synchronous = full', 'cache_size = -32000']) database.pragma(setting)

const prepared = new Map()
/** A statement is compiled once for each text. */
function statement(text) {
  return prepared.getOrInsertComputed(text, () => database.prepare(text))
}

// One line a request, written in blocks.
const stream = destination({ dest: 1, sync: false, minLength: 16_000 })
const app = fastify({ logger: { stream, base: null }, disableRequestLogging: true, genReqId: () => randomUUID() })
app.addHook('onResponse', async (request, reply) => {
  const { id, method, url, caller } = request
  const { statusCode: status, elapsedTime } = reply
  request.log.info({ id, method, url, status, caller: caller?.subject, ms: elapsedTime }, 'request')
})

const findKey = database.prepare('select subject, role from keys where hash = ?')
const allowed = 100_000_000
const calls = new Map()
let minute = 0

app.decorateRequest('caller', null)
app.addHook('onRequest', async (request, reply) => {
  if (request.url === '/health/live') return
  const [scheme, key = ''] = (request.headers.authorization ?? '').split(' ')
  const caller = scheme === 'Bearer' ? findKey.get(hash('sha256', key)) : undefined
  if (caller === undefined) {
    return reply.code(401).header('WWW-Authenticate', 'Bearer').send({ error: 'A valid key is needed.' })
  }
  request.caller = caller
  const now = Math.floor(Date.now() / 60_000)
  if (now !== minute) calls.clear()
  minute = now
  const count = (calls.get(caller.subject) ?? 0) + 1
  calls.set(caller.subject, count)
  reply.header('RateLimit', `"caller";r=${Math.max(0, allowed - count)};t=60`).header('X-Request-Id', request.id)
  if (count > allowed) return reply.code(429).header('Retry-After', 60).send({ error: 'Too many requests.' })
  if (request.method !== 'GET' && caller.role !== 'admin') return reply.code(403).send({ error: 'Not allowed.' })
})

const columns = ['id', ...fields, 'created_at', 'updated_at'].join(', ')
const findCity = database.prepare(`select ${columns}, revision from cities where id = ? and deleted_at is null`)
const findCountry = database.prepare('select 1 from countries where id = ? and deleted_at is null').pluck()

app.get('/health/live', async () => ({ status: 'live' }))

app.get('/v1/cities/:id', { schema: { response: { 200: city } } }, (request, reply) => {
  const found = findCity.get(request.params.id)
  if (found === undefined) return notFound(reply)
  const tag = tagOf(found.revision)
  reply.header('ETag', tag).header('Cache-Control', 'private, no-cache')
  if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send()
  reply.send(found)
})

/** Totals by what is counted, until the next change. */
const totals = new Map()

const countriesOf = database.prepare(
  `select id, name, code from countries where deleted_at is null and id in (select value from json_each(?))`,
)

app.get(
  '/v1/cities',
  { schema: { querystring: listQuery, response: { 200: listWithCountries } } },
  (request, reply) => {
    const {
      country_id,
      q,
      include,
      'country.code': code,
      sort = 'id',
      page = 1,
      per_page,
      limit,
      cursor,
    } = request.query
    const where = ['deleted_at is null']
    const values = []
    if (country_id !== undefined) where.push('country_id = ?') && values.push(country_id)
    if (q !== undefined) {
      where.push('rowid in (select rowid from cities_words where cities_words match ?)')
      values.push(`${(q.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"`).join(' ')}*`)
    }
    if (code !== undefined) {
      where.push('country_id in (select id from countries where code = ? and deleted_at is null)')
      values.push(code)
    }
    const counted = JSON.stringify([where, values])
    let total = totals.get(counted)
    if (total === undefined) {
      total = statement(`select count(*) from cities where ${where.join(' and ')}`)
        .pluck()
        .get(...values)
      if (totals.size >= 1_000) totals.clear()
      totals.set(counted, total)
    }
    const [name, direction, after] = sort[0] === '-' ? [sort.slice(1), ' desc', '<'] : [sort, '', '>']
    const order = name === 'id' ? [name] : [name, 'id']
    if (cursor !== undefined) {
      where.push(`(${order.join(', ')}) ${after} (${order.map(() => '?').join(', ')})`)
      values.push(...JSON.parse(Buffer.from(cursor, 'base64url')))
    }
    const size = per_page ?? limit ?? 20
    const text = `select ${columns} from cities where ${where.join(' and ')}
    order by ${order.map((each) => each + direction).join(', ')} limit ? offset ?`
    const isWalk = limit !== undefined
    const data = statement(text).all(...values, isWalk ? size + 1 : size, isWalk ? 0 : (page - 1) * size)
    const more = isWalk && data.length > size
    if (more) data.pop()
    const last = data.at(-1)
    const pagination = isWalk
      ? { total_count: total, limit, next_cursor: more ? encoded(order.map((each) => last[each])) : null }
      : { total_count: total, page, per_page: size, total_pages: Math.ceil(total / size) }
    reply.header('Cache-Control', 'private, no-cache')
    if (include === undefined) return reply.send({ data, pagination })
    const found = countriesOf.all(JSON.stringify([...new Set(data.map((each) => each.country_id))]))
    reply.send({ data, pagination, included: { countries: byId(found) }, related: {} })
  },
)

const countCountries = database.prepare('select count(*) from countries where deleted_at is null').pluck()
const findCountries = database.prepare(
  'select id, name, code from countries where deleted_at is null order by id limit ? offset ?',
)
const citiesOf = database.prepare(
  `select ${columns} from cities where country_id = ? and deleted_at is null order by id limit 20`,
)
const countCities = database.prepare('select count(*) from cities where country_id = ? and deleted_at is null').pluck()

app.get(
  '/v1/countries',
  { schema: { querystring: countriesQuery, response: { 200: listWithCities } } },
  (request, reply) => {
    const { page = 1, per_page = 20, include } = request.query
    const data = findCountries.all(per_page, (page - 1) * per_page)
    const total = countCountries.get()
    const pagination = { total_count: total, page, per_page, total_pages: Math.ceil(total / per_page) }
    reply.header('Cache-Control', 'private, no-cache')
    if (include === undefined) return reply.send({ data, pagination })
    const included = {}
    const cities = {}
    for (const { id } of data) {
      const found = citiesOf.all(id)
      const total_count = countCities.get(id)
      Object.assign(included, byId(found))
      const ids = found.map((each) => each.id)
      cities[id] = { ids, total_count, next: total_count > ids.length ? `/v1/countries/${id}/cities` : null }
    }
    reply.send({ data, pagination, included: { cities: included }, related: { cities } })
  },
)

const summary = database.prepare(
  `select feature, count(*) as count, sum(population) as population from cities where deleted_at is null
    group by feature order by feature`,
)

app.get('/v1/cities/summary', { schema: { querystring: summaryQuery } }, (request, reply) => {
  const rows = summary.all()
  const { per_page = 20 } = request.query
  const data = rows.slice(0, per_page).map(({ feature, count, population }) => ({
    ...{ group: { feature }, count, sum: { population: String(population) } },
  }))
  const total_pages = Math.ceil(rows.length / per_page)
  const pagination = { total_count: rows.length, page: 1, per_page, total_pages }
  reply.header('Cache-Control', 'private, no-cache').send({ data, pagination })
})

app.addHook('onSend', async (request, reply, payload) => {
  if (request.method !== 'GET' || reply.statusCode !== 200 || reply.hasHeader('ETag')) return payload
  const tag = `"${hash('sha1', payload, 'base64url')}"`
  reply.header('ETag', tag)
  if (!matches(request.headers['if-none-match'], tag)) return payload
  reply.code(304)
  return null
})

const places = fields.map((name) => `@${name}`).join(', ')
const insert = database.prepare(
  `insert into cities (id, ${fields.join(', ')}, created_at, updated_at)
    values (@id, ${places}, @created_at, @updated_at)`,
)
const insertWords = database.prepare('insert into cities_words (rowid, name) values (?, ?)')
const removeWords = database.prepare("insert into cities_words (cities_words, rowid, name) values ('delete', ?, ?)")
const create = database.transaction((record) => {
  if (findCountry.get(record.country_id) === undefined) return false
  const { lastInsertRowid } = insert.run(record)
  insertWords.run(lastInsertRowid, record.name)
  return true
})

const createMany = database.transaction((records) => {
  for (const record of records) if (!create(record)) return false
  return true
})

// biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
const oneOrMany = { if: { type: 'array' }, then: { type: 'array', items: body, maxItems: 1_000 }, else: body }
app.post('/v1/cities', { schema: { body: oneOrMany, response: { 201: city } } }, (request, reply) => {
  const now = new Date().toISOString()
  const recordOf = ({ capital, ...rest }) => {
    return { ...rest, capital: Number(capital), id: randomUUIDv7(), created_at: now, updated_at: now }
  }
  if (Array.isArray(request.body)) {
    const data = request.body.map(recordOf)
    if (!createMany.immediate(data)) return unknownCountry(reply)
    totals.clear()
    return reply.code(201).serializer(reply.compileSerializationSchema(cities)).send({ data })
  }
  const record = recordOf(request.body)
  if (!create.immediate(record)) return unknownCountry(reply)
  totals.clear()
  reply.code(201).header('Location', `/v1/cities/${record.id}`).header('ETag', tagOf(1)).send(record)
})

const findRow = database.prepare(`select rowid, ${columns}, revision from cities where id = ? and deleted_at is null`)
const update = database.prepare(
  `update cities set ${fields.map((name) => `${name} = @${name}`).join(', ')}, updated_at = @updated_at,
    revision = @revision where rowid = @rowid`,
)
const change = database.transaction((id, changes, condition) => {
  const current = findRow.get(id)
  if (current === undefined) return 'absent'
  if (condition !== undefined && !matches(condition, tagOf(current.revision))) return 'changed meanwhile'
  const next = { ...current, ...changes, updated_at: new Date().toISOString(), revision: current.revision + 1 }
  if (next.country_id !== current.country_id && findCountry.get(next.country_id) === undefined) return 'no country'
  next.capital = Number(next.capital)
  update.run(next)
  if (next.name !== current.name) {
    removeWords.run(current.rowid, current.name)
    insertWords.run(current.rowid, next.name)
  }
  return next
})

const changeSchema = { body: { ...body, required: [], properties: withoutDefaults() }, response: { 200: city } }
app.patch('/v1/cities/:id', { schema: changeSchema }, (request, reply) => {
  const changed = change.immediate(request.params.id, request.body, request.headers['if-match'])
  if (changed === 'absent') return notFound(reply)
  if (changed === 'changed meanwhile') return reply.code(412).send({ error: 'The city has changed.' })
  if (changed === 'no country') return unknownCountry(reply)
  totals.clear()
  reply.header('ETag', tagOf(changed.revision)).send(changed)
})

const remove = database.prepare(
  'update cities set deleted_at = ?, updated_at = ?, revision = revision + 1 where id = ? and deleted_at is null',
)
app.delete('/v1/cities/:id', (request, reply) => {
  const now = new Date().toISOString()
  if (remove.run(now, now, request.params.id).changes === 0) return notFound(reply)
  totals.clear()
  reply.code(204).send()
})

process.once('SIGTERM', async () => {
  await app.close()
  database.close()
})
await app.listen({ host: '127.0.0.1', port: Number(port) })

function withoutDefaults() {
  return Object.fromEntries(Object.entries(body.properties).map(([name, { default: _, ...schema }]) => [name, schema]))
}

function byId(records) {
  return Object.fromEntries(records.map((record) => [record.id, record]))
}

function tagOf(revision) {
  return `"${revision}"`
}

function matches(condition, tag) {
  return condition !== undefined && (condition === '*' || condition.split(/\s*,\s*/).includes(tag))
}

function encoded(values) {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

function notFound(reply) {
  return reply.code(404).send({ error: 'There is no such city.' })
}

function unknownCountry(reply) {
  return reply.code(400).send({ error: 'There is no such country.' })
}
