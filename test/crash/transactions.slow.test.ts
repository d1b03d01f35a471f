/** BLK-4: if the server is killed at any moment, each acknowledged transaction is whole, and every other one is absent. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf, isConnectionLost } from '../durability/client.ts'
import { createKey, startServer } from '../durability/command.ts'
import { diary } from '../durability/declaration.ts'
import { randomFrom, seedOfRun } from '../durability/random.ts'
import { newDatabase } from '../engine.ts'

/** `KILLS=1000` takes half an hour. */
const kills = Number(process.env.KILLS ?? 4)
const connections = 8
const folder = mkdtempSync(join(tmpdir(), 'resourced-transactions-'))
after(() => rmSync(folder, { recursive: true }))

/** A folder with notes, of which the last transaction is changed and the first one deleted. */
function operationsOf(name: string) {
  const of = { title: 'Title', edition: 1, text: 'x'.repeat(100) }
  const note = (number: number) => ({
    ...{ method: 'POST', path: '/folders/{folder.id}/notes', as: `note${number}` },
    body: { ...of, name: `${name} ${number}` },
  })
  return [
    { method: 'POST', path: '/folders', body: { ...of, name }, as: 'folder' },
    ...[0, 1, 2, 3].map(note),
    { method: 'PATCH', path: '/notes/{note3.id}', body: { title: { $ref: 'folder.name' } } },
    { method: 'DELETE', path: '/notes/{note0.id}' },
    { method: 'PATCH', path: '/folders/{folder.id}', body: { edition: 2 } },
  ]
}

test(`transactions are whole or absent through ${kills} kills`, async (context) => {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(diary))
  const { address, rows } = await newDatabase()
  const key = createKey(folder, address)
  const acknowledged = new Set<string>()
  let begun = 0
  for (let round = 0; round < kills; round++) {
    const server = await startServer(folder, ['--http'], {}, address)
    let killed = false
    const working = Array.from({ length: connections }, async () => {
      const client = clientOf(server.origin, key)
      while (!killed) {
        const name = `folder ${begun++}`
        try {
          const answer = await client.send('POST', '/v1/transactions', { body: { operations: operationsOf(name) } })
          assert.equal(answer.status, 200, JSON.stringify(answer.json))
          acknowledged.add(name)
        } catch (error) {
          if (!isConnectionLost(error)) throw error
          break
        }
      }
      client.close()
    })
    // On a busy machine the first answer takes long.
    const before = acknowledged.size
    for (let waited = 0; acknowledged.size === before && waited < 10_000; waited += 5) await sleep(5)
    await sleep(random() * 100)
    killed = true
    server.child.kill('SIGKILL')
    await Promise.all(working)
    assert.equal(await server.ended, 'SIGKILL', server.errors.join(''))
  }
  const server = await startServer(folder, ['--http'], {}, address)
  const client = clientOf(server.origin, key)
  const { json } = await client.send('GET', '/v1/folders?per_page=1')
  client.close()
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  const found = await rows(
    `select f.name, f.edition,
      (select count(*) from notes n where n.folder_id = f.id and n.deleted_at is null) as live,
      (select count(*) from notes n where n.folder_id = f.id and n.deleted_at is not null) as gone,
      (select count(*) from notes n where n.folder_id = f.id and n.title = f.name) as changed
      from folders f`,
  )
  assert.equal(json.pagination.total_count, found.length)
  for (const { name, edition, live, gone, changed } of found) {
    assert.deepEqual([edition, live, gone, changed].map(Number), [2, 3, 1, 1], `${name} is not whole`)
  }
  const [orphans] = await rows('select count(*) as count from notes where folder_id not in (select id from folders)')
  assert.equal(Number(orphans?.['count']), 0)
  const names = new Set(found.map(({ name }) => String(name)))
  assert.deepEqual([...acknowledged].filter((name) => !names.has(name)), []) // biome-ignore format: a line
  assert.ok(acknowledged.size >= kills, `${acknowledged.size} of ${begun}`)
  context.diagnostic(`${begun} transactions, ${acknowledged.size} acknowledged, ${found.length} made`)
})
