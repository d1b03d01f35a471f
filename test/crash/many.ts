/** Kills of a server during requests that create and change many records. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf, isConnectionLost } from '../durability/client.ts'
import { createKey, startServer } from '../durability/command.ts'
import { diary } from '../durability/declaration.ts'
import { randomFrom, seedOfRun } from '../durability/random.ts'
import { newDatabase } from '../engine.ts'

const connections = 4
const size = 40

/** Records that one request creates, and another one changes. */
interface Batch {
  readonly edition: number
  /** What was acknowledged last. */
  title: 'nothing' | 'made' | 'changed'
  /** What a request asked for that was cut off. */
  cut: 'made' | 'changed' | undefined
}

/** Kills a server so often. Every acknowledged request must be there as a whole, and every other one whole or not at all. */
export async function killDuringMany(context: TestContext, rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-many-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(diary))
  const { address } = await newDatabase()
  const key = createKey(folder, address)
  const batches: Batch[] = []
  for (let round = 0; round < rounds; round++) {
    const server = await startServer(folder, ['--http', '--rate-limit', 'off'], {}, address)
    let killed = false
    const working = Array.from({ length: connections }, async () => {
      const client = clientOf(server.origin, key)
      while (!killed) {
        const batch: Batch = { edition: batches.length, title: 'nothing', cut: undefined }
        batches.push(batch)
        const names = Array.from({ length: size }, (_, place) => `${batch.edition} ${place}`)
        const bodies = names.map((name) => ({ name, title: 'made', edition: batch.edition, text: 'x'.repeat(100) }))
        try {
          batch.cut = 'made'
          const made = await client.send('POST', '/v1/folders', { body: bodies })
          assert.equal(made.status, 201)
          batch.title = 'made'
          batch.cut = 'changed'
          const changes = made.json.data.map(({ id }: { id: string }) => ({ id, title: 'changed' }))
          assert.equal((await client.send('PATCH', '/v1/folders', { body: changes })).status, 200)
          batch.title = 'changed'
          batch.cut = undefined
        } catch (error) {
          if (!isConnectionLost(error)) throw error
          break
        }
      }
      client.close()
    })
    await sleep(200 + random() * 600)
    killed = true
    server.child.kill('SIGKILL')
    await Promise.all(working)
    assert.equal(await server.ended, 'SIGKILL', server.errors.join(''))
  }
  const server = await startServer(folder, ['--http', '--rate-limit', 'off'], {}, address)
  const client = clientOf(server.origin, key)
  for (const { edition, title, cut } of batches) {
    const { json } = await client.send('GET', `/v1/folders?edition=${edition}&per_page=100`)
    const titles = [...new Set<string>(json.data.map((each: { title: string }) => each.title))]
    const found = titles[0] ?? 'nothing'
    assert.ok(titles.length < 2 && [0, size].includes(json.data.length), `${edition} is torn: ${titles}`)
    assert.ok(found === title || found === cut, `${edition} is ${found}, and ${title} was acknowledged`)
  }
  client.close()
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  const lost = batches.filter(({ cut }) => cut !== undefined).length
  context.diagnostic(`${batches.length} arrays, ${lost} of them cut off by a kill`)
  assert.ok(lost >= rounds)
}
