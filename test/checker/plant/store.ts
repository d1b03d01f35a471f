/**
 * A server of another make, with integer keys, on which tests look at what a check has done to it. It can be told to
 * misbehave.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The members of a record. */
export type Members = Readonly<Record<string, unknown>>

/** A creation, a change or a removal that the store is asked for. */
export interface StoreRequest {
  readonly method: string
  readonly path: string
  readonly collection: string
  /** The path below the collection, without its slash; `undefined` for the collection itself. */
  readonly below: string | undefined
  readonly body: Members
  /** Whether the body is one that the collection accepts. */
  readonly isValid: boolean
}

/** An answer in place of the one that the store would give. */
export interface StoreAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** How a store misbehaves, and what it holds. */
export interface StoreMake {
  /**
   * Collections, each with the members of its records and the records that are there. Keys are numbers unless told
   * otherwise.
   */
  readonly collections?: Readonly<Record<string, readonly Members[]>>
  /** The types of members, `string` unless given: JSON Schema. */
  readonly schemas?: Readonly<Record<string, Members>>
  /** Members that a creation demands; `title` unless given. */
  readonly required?: readonly string[]
  /** A client may choose identifiers: by POST with one, by PUT where no record is, by PATCH of one. */
  readonly takesIds?: boolean
  /** Lists take no filter. */
  readonly ignoresFilters?: boolean
  /** Answers in its own way; `undefined` leaves a request to the store. `'silence'` leaves it without an answer. */
  readonly instead?: (request: StoreRequest, store: Store) => StoreAnswer | 'silence' | undefined
}

/** One collection as it is stored. */
export interface Table {
  readonly records: Map<string, Members>
  /** The last identifier given: the next follows the largest that ever was, as AUTO_INCREMENT does. */
  last: number
}

/** A store that listens. */
export interface Store {
  readonly origin: string
  readonly tables: Readonly<Record<string, Table>>
  /** All requests, as `METHOD /path`. */
  readonly asked: string[]
  /** Stores a record as a creation does. Gives it with its identifier. */
  insert(collection: string, body: Members): Members
  close(): Promise<void>
}

/** What is there at the beginning: records of somebody else. */
export const orders: readonly Members[] = [
  { id: 1, title: 'Tea', note: 'Kept by somebody' },
  { id: 2, title: 'Salt', note: 'Kept by somebody else' },
  { id: 3, title: 'Bread', note: 'Old' },
]

