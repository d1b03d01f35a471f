/** The threads of a server end at the worst moments: no request waits for a thread that does not come. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf, type Send } from '../durability/client.ts'
import { createKey, type ServerProcess, startServer } from '../durability/command.ts'
import { newDatabase, sqliteOnly } from '../engine.ts'
import { failThread, withThreadFaults } from '../thread-faults.ts'
import { until } from '../until.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-threads-'))
const declaration = { name: 'threads', resources: { notes: { fields: { name: { type: 'string' } } } } }
const { address } = await newDatabase()
const ends: (() => void)[] = []
const started: ServerProcess[] = []
let key: string
before(() => {
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  key = createKey(folder, address)
})
after(async () => {
  for (const end of ends) end()
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

/** A server with one thread that answers requests, and its log of threads. */
async function start() {
  const server = await startServer(folder, ['--http', '--workers', '1'], withThreadFaults(folder), address)
  started.push(server)
  const log: string[] = []
  server.child.stdout?.on('data', (piece) => log.push(String(piece)))
  const ask: Send = async (...given) => {
    const { send, close } = clientOf(server.origin, key)
    return send(...given).finally(close)
  }
  const isServing = async () =>
    (await ask('POST', '/v1/notes', { body: { name: 'a' } }).catch(() => {}))?.status === 201
  return { server, log, ask, isServing }
}

async function stop(server: ServerProcess): Promise<void> {
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0, server.errors.join(''))
}

test('a server whose only thread ends, and ends again, goes on, and its log says why it ended', async () => {
  const { server, log, isServing } = await start()
  for (const how of ['exit', 'throw'] as const) {
    const lost = server.lost.length
    failThread(server, folder, { thread: 1, how })
    await until(async () => server.lost.length > lost)
    await until(isServing)
  }
  assert.match(log.join(''), /"reason":"exit code 9","msg":"worker ended"/)
  assert.match(log.join(''), /"reason":"exit code 1: Error: This thread fails\./)
  assert.equal(server.errors.join('').match(/is served at/g)?.length, 1)
  await stop(server)
})

const skip = sqliteOnly('on PostgreSQL each thread writes by itself')

test('a thread that starts while no thread writes waits for the next one', { skip }, async () => {
  const { server, isServing } = await start()
  for (let round = 0; round < 2; round++) {
    const lost = server.lost.length
    failThread(server, folder, { thread: 0, how: 'exit' })
    await until(async () => server.lost.length > lost)
    failThread(server, folder, { thread: 1, how: 'exit' })
    await until(isServing)
  }
  await stop(server)
})

test('OPS-2: a change that a server still makes while it stops has a thread that writes', { skip }, async () => {
  const { server, isServing } = await start()
  await until(isServing)
  const { hostname, port } = new URL(server.origin)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': 12 }
  // The server says when it waits for the body.
  const expecting = { ...headers, expect: '100-continue' }
  const begin = async () => {
    const sent = request({ hostname, port, method: 'POST', path: '/v1/notes', headers: expecting })
    const status = once(sent, 'response').then(([response]) => response.resume().statusCode)
    const waiting = once(sent, 'continue')
    sent.write('{"name":')
    await waiting
    return () => {
      sent.end('"a"}')
      return status
    }
  }
  const begun = await Promise.all(Array.from({ length: 5 }, begin))
  server.child.kill('SIGTERM')
  await until(async () => server.log.includes('stopping'))
  failThread(server, folder, { thread: 0, how: 'exit' })
  await until(async () => server.lost.length > 0)
  // The thread may learn of the end later than the log: what it asks until then is lost, and answered with 503.
  const statuses: number[] = []
  for (const finish of begun) statuses.push(await finish())
  assert.equal(statuses.at(-1), 201, String(statuses))
  assert.deepEqual(new Set(statuses.slice(statuses.indexOf(201))), new Set([201]))
  assert.equal(await server.ended, 0, server.errors.join(''))
})

test('a SIGHUP that comes while a server starts does not end it, and takes effect after the start', async () => {
  const preload = join(folder, 'signal.mjs')
  const signal = `import { threadId } from 'node:worker_threads'
    if (threadId === 1) process.kill(process.pid, 'SIGHUP')`
  writeFileSync(preload, signal)
  const server = await startServer(folder, ['--http'], { NODE_OPTIONS: `--import ${preload}` }, address)
  started.push(server)
  await until(async () => server.workerIds.size > 0)
  await stop(server)
})

test('threads that never start are given up when the next SIGHUP comes, and when the server stops', async () => {
  const file = join(folder, 'threads.mjs')
  const good = `export default ${JSON.stringify(declaration)}`
  const hanging = `await new Promise((resolve) => setTimeout(resolve, 600_000))\n${good}`
  const renewWith = (text: string) => {
    writeFileSync(file, text)
    server.child.kill('SIGHUP')
  }
  writeFileSync(file, good)
  const server = await startServer(folder, ['--http'], {}, address, file)
  started.push(server)
  renewWith(hanging)
  await sleep(1_000)
  renewWith(good)
  await until(async () => server.workerIds.size > 0)
  renewWith(hanging)
  await sleep(1_000)
  await stop(server)
  assert.equal(server.errors.join('').match(/ended/), null)
})
