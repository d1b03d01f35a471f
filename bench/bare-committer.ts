/**
 * The yardstick for writes: Node's own server, inserting each record in a transaction of its own, with
 * `synchronous=FULL`, into the same tables with the same indexes and full-text rows; nothing is validated or looked up.
 * `node bare-committer.ts DECLARATION COLLECTION DATABASE PORT`.
 */
import type { RequestListener } from 'node:http'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { uuidv7 } from 'uuidv7'
import { listen } from './bare-listen.ts'
import { loadResource } from './declared.ts'
import { inserterOf } from './inserter.ts'

const [, , declaration = '', collection = '', file = '', port = ''] = process.argv
const { resource } = await loadResource(declaration, collection)
const database = new DatabaseSync(file)
database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -32000')
const insert = inserterOf(resource, database)
const [begin, commit] = ['begin immediate', 'commit'].map((text) => database.prepare(text))

const handle: RequestListener = (request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(404).end()
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, SQLInputValue>
    const now = new Date().toISOString()
    const record = { id: uuidv7(), ...body, created_at: now, updated_at: now }
    begin?.run()
    insert(record)
    commit?.run()
    const text = `${JSON.stringify(record)}\n`
    const headers = { 'Content-Type': 'application/json', Location: `/v1/${collection}/${record.id}` }
    response.writeHead(201, { ...headers, 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  })
}

listen(handle, [port])
