/** Several workers are one server: no request is lost, and nothing is counted twice (`serve --workers`). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Answer, clientOf, isConnectionLost, type Send } from './durability/client.ts'
import { createKey, type ServerProcess, startServer } from './durability/command.ts'
import { newDatabase } from './engine.ts'
import { statuses, until } from './races/servers.ts'
import { sendRaw } from './raw-client.ts'
import { openAnswer } from './wire/open-stream.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-workers-'))
const declaration = {
  name: 'workers',
  resources: { notes: { fields: { name: { type: 'string' } }, events: true } },
  limits: { rate: { caller: '200/hour', address: '50/hour' }, events: { streams: 3 } },
}
const started: ServerProcess[] = []
const ends: (() => void)[] = []
const { address } = await newDatabase()
let key: string
before(() => {
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  key = createKey(folder, address)
})
after(async () => {
  for (const end of ends) end()
  for (const { child, workerIds } of started) {
    for (const id of [child.pid as number, ...workerIds.values()]) if (isRunning(id)) process.kill(id, 'SIGKILL')
  }
  await Promise.all(started.map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

async function start(workers: string, options: readonly string[] = [], variables = {}): Promise<ServerProcess> {
  const server = await startServer(folder, ['--http', '--workers', workers, ...options], variables, address)
  started.push(server)
  const others = Number(workers) - 1
  if (others > 0) await until(async () => server.workerIds.size >= others)
  return server
}

/** Clients with a connection each. Workers get connections in turn, so there are several to each of them. */
function clients({ origin }: ServerProcess, number: number, credential = key): Send[] {
  return Array.from({ length: number }, () => {
    const { send, close } = clientOf(origin, credential)
    ends.push(close)
    return send
  })
}

async function stop(server: ServerProcess): Promise<void> {
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0, server.errors.join(''))
  assert.deepEqual(server.log.slice(-2), ['stopping', 'stopped'])
}

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch {
    return false
  }
}

/** A request of each client. */
const each = (senders: readonly Send[], ...given: Parameters<Send>): Promise<Answer[]> =>
  Promise.all(senders.map((send) => send(...given)))

/** The value of a metric without labels. */
async function metric({ metrics }: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(metrics as string)).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1])
}

test('LIM-1: of many requests to four workers exactly as many succeed as the rate allows', async () => {
  const server = await start('4', ['--rate-limit', 'declared'])
  const senders = clients(server, 16)
  const answers: Answer[] = []
  for (let round = 0; round < 25; round++) answers.push(...(await each(senders, 'GET', '/v1/notes?limit=1')))
  assert.deepEqual(statuses(answers), { 200: 200, 429: 200 })
  for (const { status, headers } of answers) {
    const [, left, until] = /^"caller";r=(\d+);t=(\d+)$/.exec(String(headers.ratelimit)) ?? []
    assert.ok(Number(left) < 200 && Number(until) <= 3_600, String(headers.ratelimit))
    if (status === 429) assert.deepEqual([left, headers['retry-after']], ['0', until])
  }
  // Failed authentications count by address, whichever worker gets them.
  const strangers = clients(server, 16, 'none')
  const failed: Answer[] = []
  for (let round = 0; round < 8; round++) failed.push(...(await each(strangers, 'GET', '/v1/notes')))
  assert.deepEqual(statuses(failed), { 401: 50, 429: 78 })
  await stop(server)
})

test('LIM-1: no request waits for the lease of a worker that hangs', async () => {
  const server = await start('2', ['--rate-limit', 'declared'])
  const [first, second] = clients(server, 2)
  // Both workers hold leases now.
  for (let round = 0; round < 4; round++) await each([first!, second!], 'GET', '/v1/notes?limit=1')
  const id = server.workerIds.get(2) as number
  process.kill(id, 'SIGSTOP')
  try {
    // One of the two clients is connected to the worker that hangs.
    const answered = [first!, second!].map((send) => send('GET', '/v1/notes?limit=1').then(() => send))
    const working = await Promise.any(answered)
    const answers: Answer[] = []
    for (let round = 0; round < 200; round++) answers.push(await working('GET', '/v1/notes?limit=1'))
    assert.deepEqual(new Set(Object.keys(statuses(answers))), new Set(['200', '429']))
  } finally {
    process.kill(id, 'SIGCONT')
  }
  await stop(server)
})

