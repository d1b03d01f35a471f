/**
 * MET-9: if the server is killed at any moment, a repetition with the same key creates the record that was lost, and
 * none twice.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, clientOf, isConnectionLost } from '../durability/client.ts'
import { createKey, startServer } from '../durability/command.ts'
import { diary } from '../durability/declaration.ts'
import { randomFrom, seedOfRun } from '../durability/random.ts'
import { newDatabase } from '../engine.ts'

const rounds = 8
const connections = 16
const folder = mkdtempSync(join(tmpdir(), 'resourced-idempotency-'))
after(() => rmSync(folder, { recursive: true }))

/** A creation that is sent until it is answered. */
interface Intent {
  readonly key: string
  readonly body: { readonly name: string; readonly title: string; readonly edition: number; readonly text: string }
  lost: number
  answer: Answer | undefined
}

test(`creations that are repeated through ${rounds} kills create one record each`, async (context) => {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(diary))
  const { address } = await newDatabase()
  const key = createKey(folder, address)
  const intents: Intent[] = []
  const open: Intent[] = []
  const begin = (): Intent => {
    const number = intents.length
    const body = { name: `folder ${number}`, title: 'Title', edition: number, text: 'x'.repeat(200) }
    const intent: Intent = { key: `"intent-${number}"`, body, lost: 0, answer: undefined }
    intents.push(intent)
    return intent
  }
  let repaired = 0
  for (let round = 0; round <= rounds; round++) {
    const server = await startServer(folder, ['--http'], {}, address)
    const last = round === rounds
    let killed = false
    const working = Array.from({ length: connections }, async () => {
      const client = clientOf(server.origin, key)
      for (;;) {
        const intent = open.pop() ?? (last ? undefined : begin())
        if (intent === undefined) break
        try {
          const headers = { 'idempotency-key': intent.key }
          intent.answer = await client.send('POST', '/v1/folders', { body: intent.body, headers })
          if (intent.lost > 0) repaired++
        } catch (error) {
          if (!isConnectionLost(error)) throw error
          intent.lost++
          open.push(intent)
          break
        }
        if (killed) break
      }
      client.close()
    })
    if (!last) {
      await sleep(30 + random() * 250)
      killed = true
      server.child.kill('SIGKILL')
    }
    await Promise.all(working)
    if (!last) {
      assert.equal(await server.ended, 'SIGKILL', server.errors.join(''))
      continue
    }
    assert.equal(open.length, 0)
    const client = clientOf(server.origin, key)
    const { json } = await client.send('GET', '/v1/folders?per_page=1')
    assert.equal(json.pagination.total_count, intents.length)
    for (const intent of intents) {
      const { status, json: record, headers } = intent.answer as Answer
      assert.equal(status, 201)
      const again = await client.send('POST', '/v1/folders', {
        body: intent.body,
        headers: { 'idempotency-key': intent.key },
      })
      assert.deepEqual(
        [again.status, again.json, again.headers['location'], again.headers['etag']],
        [201, record, headers['location'], headers['etag']],
      )
    }
    client.close()
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
  }
  const lost = intents.filter((intent) => intent.lost > 0).length
  context.diagnostic(
    `${intents.length} creations, ${lost} of them cut off by a kill, ${repaired} answered on repetition`,
  )
  assert.ok(lost >= rounds && repaired === lost, `${lost}, ${repaired}`)
})
