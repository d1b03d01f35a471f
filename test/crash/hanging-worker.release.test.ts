/** A thread whose event loop stands still is found and replaced, while the others serve (`serve --workers`). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, clientOf } from '../durability/client.ts'
import { createKey, type ServerProcess, startServer } from '../durability/command.ts'
import { newDatabase } from '../engine.ts'
import { statuses } from '../races/servers.ts'
import { failThread, withThreadFaults } from '../thread-faults.ts'
import { until } from '../until.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-hanging-'))
const declaration = {
  name: 'workers',
  resources: { notes: { fields: { name: { type: 'string' } } } },
  limits: { rate: { caller: '400/hour' } },
}
const { address } = await newDatabase()
const ends: (() => void)[] = []
let key: string
let server: ServerProcess
before(async () => {
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  key = createKey(folder, address)
  const options = ['--http', '--workers', '3', '--rate-limit', 'declared']
  server = await startServer(folder, options, withThreadFaults(folder), address)
  await until(async () => server.workerIds.size >= 2)
})
after(async () => {
  for (const end of ends) end()
  server.child.kill('SIGKILL')
  await server.ended
  rmSync(folder, { recursive: true })
})

/** A creation on a connection of its own. */
async function create(): Promise<Answer> {
  const { send, close } = clientOf(server.origin, key)
  ends.push(close)
  return send('POST', '/v1/notes', { body: { name: 'a note' } })
}

test('a thread that hangs is replaced, and what was counted stays counted', async () => {
  const entries: { readonly msg: string; readonly worker: number; readonly reason: string }[] = []
  createInterface(server.child.stdout!).on('line', (line) => {
    const entry = JSON.parse(line)
    if (entry.msg.startsWith('worker ')) entries.push(entry)
  })
  const answers = await Promise.all(Array.from({ length: 9 }, create))
  assert.deepEqual(statuses(answers), { 201: 9 })
  const [hanging, healthy] = [2, 3].map((number) => server.workerIds.get(number) as number)
  failThread(server, folder, { thread: 2, how: { hang: 600_000 } })
  await sleep(200)
  // Some of them get connected to the thread that hangs. The others are answered meanwhile, and changes too.
  const asked = Array.from({ length: 9 }, () => create().catch(() => undefined))
  const early = await Promise.race([Promise.allSettled(asked).then(() => 'all'), sleep(5_000, 'some')])
  assert.equal(early, 'some')
  const answered = (await Promise.all(asked.map((each) => Promise.race([each, sleep(1)])))).filter(Boolean)
  assert.ok(answered.length > 0)
  await until(async () => server.workerIds.get(2) !== hanging, 'the worker that hangs is replaced', 120)
  assert.equal(server.workerIds.get(3), healthy)
  const told = entries.map(({ msg, worker, reason }) => [msg, worker, reason])
  assert.deepEqual(told, [
    ['worker killed', 2, 'it did not answer within 30 seconds'],
    ['worker ended', 2, 'exit code 1'],
    ['worker started', 2, undefined],
  ])
  answers.push(...(await Promise.all(asked)).filter((answer) => answer !== undefined))
  for (let round = 0; round < 45; round++) answers.push(...(await Promise.all(Array.from({ length: 9 }, create))))
  const { 201: created = 0, 429: refused = 0, ...others } = statuses(answers)
  assert.deepEqual([others, created + refused], [{}, answers.length])
  assert.equal(created, 400)
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0, server.errors.join(''))
})

test('a writer that hangs is replaced: its changes are refused, and later ones are made', async () => {
  const other = await startServer(folder, ['--http', '--workers', '1'], withThreadFaults(folder), address)
  const { send, close } = clientOf(other.origin, key)
  ends.push(close)
  const change = () => send('POST', '/v1/notes', { body: { name: 'a note' } })
  assert.equal((await change()).status, 201)
  failThread(other, folder, { thread: 0, how: { hang: 600_000 } })
  await sleep(200)
  const waiting = change()
  assert.equal((await send('GET', '/v1/notes?limit=1')).status, 200)
  const { status, json } = await waiting
  assert.deepEqual([status, json.code], [503, 'OVERLOADED'])
  await until(async () => (await change()).status === 201)
  other.child.kill('SIGTERM')
  assert.equal(await other.ended, 0, other.errors.join(''))
})