test('EVT-7: the workers of a server count the streams of a caller together, and those of a worker that ends no more', async () => {
  const server = await start('2')
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}` }
  const open = async () => {
    const answer = await openAnswer(server.origin, '/v1/events', 'HTTP/1.1', { headers })
    ends.push(answer.leave)
    return answer
  }
  // Workers get connections in turn, so both have streams.
  const streams = [await open(), await open(), await open(), await open(), await open()]
  assert.deepEqual(
    streams.map(({ status }) => status),
    [200, 200, 200, 429, 429],
  )
  streams[0]?.leave()
  const mayOpen = () =>
    open().then(
      ({ status }) => status === 200,
      () => false,
    )
  await until(mayOpen)
  assert.deepEqual([await mayOpen(), await mayOpen()], [false, false])
  process.kill(server.workerIds.get(2) as number, 'SIGKILL')
  await until(mayOpen)
  await stop(server)
})

test('AUT-2: a key that is revoked on one worker is refused by every worker at once', async () => {
  const server = await start('4')
  const [admin] = clients(server, 1)
  for (let round = 0; round < 10; round++) {
    const made = await admin!('POST', '/v1/api-keys', { body: { subject: 'guest', roles: ['admin'] } })
    const senders = clients(server, 8, made.json.key)
    assert.deepEqual(statuses(await each(senders, 'GET', '/v1/notes')), { 200: 8 })
    assert.equal((await admin!('DELETE', `/v1/api-keys/${made.json.id}`)).status, 204)
    assert.deepEqual(statuses(await each(senders, 'GET', '/v1/notes')), { 401: 8 })
  }
  await stop(server)
})

test('a client reads its own writes, whichever workers it uses, and a repeated POST is made once', async () => {
  const server = await start('4')
  const senders = clients(server, 8)
  for (let round = 0; round < 50; round++) {
    const made = await senders[round % 8]!('POST', '/v1/notes', { body: { name: `note ${round}` } })
    const [first, ...others] = await each(senders, 'GET', `/v1/notes/${made.json.id}`)
    assert.equal(first?.status, 200)
    for (const other of others) assert.deepEqual(other.json, first?.json)
    const totals = (await each(senders, 'GET', '/v1/notes?limit=1')).map(({ json }) => json.pagination.total_count)
    assert.deepEqual(new Set(totals), new Set([round + 1]))
  }
  const headers = { 'idempotency-key': '"once"' }
  const answers = await each(senders, 'POST', '/v1/notes', { body: { name: 'once' }, headers })
  const found = await senders[0]!('GET', '/v1/notes?limit=1')
  assert.equal(found.json.pagination.total_count, 51)
  for (const { status, json } of answers)
    assert.ok(status === 201 || json.code === 'IDEMPOTENCY_KEY_IN_USE', status + json.code)
  await stop(server)
})

/** Clients that ask again and again until they are told to stop, and what came of their requests. */
function traffic(server: ServerProcess, number: number) {
  const counts = { answered: 0, written: 0 }
  const failures: unknown[] = []
  let isOver = false
  const work = Promise.all(
    clients(server, number).map(async (send, client) => {
      for (let turn = 0; !isOver; turn++) {
        // Some ask at once again, others after a pause.
        await sleep((client % 4) * 15)
        const isWrite = turn % 3 === 0
        // Some open a connection for each request.
        const headers: Record<string, string> = client % 4 === 0 ? { connection: 'close' } : {}
        try {
          const { status } = await (isWrite
            ? send('POST', '/v1/notes', { body: { name: `traffic ${client} ${turn}` }, headers })
            : send('GET', '/v1/notes?limit=1', { headers }))
          assert.equal(status, isWrite ? 201 : 200)
          counts.answered++
          if (isWrite) counts.written++
        } catch (error) {
          failures.push(error)
        }
      }
    }),
  )
  return {
    counts,
    failures,
    async end() {
      isOver = true
      await work
    },
  }
}

const more = (counts: { answered: number }, number: number) => {
  const enough = counts.answered + number
  return until(async () => counts.answered >= enough)
}

test('OPS-2: no request is lost while workers are replaced under load', async (context) => {
  const server = await start('2')
  const before = (await clients(server, 1)[0]!('GET', '/v1/notes?limit=1')).json.pagination.total_count
  const { counts, failures, end } = traffic(server, 12)
  await more(counts, 100)
  for (let round = 0; round < 2; round++) {
    const ids = [...server.workerIds.values()]
    // Every worker is replaced, one after the other.
    server.child.kill('SIGHUP')
    await until(
      async () => server.workerIds.size === 2 && [...server.workerIds.values()].every((id) => !ids.includes(id)),
    )
    await more(counts, 100)
    // A worker that is asked to end is replaced too.
    const id = server.workerIds.get(2) as number
    process.kill(id, 'SIGTERM')
    await until(async () => server.workerIds.get(2) !== id && !isRunning(id))
  }
  await more(counts, 100)
  await end()
  assert.deepEqual(failures, [])
  const found = await clients(server, 1)[0]!('GET', '/v1/notes?limit=1')
  assert.equal(found.json.pagination.total_count, before + counts.written)
  context.diagnostic(`${counts.answered} requests were answered`)
  await stop(server)
})

test('a worker that is killed loses the requests that it has, and no other; another takes its place', async (context) => {
  const server = await start('3', ['--metrics-port', '0'])
  const { counts, failures, end } = traffic(server, 12)
  let last = 0
  for (let round = 0; round < 3; round++) {
    await more(counts, 100)
    const seen = await metric(server, 'resourced_commits_total')
    assert.ok(seen >= last, 'a counter never falls')
    last = seen
    const id = server.workerIds.get(2 + (round % 2)) as number
    process.kill(id, 'SIGKILL')
    await until(async () => server.workerIds.get(2 + (round % 2)) !== id)
  }
  await more(counts, 100)
  assert.ok((await metric(server, 'resourced_commits_total')) >= last)
  assert.equal(await metric(server, 'resourced_workers'), 3)
  const headers = { authorization: `Bearer ${key}` }
  const own = await (await fetch(`${server.origin}/health/metrics`, { headers })).text()
  assert.match(own, /^resourced_workers 3$/m)
  await end()
  // Every worker has at most as many requests as there are clients.
  assert.ok(failures.length <= 36, `${failures.length} failed`)
  for (const failure of failures) assert.ok(isConnectionLost(failure), String(failure))
  context.diagnostic(`${counts.answered} requests were answered, ${failures.length} lost`)
  await stop(server)
})

test('if the supervisor is killed, workers answer what they have and end, and leave the port', async () => {
  const server = await start('3')
  const ids = [...server.workerIds.values()]
  assert.equal(ids.length, 2)
  const { port } = new URL(server.origin)
  const body = JSON.stringify({ name: 'in two halves' })
  const head = `POST /v1/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
  // 100 says that a worker has begun a request.
  const begun: Promise<unknown>[] = []
  const halves = await Promise.all(
    [1, 2, 3].map(() =>
      sendRaw(server.origin, head + body.slice(0, 5), {
        patience: 60_000,
        async afterwards(socket) {
          begun.push(once(socket, 'data'))
          // The other two begin in this turn.
          await nextTurn()
          await Promise.all(begun)
          const id = server.child.pid as number
          if (isRunning(id)) process.kill(id, 'SIGKILL')
          await until(async () => !isRunning(id))
          socket.write(body.slice(5))
        },
      }),
    ),
  )
  for (const { answers, closed } of halves) {
    assert.deepEqual([...answers.map(({ status }) => status), closed], [100, 201, true])
  }
  await until(async () => !ids.some(isRunning))
  await stop(await start('2', ['--port', port]))
})