/** Starts a store on a free port of loopback. */
export async function startStore(make: StoreMake = {}): Promise<Store> {
  const tables: Record<string, Table> = {}
  for (const [name, records] of Object.entries(make.collections ?? { orders })) {
    const ids = records.map(({ id }) => Number(id))
    tables[name] = { records: new Map(records.map((each) => [String(each['id']), each])), last: Math.max(0, ...ids) }
  }
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    asked.push(`${request.method} ${request.url}`)
    const answer = answerTo(request, text)
    if (answer === 'silence') return
    const { status, body, headers = {} } = answer
    response.writeHead(status, { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  })
  const store: Store = {
    origin: '',
    tables,
    asked,
    insert(collection, body) {
      const table = tables[collection] as Table
      const { id: given, ...rest } = body
      const isChosen = make.takesIds === true && Number.isInteger(Number(given)) && given !== undefined
      const id = isChosen ? Number(given) : table.last + 1
      table.last = Math.max(table.last, id)
      const record = { ...rest, id }
      table.records.set(String(id), record)
      return record
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const members = ['title', 'note', ...Object.keys(make.schemas ?? {})]
  const required = make.required ?? ['title']

  function answerTo({ method = '', url = '' }: IncomingMessage, text: string): StoreAnswer | 'silence' {
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname === '/openapi.json') return { status: 200, body: documentOf(make, Object.keys(tables)) }
    const [, collection = '', ...rest] = pathname.split('/')
    const table = Object.hasOwn(tables, collection) ? tables[collection] : undefined
    if (table === undefined) return nothing
    const below = rest.length === 0 ? undefined : rest.join('/')
    const body = membersIn(text)
    const isValid = body !== undefined && required.every((name) => typeof body[name] === 'string')
    const request = { method, path: pathname, collection, below, body: body ?? {}, isValid }
    const instead = make.instead?.(request, store)
    if (instead !== undefined) return instead
    const sent = Object.fromEntries(
      Object.entries(body ?? {}).filter(([name]) => members.includes(name) || (name === 'id' && make.takesIds)),
    )
    if (below === undefined) {
      if (method === 'GET') return { status: 200, body: listOf(table, searchParams, make) }
      if (method !== 'POST') return { status: 405, body: { error: 'no' }, headers: { Allow: 'GET, POST' } }
      if (!isValid) return refusal
      const record = store.insert(collection, sent)
      return { status: 201, body: record, headers: { Location: `/${collection}/${record['id']}` } }
    }
    const found = table.records.get(below)
    if (method === 'PUT' && found === undefined && make.takesIds === true && /^\d+$/.test(below)) {
      return isValid ? { status: 201, body: store.insert(collection, { ...sent, id: below }) } : refusal
    }
    if (found === undefined || rest.length > 1) return nothing
    if (method === 'GET') return { status: 200, body: found }
    if (method === 'DELETE') {
      table.records.delete(below)
      return { status: 204 }
    }
    if (method !== 'PUT' && method !== 'PATCH') return { status: 405, headers: { Allow: 'GET, PUT, PATCH' } }
    if (method === 'PUT' && !isValid) return refusal
    const changed = {
      ...(method === 'PATCH' ? found : {}),
      ...sent,
      id: make.takesIds ? (sent['id'] ?? found['id']) : found['id'],
    }
    table.records.delete(below)
    table.records.set(String(changed.id), changed)
    table.last = Math.max(table.last, Number(changed.id))
    return { status: 200, body: changed }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(store, { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

const nothing: StoreAnswer = { status: 404, body: { error: 'not_found', message: 'There is nothing here.' } }
const refusal: StoreAnswer = { status: 400, body: { error: 'bad', message: 'title is required' } }

function membersIn(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
  } catch {
    return undefined
  }
}

function listOf({ records }: Table, parameters: URLSearchParams, { ignoresFilters }: StoreMake) {
  const found = [...records.values()].filter((each) =>
    ['title', 'note'].every((name) => {
      const wanted = ignoresFilters === true ? null : parameters.get(name)
      return wanted === null || each[name] === wanted
    }),
  )
  const size = Number(parameters.get('per_page') ?? 20)
  const page = Number(parameters.get('page') ?? 1)
  return { data: found.slice((page - 1) * size, page * size), pagination: { total_count: found.length } }
}

function documentOf({ schemas = {}, required = ['title'], ignoresFilters }: StoreMake, names: readonly string[]) {
  const properties = { title: { type: 'string' }, note: { type: 'string' }, ...schemas }
  const record = { type: 'object', properties: { id: { type: 'integer' }, ...properties } }
  const creation = { type: 'object', required, properties }
  const json = (schema: object) => ({ content: { 'application/json': { schema } } })
  const done = (schema: object) => ({ responses: { 200: json(schema) } })
  const listed = { type: 'object', properties: { data: { type: 'array', items: record } } }
  const query = ['page', 'per_page', ...(ignoresFilters === true ? [] : ['title', 'note'])].map((name) => ({
    name,
    in: 'query',
    schema: { type: /page/.test(name) ? 'integer' : 'string' },
  }))
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }]
  return {
    openapi: '3.0.3',
    paths: Object.fromEntries(
      names.flatMap((name) => [
        [
          `/${name}`,
          { get: { ...done(listed), parameters: query }, post: { requestBody: json(creation), ...done(record) } },
        ],
        [
          `/${name}/{id}`,
          {
            parameters,
            get: done(record),
            put: { requestBody: json(creation), ...done(record) },
            patch: { requestBody: json({ type: 'object', properties }), ...done(record) },
            delete: { responses: { 204: {} } },
          },
        ],
      ]),
    ),
  }
}
