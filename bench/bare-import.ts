/**
 * The yardstick of imports: it inserts the lines of a file with prepared statements, a thousand in a transaction, with
 * the same indexes and words, as durably; nothing is validated or looked up.
 * `node bare-import.ts DECLARATION COLLECTION DATABASE FILE`.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { uuidv7 } from 'uuidv7'
import { loadResource } from './declared.ts'
import { inserterOf } from './inserter.ts'

const [, , declaration = '', collection = '', file = '', source = ''] = process.argv
const { resource } = await loadResource(declaration, collection)
const database = new DatabaseSync(file)
database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -64000; begin')
const insert = inserterOf(resource, database)
let count = 0
for await (const line of createInterface(createReadStream(source))) {
  const now = new Date().toISOString()
  insert({ id: uuidv7(), ...JSON.parse(line), created_at: now, updated_at: now })
  if (++count % 1_000 === 0) database.exec('commit; begin')
}
database.exec('commit')
database.close()