test('OPS-2: a signal to all processes of a server stops it as one to the supervisor does', async () => {
  const server = await start('3')
  const ids = [...server.workerIds.values()]
  for (const id of ids) process.kill(id, 'SIGTERM')
  await stop(server)
  assert.deepEqual([...server.workerIds.values()], ids, 'no worker was replaced')
  assert.equal(server.child.signalCode, null)
})

test('the log is one stream of whole lines, however long they are', async () => {
  const server = await start('4')
  const senders = clients(server, 8)
  let lines = 0
  server.child.stdout?.on('data', (piece) => {
    lines += String(piece).split('x'.repeat(6_000)).length - 1
  })
  // `startServer` parses every line.
  for (let round = 0; round < 40; round++) await each(senders, 'GET', `/v1/${'x'.repeat(6_000)}/${round}`)
  await stop(server)
  assert.ok(lines > 0)
  assert.deepEqual(server.log, ['listening', 'stopping', 'stopped'])
  assert.equal(server.errors.join('').match(/is served at/g)?.length, 1)
})

test('if workers end again and again, the server ends too, and says so', async () => {
  const preload = join(folder, 'failing.mjs')
  writeFileSync(preload, 'if (process.env.RESOURCED_WORKER) setTimeout(() => process.exit(7), 2_000)')
  const server = await startServer(
    folder,
    ['--http', '--workers', '2'],
    { NODE_OPTIONS: `--import ${preload}` },
    address,
  )
  started.push(server)
  assert.equal(await server.ended, 1)
  assert.match(server.errors.join(''), /5 workers ended shortly after their start\. .*--workers 1/)
})

