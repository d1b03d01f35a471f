/**
 * A server whose database is synced as told: `node server.fixture.ts FILE full|off`. Without syncing is for tests only.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { assemble } from '../../packages/server/src/server/app.ts'
import { createNodeServer } from '../../packages/server/src/server/node/listener.ts'
import type { Synchronous } from '../../packages/server/src/storage/sqlite/connection.ts'
import { openSqlite } from '../../packages/server/src/storage/sqlite/storage.ts'
import { diary } from '../durability/declaration.ts'

const [path = '', synchronous] = process.argv.slice(2)
// As the local certificate does: the folder may be there, and not for sure.
mkdirSync(dirname(path), { recursive: true })
const catalog = completeCatalog(diary)
const storage = openSqlite(catalog, { path, synchronous: synchronous as Synchronous })
const app = assemble(catalog, storage, { rateLimit: 'off' })
const server = createNodeServer({ respond: app.respond, problem: app.refuse })
const { key, stored } = makeKey('root', ['admin'], null)
await storage.keys.add(stored)
process.on('SIGTERM', async () => {
  await server.close()
  await app.close()
  process.exit(0)
})
const origin = await server.listen('127.0.0.1', 0)
process.stdout.write(`${JSON.stringify({ origin, key, pid: process.pid })}\n`)
