/** SEC-3: files that a server writes are readable by its user only, under any umask. */
import assert from 'node:assert/strict'
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { makeKey } from '../packages/server/src/cli/keys.ts'
import { serve } from '../packages/server/src/server/serve.ts'
import { clientOf } from './durability/client.ts'
import { diary } from './durability/declaration.ts'

test('SEC-3: of all files that a server writes, other users may read the certificate only', async (context) => {
  const before = process.umask(0)
  const folder = mkdtempSync(join(tmpdir(), 'resourced-private-'))
  context.after(() => {
    process.umask(before)
    rmSync(folder, { recursive: true })
  })
  const database = `sqlite:${join(folder, 'data', 'diary.db')}`
  const catalog = completeCatalog(diary)
  const own = join(folder, 'own')
  // The certificate of a first start, then a port that needs none.
  await (await serve({ catalog, database, host: '127.0.0.1', port: 0, folder: own })).close()
  const { url, app, close } = await serve({ catalog, database, host: '127.0.0.1', port: 0, http: true })
  const { key, stored } = makeKey('ann', ['admin'], null)
  await app.storage.keys.add(stored)
  const { send, close: hangUp } = clientOf(url, key)
  const { json } = await send('POST', '/v1/exports', { body: { collection: 'folders', format: 'csv' } })
  while ((await send('GET', json.status_url)).json.status !== 'succeeded') await sleep(20)
  hangUp()
  const modes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const status = lstatSync(join(folder, name))
    return [name.replace(json.job_id, 'JOB'), (status.mode & 0o777).toString(8)]
  })
  assert.deepEqual(Object.fromEntries(modes), {
    data: '700',
    'data/diary.db': '600',
    'data/diary.db-shm': '600',
    'data/diary.db-wal': '600',
    'data/diary.db.exports': '700',
    'data/diary.db.exports/JOB': '600',
    own: '700',
    'own/tls': '700',
    'own/tls/localhost-key.pem': '600',
    'own/tls/localhost.pem': '644',
  })
  await close()
})