for (const [name, fails] of [
  // As Node.js does when it gets EMFILE.
  ['emits', "process.nextTick(() => this.emit('error', new Error('spawn EMFILE')))"],
  ['throws', "throw new Error('spawn ENOMEM')"],
] as const) {
  test(`a worker that cannot be started now is started later: Node.js ${name} the error`, async () => {
    const preload = join(folder, `${name}.mjs`)
    const failing = `const { ChildProcess } = await import('node:child_process')
    const { spawn } = ChildProcess.prototype
    process.on('SIGUSR2', () => {
      ChildProcess.prototype.spawn = function () {
        ChildProcess.prototype.spawn = spawn
        ${fails}
      }
    })`
    writeFileSync(preload, `if (!process.env.RESOURCED_WORKER) { ${failing} }`)
    const server = await start('2', [], { NODE_OPTIONS: `--import ${preload}` })
    const replaced = async (signal: () => void) => {
      const id = server.workerIds.get(2) as number
      server.child.kill('SIGUSR2')
      await sleep(200)
      signal()
      return id
    }
    const killed = await replaced(() => process.kill(server.workerIds.get(2) as number, 'SIGKILL'))
    await until(async () => server.workerIds.get(2) !== killed)
    // The first replacement fails, so all workers stay. A later signal replaces them.
    const kept = await replaced(() => server.child.kill('SIGHUP'))
    await sleep(200)
    assert.equal(server.workerIds.get(2), kept)
    server.child.kill('SIGHUP')
    await until(async () => server.workerIds.get(2) !== kept && !isRunning(kept))
    await stop(server)
  })
}

