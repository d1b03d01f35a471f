/** A worker whose event loop stands still is found and replaced, while the others serve (`serve --workers`). */
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
import { statuses, until } from '../races/servers.ts'

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
  server = await startServer(folder, options, {}, address)
  await until(async () => server.workerIds.size >= 2)
})
after(async () => {
  for (const end of ends) end()
  for (const id of [server.child.pid as number, ...server.workerIds.values()]) if (isRunning(id)) kill(id, 'SIGKILL')
  await server.ended
  rmSync(folder, { recursive: true })
})

function isRunning(id: number): boolean {
  return kill(id, 0)
}

function kill(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal)
  } catch {
    return false
  }
}

/** A creation on a connection of its own. */
async function create(): Promise<Answer> {
  const { send, close } = clientOf(server.origin, key)
  ends.push(close)
  return send('POST', '/v1/notes', { body: { name: 'a note' } })
}

test('a worker that hangs is replaced, and what it held goes to the others', async () => {
  const entries: { readonly msg: string; readonly pid: number; readonly reason: string }[] = []
  createInterface(server.child.stdout!).on('line', (line) => {
    const entry = JSON.parse(line)
    if (entry.msg.startsWith('worker ')) entries.push(entry)
  })
  const answers = await Promise.all(Array.from({ length: 9 }, create))
  assert.deepEqual(statuses(answers), { 201: 9 })
  const [hanging, healthy] = [2, 3].map((number) => server.workerIds.get(number) as number)
  kill(hanging!, 'SIGSTOP')
  // Some of them get connected to the worker that hangs. The others are answered meanwhile, and changes too.
  const asked = Array.from({ length: 9 }, () => create().catch(() => undefined))
  const early = await Promise.race([Promise.allSettled(asked).then(() => 'all'), sleep(5_000, 'some')])
  assert.equal(early, 'some')
  answers.push(await create())
  await until(async () => server.workerIds.get(2) !== hanging, 120_000)
  assert.deepEqual([isRunning(hanging!), server.workerIds.get(3)], [false, healthy])
  const told = entries.map(({ msg, pid, reason }) => [msg, pid === hanging, reason])
  assert.deepEqual(told, [
    ['worker killed', true, 'it did not answer within 30 seconds'],
    ['worker ended', true, 'SIGKILL'],
    ['worker started', false, undefined],
  ])
  answers.push(...(await Promise.all(asked)).filter((answer) => answer !== undefined))
  // What it held of the rate is lost, and no more than that passes.
  for (let round = 0; round < 45; round++) answers.push(...(await Promise.all(Array.from({ length: 9 }, create))))
  const { 201: created = 0, 429: refused = 0, ...others } = statuses(answers)
  assert.deepEqual([others, created + refused], [{}, answers.length])
  assert.ok(created <= 400 && created > 300, `${created}`)
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0, server.errors.join(''))
})
