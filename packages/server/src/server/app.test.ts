import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { newDatabase } from '../../../../test/engine.ts'
import { assemble } from './app.ts'

const catalog = completeCatalog({ name: 'x', resources: { notes: { fields: { text: { type: 'string' } } } } })

test('OPS-2: an observer that throws does not keep the application from closing', async () => {
  const observe = () => {
    throw new Error('a bug of whoever observes')
  }
  const app = assemble(catalog, await (await newDatabase({ memory: true })).open(catalog), { observe })
  const request = { method: 'GET', target: '/v1/notes', headers: {}, secure: true, address: '127.0.0.1' }
  await assert.rejects(app.respond({ ...request, readBody: async () => new Uint8Array() }), /a bug/)
  const timer = new Promise((resolve) => setTimeout(resolve, 2_000, 'still open').unref())
  assert.equal(await Promise.race([app.close(), timer]), undefined)
})

test('OPS-2: an application in whose process nothing else runs closes while an export waits between batches', async () => {
  const { address } = await newDatabase()
  const fixture = join(import.meta.dirname, 'closing-app.fixture.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [fixture, address], { encoding: 'utf8' })
  assert.deepEqual([status, stdout], [0, 'closed'], stderr)
})
