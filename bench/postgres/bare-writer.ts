/**
 * The yardstick of writes: Node's own server, writing a record by one prepared statement that gives its representation.
 * Nothing is validated or looked up, and no clock moves on. `node bare-writer.ts DECLARATION COLLECTION URL PORT`.
 */

import type { IncomingMessage, RequestListener } from 'node:http'
import type { RecordValues } from 'resourced-contract/model/resource'
import sql, { join, raw } from 'sql-template-tag'
import { uuidv7 } from 'uuidv7'
import { postgres } from '../../packages/server/src/storage/postgres/dialect.ts'
import { columnsOf, subject } from '../../packages/server/src/storage/sql/columns.ts'
import { sqlContext } from '../../packages/server/src/storage/sql/context.ts'
import { boundOf, representationSql, searchWords } from '../../packages/server/src/storage/sql/records.ts'
import { listen } from '../bare-listen.ts'
import { loadResource } from '../declared.ts'
import { pooled } from './pooled.ts'

const [, , declaration = '', collection = '', url = '', port = ''] = process.argv
const { catalog, resource } = await loadResource(declaration, collection)
const ask = await pooled(url, 12)
const columns = columnsOf(resource)
const answered = sql`returning ${representationSql(sqlContext({ catalog, dialect: postgres }), { resource })} as json, _revision`
const named = ['id', ...columns.map(({ name }) => name), 'created_at', 'updated_at', '_revision']
const names = [...named, ...postgres.wordColumns(() => '').map(([name]) => name)].map((name) => `"${name}"`).join(', ')

async function create(body: RecordValues): Promise<Record<string, unknown>> {
  const now = new Date().toISOString()
  const record = { id: uuidv7(), ...body, created_at: now, updated_at: now }
  const bound = [record.id, ...columns.map((column) => boundOf(column, record)), now, now, 1]
  const words = postgres.wordColumns(() => searchWords(resource, record)).map(([, value]) => value)
  const { text, values } =
    sql`insert into ${raw(`"${collection}" as ${subject}`)} (${raw(names)}) values (${join([...bound, ...words], ', ')}) ${answered}`
  return (await ask('create', text, values))[0]!
}

async function patch(id: string, tag: string | undefined, body: RecordValues): Promise<Record<string, unknown>> {
  const revision = tag === '*' ? null : Number(tag?.slice(1, -1))
  const { text, values } =
    sql`update ${raw(`"${collection}" as ${subject}`)} set population = ${body['population']}, updated_at = ${new Date().toISOString()}, _revision = _revision + 1 where id = ${id} and deleted_at is null and _revision = coalesce(${revision}, _revision) ${answered}`
  const [row] = await ask('patch', text, values)
  if (row === undefined) throw new Error(`${id} is not at ${tag}.`)
  return row
}

async function bodyOf(request: IncomingMessage): Promise<RecordValues> {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((read) => request.on('end', read))
  return JSON.parse(Buffer.concat(chunks).toString())
}

const handle: RequestListener = async (request, response) => {
  if (request.method !== 'POST' && request.method !== 'PATCH') {
    response.writeHead(404).end()
    return
  }
  const body = await bodyOf(request)
  const isNew = request.method === 'POST'
  const id = request.url?.split('/').at(-1) ?? ''
  const { json, _revision } = isNew ? await create(body) : await patch(id, request.headers['if-match'], body)
  const text = `${json}\n`
  response.writeHead(isNew ? 201 : 200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ETag: `"${_revision}"`,
  })
  response.end(text)
}

listen(handle, [port])
