/** DEL-6, DEL-13, JOB-3: a server that is killed while it restores many records: the next one restores all of them, or none. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf, type Send } from '../durability/client.ts'
import { createKey, databaseFile, startServer } from '../durability/command.ts'

const kills = Number(process.env.KILLS ?? 4)
const items = 6_000
const folder = mkdtempSync(join(tmpdir(), 'resourced-restoration-'))
after(() => rmSync(folder, { recursive: true }))
const deletion = { asynchronous: 'never' }
writeFileSync(
  join(folder, 'diary.json'),
  JSON.stringify({
    name: 'store',
    resources: {
      boxes: { fields: { name: { type: 'string' } }, deletion },
      items: { fields: { box_id: { reference: 'boxes', onDelete: 'cascade' } }, deletion },
    },
  }),
)
const key = createKey(folder)
const file = databaseFile(folder)

async function serving<T>(work: (send: Send) => Promise<T>, how: 'SIGTERM' | 'SIGKILL'): Promise<T> {
  const server = await startServer(folder)
  const client = clientOf(server.origin, key, 2)
  try {
    return await work(client.send)
  } finally {
    client.close()
    server.child.kill(how)
    await server.ended
  }
}

function inDatabase<T>(work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** How many boxes and items are live, by their rows and by the clocks; and how much work is left. */
function stateOf() {
  return inDatabase((database) => {
    const one = (text: string) => Number(database.prepare(`select (${text}) as value`).get()?.['value'])
    const live = ['boxes', 'items'].flatMap((name) => [
      one(`select count(*) from ${name} where deleted_at is null`),
      one(`select live from resourced_clocks where collection = '${name}'`),
      one(`select count(*) from ${name} where deleted_at is null and _deletion is not null`),
    ])
    return [...live, one('select count(*) from resourced_work')]
  })
}

/** Waits until nothing is left to do. */
async function worked() {
  while (inDatabase((database) => database.prepare('select 1 from resourced_work').get()) !== undefined) await sleep(20)
}

test(`a restoration of ${items} records, killed at ${kills} moments`, async (context) => {
  const box = await serving(
    async (send) => (await send('POST', '/v1/boxes', { body: { name: 'x' } })).json.id,
    'SIGTERM',
  )
  const stamps = "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1"
  inDatabase((database) => {
    database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${items})
      insert into items (id, box_id, created_at, updated_at, _revision) select 'item ' || i, '${box}', ${stamps} from n;
      update resourced_clocks set live = ${items} where collection = 'items'`)
  })
  const restore = (send: Send) => send('POST', `/v1/boxes/${box}/restore`)
  await serving(async (send) => assert.equal((await send('DELETE', `/v1/boxes/${box}`)).status, 204), 'SIGTERM')
  const none = [0, 0, 0, 0, 0, 0, 0]
  assert.deepEqual(stateOf(), none)
  const original = join(folder, 'original.db')
  inDatabase((database) => database.exec('pragma wal_checkpoint(truncate)'))
  copyFileSync(file, original)
  const replace = () => {
    rmSync(join(folder, 'data'), { recursive: true })
    mkdirSync(join(folder, 'data'))
    copyFileSync(original, file)
  }
  let whole = 0
  await serving(async (send) => {
    const started = performance.now()
    assert.equal((await restore(send)).status, 202)
    await worked()
    whole = performance.now() - started
  }, 'SIGTERM')
  let interrupted = 0
  for (let kill = 0; kill < kills; kill++) {
    replace()
    await serving(async (send) => {
      restore(send).catch(() => {})
      await sleep((whole * (kill + 0.5)) / kills)
    }, 'SIGKILL')
    const [, , , found = 0] = stateOf()
    if (found > 0 && found < items) interrupted++
    // As if the time had passed for which nobody else continues the work.
    inDatabase((database) => database.exec('update resourced_work set until = 0'))
    await serving(async (send) => {
      await worked()
      const repeated = await restore(send)
      assert.ok(repeated.status === 202 || repeated.json.code === 'NOT_DELETED', JSON.stringify(repeated.json))
      await worked()
    }, 'SIGTERM')
    assert.deepEqual(stateOf(), [1, 1, 0, items, items, 0, 0], `killed after ${kill + 0.5} of ${kills} parts`)
  }
  context.diagnostic(`${kills} kills, ${interrupted} between two batches; whole it takes ${whole.toFixed(0)} ms`)
})