test('a debugger reaches each process of a server on a port of its own, also after a worker was replaced', async () => {
  const server = await start('3', [], { NODE_OPTIONS: '--inspect=127.0.0.1:0' })
  // The port of a worker may belong to another program: Node.js says so, and the worker serves.
  const ports = () => [...server.errors.join('').matchAll(/^(?:Debugger|Starting) .*127\.0\.0\.1:(\d+)/gm)]
  const [, first] = ports()[0] as unknown as [string, string]
  const numbers = () => ports().map(([, port]) => Number(port) - Number(first))
  await until(async () => numbers().length >= 4)
  assert.deepEqual(numbers().toSorted(), [0, 1, 2, 3])
  assert.match(server.errors.join(''), new RegExp(`supervisor on port ${first}, and each worker on a port of its own`))
  const id = server.workerIds.get(2) as number
  process.kill(id, 'SIGTERM')
  await until(async () => server.workerIds.get(2) !== id)
  assert.deepEqual(numbers().toSorted(), [0, 1, 2, 3, 4])
  await stop(server)
})

/** Makes the second worker of a server hang while a connection is under way to it. */
async function withHangingWorker(server: ServerProcess) {
  const id = server.workerIds.get(2) as number
  process.kill(id, 'SIGSTOP')
  const lost = Promise.allSettled(clients(server, 4).map((send) => send('GET', '/v1/notes?limit=1')))
  await sleep(200)
  return { server, id, lost }
}

test('OPS-2: a worker that hangs is killed when the server stops, and when the worker is replaced', async () => {
  // Both have started before a worker hangs: it may hold the lock of the database, for which a start waits.
  const [one, other] = await Promise.all([start('2'), start('2')])
  const [replaced, stopped] = await Promise.all([withHangingWorker(one), withHangingWorker(other)])
  replaced.server.child.kill('SIGHUP')
  stopped.server.child.kill('SIGTERM')
  assert.equal(await stopped.server.ended, 1)
  assert.equal(isRunning(stopped.id), false)
  await until(async () => !isRunning(replaced.id) && replaced.server.workerIds.get(2) !== replaced.id)
  await stop(replaced.server)
  await Promise.all([replaced.lost, stopped.lost])
})

test('a first worker that cannot start explains why, and its exit code is that of the server', async () => {
  const failing = async (options: readonly string[]) => {
    const server = await startServer(folder, ['--http', '--workers', '2', ...options], {}, address).catch(String)
    assert.ok(typeof server === 'string', 'it has started')
    return server
  }
  assert.match(await failing(['--cors-origin', '*', '--cors-credentials']), /ended with [12]: .*\*/)
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  assert.match(await failing(['--port', String(port)]), new RegExp(`ended with 1: Port ${port} is in use`))
  assert.match(await failing(['--metrics-port', String(port)]), /ended with 1: Metrics cannot be served/)
  taken.close()
})

test('a number of workers that cannot be is refused', async () => {
  for (const number of ['0', '-1', '2.5', 'many', '', '5000']) {
    await assert.rejects(start(number), /ended with 2: --workers takes a number from 1 to 1024, or auto, not/)
  }
  const inMemory = startServer(folder, ['--http', '--workers', '2'], {}, 'sqlite::memory:')
  await assert.rejects(inMemory, /ended with 2: A database in memory belongs to one process/)
})

test('LIM-1: workers that are replaced give back what they hold of a rate', async () => {
  const server = await start('2', ['--rate-limit', 'declared'])
  const before = [...server.workerIds.values()]
  const first = await Promise.all(clients(server, 4).map((send) => send('GET', '/v1/notes?limit=1')))
  assert.deepEqual(statuses(first), { 200: 4 })
  server.child.kill('SIGHUP')
  await until(
    async () =>
      server.workerIds.size === 2 &&
      [...server.workerIds.values(), ...before].every((id) => isRunning(id) !== before.includes(id)),
  )
  const senders = clients(server, 4)
  const answers: Answer[] = []
  for (let round = 0; round < 60; round++) answers.push(...(await each(senders, 'GET', '/v1/notes?limit=1')))
  assert.deepEqual(statuses(answers), { 200: 196, 429: 44 })
  await stop(server)
})
