/** OPS-2: the real command stops cleanly. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectSession } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf, isConnectionLost } from '../durability/client.ts'
import { createKey, databaseFile, type ServerProcess, startServer } from '../durability/command.ts'
import { diary } from '../durability/declaration.ts'
import { inspect } from '../durability/inspect.ts'
import { Ledger } from '../durability/ledger.ts'
import { randomFrom, seedOfRun } from '../durability/random.ts'
import { verify } from '../durability/verify.ts'
import { write, writerOf } from '../durability/workload.ts'
import { sendRaw } from '../raw-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-stopping-'))
const started = new Set<ServerProcess>()
let key: string
/** How long a server takes to stop that has nothing to do, in milliseconds. */
let usual: number
before(async () => {
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(diary))
  key = createKey(folder)
  usual = (await stop(await start())).took
})
after(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all([...started].map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

async function start(
  options?: readonly string[],
  variables?: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const server = await startServer(folder, options, variables)
  started.add(server)
  return server
}

/** Tells a server to stop, and gives its exit code and how many milliseconds it took. */
async function stop(server: ServerProcess): Promise<{ code: number | string; took: number }> {
  const begun = performance.now()
  server.child.kill('SIGTERM')
  const code = await server.ended
  return { code, took: performance.now() - begun }
}

/** Fails if a server took longer to stop than expected: on a slow machine, far longer than one with nothing to do. */
function assertFast(took: number, expected: number): void {
  // At the deadline, after ten seconds, it would cut connections.
  const limit = Math.min(8_000, Math.max(expected, 3 * usual))
  assert.ok(took < limit, `it took ${took} ms, and usually ${usual} ms`)
}

/** Waits until so many requests run, a minute at most: by then each of them is in a worker. */
async function running(server: ServerProcess, count: number): Promise<void> {
  const line = new RegExp(`^resourced_requests_in_flight ${count}$`, 'm')
  const areRunning = async () => line.test(await (await fetch(server.metrics ?? '')).text())
  for (const end = performance.now() + 60_000; !(await areRunning()) && performance.now() < end; ) await sleep(5)
}

/** Waits until a server has begun to stop. */
async function stopping(server: ServerProcess): Promise<void> {
  while (!server.log.includes('stopping')) await sleep(5)
}

/** Holds the right to write, so that every change waits; call the result to let it go. */
function holdLock(): () => void {
  // A server that has just started may still hold it itself.
  const database = new DatabaseSync(databaseFile(folder), { timeout: 5_000 })
  database.exec('begin immediate')
  return () => database.close()
}

const folderNamed = (name: string) => ({ name, title: 'A folder', edition: 1, text: 'text' })

test('OPS-2: a server that is stopped while 24 connections write answers all changes that it made', async (context) => {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const ledger = new Ledger()
  let server = await start()
  const clients = Array.from({ length: 24 }, () => clientOf(server.origin, key))
  const writing = clients.map(({ send }, number) =>
    write(writerOf(ledger, number, randomFrom(seed + number)), send, () => false),
  )
  // A slow machine takes longer to be well under way.
  while (ledger.acknowledged <= 50) await sleep(20)
  const { code, took } = await stop(server)
  await Promise.all(writing)
  for (const client of clients) client.close()
  assert.equal(code, 0)
  assertFast(took, 3_000)
  assert.deepEqual(server.log, ['listening', 'stopping', 'stopped'])

  server = await start()
  const { entries, changes } = ledger
  const client = clientOf(server.origin, key)
  const found = await verify(client.send, { entries, changes, durable: (entry) => entry.durable })
  client.close()
  // What was done was accepted, and what was accepted was answered: nothing unanswered has happened.
  for (const { name, states, durable } of entries) assert.equal(found.get(name) ?? 'absent', states[durable], name)
  assert.equal((await stop(server)).code, 0)
  inspect(databaseFile(folder))
})

test('OPS-2: a server that is stopped while 1,000 connections overload it answers all accepted requests', async (context) => {
  const server = await start()
  const clients = Array.from({ length: 1_000 }, () => clientOf(server.origin, key))
  let acknowledged = 0
  let turnedAway = 0
  const write = async ({ send }: (typeof clients)[number], number: number) => {
    for (let turn = 0; ; turn++) {
      const body = folderNamed(`crowd ${number} ${turn}`)
      const { status, headers } = await send('POST', '/v1/folders', { body })
      if (status === 201) acknowledged++
      else {
        // Overload, or the end.
        assert.equal(status, 503)
        assert.match(String(headers['retry-after']), /^[1-5]$/)
        turnedAway++
      }
    }
  }
  const writing = clients.map((client, number) => assert.rejects(write(client, number), isConnectionLost))
  while (acknowledged < 2_000) await sleep(20)
  const { code, took } = await stop(server)
  await Promise.all(writing)
  context.diagnostic(`${acknowledged} were written, ${turnedAway} turned away; it stopped in ${took.toFixed(0)} ms`)
  for (const client of clients) client.close()
  assert.equal(code, 0)
  assert.ok(took < 8_000, `it took ${took} ms`)
  const database = new DatabaseSync(databaseFile(folder), { readOnly: true })
  const row = database.prepare("select count(*) as count from folders where name like 'crowd %'").get()
  database.close()
  // Nothing unanswered has happened, and nothing that has happened is unanswered.
  assert.equal(row?.['count'], acknowledged)
})

test('OPS-2: changes that wait for the database are still made and answered; new connections are refused', async (context) => {
  for (let round = 1; ; round++) {
    const { held, statuses, code, took, last } = await stopWhileChangesWait(round)
    context.diagnostic(`the changes waited ${held.toFixed(0)} ms; the server stopped ${took.toFixed(0)} ms later`)
    assert.equal(code, 0)
    assert.equal(last, 'stopped')
    // A change waits five seconds for the database: on a machine that needs longer for all of this, it is refused.
    if (held > 4_500 && round < 10) continue
    assert.deepEqual(statuses, new Array(32).fill(201))
    // At the deadline it would cut connections.
    assert.ok(took < 8_000, `it took ${took} ms`)
    return
  }
})

/** Stops a server while 32 changes wait, and releases the database once the server refuses new connections. */
async function stopWhileChangesWait(round: number) {
  const server = await start(['--http', '--metrics-port', '0'])
  const clients = Array.from({ length: 32 }, () => clientOf(server.origin, key))
  // Every connection is there before the database is held.
  await Promise.all(clients.map(({ send }) => send('GET', '/health/live')))
  const release = holdLock()
  const begun = performance.now()
  const answers = clients.map(({ send }, index) =>
    send('POST', '/v1/folders', { body: folderNamed(`waiting ${round} ${index}`) }),
  )
  const isOver = () => performance.now() - begun > 60_000
  await running(server, 32)
  const stopped = stop(server)
  const isRefused = () =>
    clientOf(server.origin, key)
      .send('GET', '/health/live')
      .then(() => false, isConnectionLost)
  while (!(await isRefused())) assert.ok(!isOver(), 'new connections are still accepted')
  assert.equal(server.child.exitCode, null)
  const released = performance.now()
  release()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  const { code } = await stopped
  for (const client of clients) client.close()
  return { held: released - begun, statuses, code, took: performance.now() - released, last: server.log.at(-1) }
}

test('OPS-2: a server with open connections to its metrics stops as fast', async () => {
  const server = await start(['--http', '--metrics-port', '0'])
  assert.equal((await fetch(`${server.origin}/health/live`)).status, 200)
  const text = await (await fetch(server.metrics ?? '')).text()
  assert.match(text, /^resourced_requests_total\{method="GET",route="\/health\/live",status="200"\} 1$/m)
  const { code, took } = await stop(server)
  assert.equal(code, 0)
  assertFast(took, 3_000)
  assert.deepEqual(server.log, ['metrics', 'listening', 'stopping', 'stopped'])
  assert.ok(server.errors.join('').includes(`Its metrics are at ${server.metrics}\n`))
})

test('OPS-1: if metrics cannot be served, the command says so and exits', async () => {
  const { metrics = '' } = await start(['--http', '--metrics-port', '0'])
  const { port } = new URL(metrics)
  const taken = `ended with 1: Metrics cannot be served on 127.0.0.1, port ${port}: the port is in use. Choose others with`
  for (const [text, message] of [
    [port, taken],
    ['many', 'ended with 2: --metrics-port takes a number from 0 to 65535, not "many".'],
  ] as const) {
    await assert.rejects(start(['--http', '--metrics-port', text]), (error: Error) => error.message.includes(message))
  }
})

test('OPS-2: no request of a client that sends continuously is reset on a connection that the server keeps', async (context) => {
  const server = await start()
  const clients = Array.from({ length: 60 }, () => clientOf(server.origin, key))
  const statuses: number[] = []
  const ends: unknown[] = []
  const sending = clients.map(async ({ send }, number) => {
    for (let turn = 0; ; turn++) {
      // Some ask at once again, others after a pause.
      await sleep((number % 6) * 20)
      try {
        const { status } = await (turn % 3 === 0
          ? send('POST', '/v1/folders', { body: folderNamed(`on ${number} ${turn}`) })
          : send('GET', '/v1/folders'))
        statuses.push(status)
      } catch (error) {
        ends.push((error as NodeJS.ErrnoException).code)
        return
      }
    }
  })
  while (statuses.length < 500) await sleep(20)
  const { code, took } = await stop(server)
  await Promise.all(sending)
  for (const client of clients) client.close()
  context.diagnostic(`${statuses.length} were answered; it stopped in ${took.toFixed(0)} ms`)
  assert.equal(code, 0)
  assert.deepEqual(new Set(statuses), new Set([200, 201]))
  // The next request of each needed a new connection, and there are none.
  assert.deepEqual(ends, new Array(60).fill('ECONNREFUSED'))
})

test('OPS-2: a request whose body is still arriving is answered', async () => {
  const server = await start()
  const body = JSON.stringify(folderNamed('in two halves'))
  const head = [
    'POST /v1/folders HTTP/1.1',
    'Host: diary',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    // 100 says that a worker has begun it.
    'Expect: 100-continue',
  ]
  let stopped: ReturnType<typeof stop> | undefined
  const { answers, closed } = await sendRaw(server.origin, `${head.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`, {
    patience: 60_000,
    async afterwards(socket) {
      await once(socket, 'data')
      stopped = stop(server)
      await stopping(server)
      // Its workers hear of it a moment later.
      await sleep(200)
      socket.write(body.slice(10))
    },
  })
  assert.deepEqual(
    answers.map(({ status }) => status),
    [100, 201],
  )
  assert.equal(answers[1]?.headers.connection, 'close')
  assert.equal(closed, true)
  assert.equal((await stopped)?.code, 0)
})

test('OPS-2: idle connections, silent connections and HTTP/2 connections do not delay the stop', async () => {
  const server = await start(['--metrics-port', '0'])
  const { port } = new URL(server.origin)
  const silent = connect(Number(port), '127.0.0.1').on('error', () => {})
  const idle = connectSession(server.origin, { rejectUnauthorized: false }).on('error', () => {})
  const session = connectSession(server.origin, { rejectUnauthorized: false }).on('error', () => {})
  const headers = { ':method': 'POST', ':path': '/v1/folders', authorization: `Bearer ${key}` }
  const ask = (name: string) => {
    const stream = session.request({ ...headers, 'content-type': 'application/json' })
    stream.end(JSON.stringify(folderNamed(name)))
    const status = new Promise((resolve) => stream.on('response', (answer) => resolve(answer[':status'])))
    stream.resume()
    return status
  }
  assert.equal(await ask('before'), 201)
  const release = holdLock()
  const last = ask('meanwhile')
  await running(server, 1)
  const stopped = stop(server)
  await stopping(server)
  release()
  assert.equal(await last, 201)
  const { code, took } = await stopped
  assert.equal(code, 0)
  assertFast(took, 2_000)
  assert.equal(server.log.at(-1), 'stopped')
  for (const connection of [silent, idle, session]) connection.destroy()
})

test('OPS-2: a second SIGTERM ends the process at once', async () => {
  const server = await start(['--http', '--metrics-port', '0'])
  const release = holdLock()
  const client = clientOf(server.origin, key)
  const lost = assert.rejects(client.send('POST', '/v1/folders', { body: folderNamed('lost') }), isConnectionLost)
  await running(server, 1)
  server.child.kill('SIGTERM')
  await stopping(server)
  assert.equal(server.child.exitCode, null)
  const { code, took } = await stop(server)
  assert.equal(code, 1)
  assertFast(took, 1_000)
  await lost
  release()
})

test('OPS-2: a server that is stopped as soon as it prints its address stops cleanly', async () => {
  const { code } = await stop(await start())
  assert.equal(code, 0)
})

/** What a user preloads to trace: the least of an SDK, with a timer that would keep any thread for ever. */
const telemetry = `
  const span = { isRecording: () => false, end() {} }
  const sdk = { forceFlush: () => new Promise((resolve) => setTimeout(() => resolve(console.error('spans sent')), 100)) }
  const trace = { getTracer: () => ({ startSpan: () => span }), getDelegate: () => sdk }
  globalThis[Symbol.for('opentelemetry.js.api.1')] = { version: '1.9.0', trace }
  setInterval(() => {}, 1_000)`

test('OPS-2: spans are sent before the process ends, and modules that are preloaded into its threads do not delay the end', async () => {
  writeFileSync(join(folder, 'telemetry.mjs'), telemetry)
  const server = await start(['--http'], { NODE_OPTIONS: `--import ${join(folder, 'telemetry.mjs')}` })
  const client = clientOf(server.origin, key)
  // Long work has a thread of its own.
  const asked = await client.send('POST', '/v1/exports', { body: { collection: 'folders', format: 'json' } })
  assert.equal(asked.status, 202)
  const isOver = async () => (await client.send('GET', asked.json.status_url)).json.status === 'succeeded'
  while (!(await isOver())) await sleep(20)
  client.close()
  const { code, took } = await stop(server)
  assert.equal(code, 0)
  assertFast(took, 3_000)
  assert.match(server.errors.join(''), /spans sent/)
})
