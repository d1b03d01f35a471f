/** Several threads are one server: no request is lost, and nothing is counted twice (`serve --workers`). */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, clientOf, isConnectionLost, type Send, sendAgain } from './durability/client.ts'
import { createKey, type ServerProcess, startServer } from './durability/command.ts'
import { newDatabase } from './engine.ts'
import { statuses } from './races/servers.ts'
import { failThread, hangFile, withThreadFaults } from './thread-faults.ts'
import { until } from './until.ts'
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
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

async function start(workers: string, options: readonly string[] = [], variables = {}): Promise<ServerProcess> {
  const environment = { ...withThreadFaults(folder), ...variables }
  const server = await startServer(folder, ['--http', '--workers', workers, ...options], environment, address)
  started.push(server)
  const others = Number(workers) - 1
  if (others > 0) await until(async () => server.workerIds.size >= others)
  return server
}

/** Clients with a connection each. The system gives connections to threads, so that there are some to each of them. */
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

/** Whichever of two threads answers a client: both have some of so many. */
const many = 12

test('LIM-1: no request waits for a thread that hangs', async () => {
  const server = await start('2', ['--rate-limit', 'declared'])
  const senders = clients(server, many)
  await each(senders, 'GET', '/v1/notes?limit=1')
  failThread(server, folder, { thread: 2, how: { hang: 25_000 } })
  await until(async () => existsSync(hangFile(server, folder)))
  const asked = senders.map((send) => send('GET', '/v1/notes?limit=1').then(() => send))
  const working = await Promise.any(asked)
  const answers: Answer[] = []
  for (let round = 0; round < 200; round++) answers.push(await working('GET', '/v1/notes?limit=1'))
  assert.deepEqual(new Set(Object.keys(statuses(answers))), new Set(['200', '429']))
  assert.equal(await Promise.race([Promise.all(asked).then(() => 'all'), sleep(10, 'some')]), 'some')
  rmSync(hangFile(server, folder))
  await Promise.all(asked)
  await stop(server)
})

test('EVT-7: the threads of a server count the streams of a caller together, and those of a thread that ends no more', async () => {
  const server = await start('2')
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}` }
  const open = async () => {
    const answer = await openAnswer(server.origin, '/v1/events', 'HTTP/1.1', { headers })
    ends.push(answer.leave)
    return answer
  }
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
  // All streams may be of the same thread.
  const before = server.workerIds.get(2)
  failThread(server, folder, { thread: 2, how: 'exit' })
  await until(async () => server.workerIds.get(2) !== before)
  const first = server.workerIds.get(1)
  failThread(server, folder, { thread: 1, how: 'exit' })
  // A thread that ends while the server stops is a failure.
  await until(async () => server.workerIds.get(1) !== first)
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

/**
 * Clients that ask again and again until they are told to stop, and what came of their requests. New connections may be
 * reset if `canReset`: no thread had accepted them when the thread that they were for stopped to listen.
 */
function traffic(server: ServerProcess, number: number, refusals: readonly number[] = [], canReset = false) {
  const counts = { answered: 0, written: 0, reset: 0 }
  const failures: unknown[] = []
  /** The statuses of changes that were refused. */
  const refused: number[] = []
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
          if (isWrite && refusals.includes(status)) {
            refused.push(status)
            continue
          }
          assert.equal(status, isWrite ? 201 : 200)
          counts.answered++
          if (isWrite) counts.written++
        } catch (error) {
          if (canReset && (error as { isNewConnection?: boolean }).isNewConnection) counts.reset++
          else failures.push(error)
        }
      }
    }),
  )
  return {
    counts,
    failures,
    refused,
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

test('OPS-2: no request is lost while threads are replaced under load', async (context) => {
  const server = await start('2')
  const before = (await clients(server, 1)[0]!('GET', '/v1/notes?limit=1')).json.pagination.total_count
  const { counts, failures, end } = traffic(server, 12, [], true)
  await more(counts, 100)
  for (let round = 0; round < 3; round++) {
    const ids = [...server.workerIds.values()]
    server.child.kill('SIGHUP')
    await until(
      async () => server.workerIds.size === 2 && [...server.workerIds.values()].every((id) => !ids.includes(id)),
    )
    await more(counts, 100)
  }
  await end()
  assert.deepEqual(failures, [])
  const found = await clients(server, 1)[0]!('GET', '/v1/notes?limit=1')
  assert.equal(found.json.pagination.total_count, before + counts.written)
  context.diagnostic(`${counts.answered} requests were answered, ${counts.reset} connections reset`)
  await stop(server)
})

test('a thread that ends loses the requests that it has, and no other; another takes its place', async (context) => {
  const server = await start('3', ['--metrics-port', '0'])
  const { counts, failures, end } = traffic(server, 12)
  let last = 0
  for (let round = 0; round < 3; round++) {
    await more(counts, 100)
    const seen = await metric(server, 'resourced_commits_total')
    assert.ok(seen >= last, 'a counter never falls')
    last = seen
    const id = server.workerIds.get(2 + (round % 2)) as number
    failThread(server, folder, { thread: 2 + (round % 2), how: round === 1 ? 'throw' : 'exit' })
    await until(async () => server.workerIds.get(2 + (round % 2)) !== id)
  }
  await more(counts, 100)
  assert.ok((await metric(server, 'resourced_commits_total')) >= last)
  assert.equal(await metric(server, 'resourced_workers'), 3)
  const headers = { authorization: `Bearer ${key}` }
  const own = await (await fetch(`${server.origin}/health/metrics`, { headers })).text()
  assert.match(own, /^resourced_workers 3$/m)
  await end()
  // Each thread has at most as many requests as there are clients.
  assert.ok(failures.length <= 36, `${failures.length} failed`)
  for (const failure of failures) assert.ok(isConnectionLost(failure), String(failure))
  context.diagnostic(`${counts.answered} requests were answered, ${failures.length} lost`)
  await stop(server)
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

test('the thread that writes is replaced: a change is made once or refused, and none is made by halves', async (context) => {
  const server = await start('2')
  const [reader] = clients(server, 1)
  const before = (await reader!('GET', '/v1/notes?limit=1')).json.pagination.total_count
  const { counts, failures, refused, end } = traffic(server, 12, [502, 503])
  for (const how of ['exit', 'throw', 'exit'] as const) {
    await more(counts, 100)
    const lost = server.lost.length
    failThread(server, folder, { thread: 0, how })
    await until(async () => server.lost.length > lost)
    await until(async () => (await reader!('POST', '/v1/notes', { body: { name: 'again' } })).status === 201)
    counts.written++
  }
  await more(counts, 100)
  await end()
  assert.deepEqual(failures, [])
  const { total_count } = (await reader!('GET', '/v1/notes?limit=1')).json.pagination
  // Only of a commit whose answer was lost is it not known whether it was made.
  const made = total_count - before
  assert.ok(made >= counts.written && made <= counts.written + refused.filter((status) => status === 502).length)
  context.diagnostic(`${counts.answered} requests were answered, ${refused.length} refused`)
  await stop(server)
})

test('if threads end again and again, the server ends too, and says so', async () => {
  const preload = join(folder, 'failing.mjs')
  // Soon after it serves, however long its start takes.
  const failing = `import { Server } from 'node:net'
    import { workerData } from 'node:worker_threads'
    const { listen } = Server.prototype
    if (workerData?.place) {
      Server.prototype.listen = function (...given) {
        this.once('listening', () => setTimeout(() => process.exit(7), 1_000))
        return listen.apply(this, given)
      }
    }`
  writeFileSync(preload, failing)
  const options = { NODE_OPTIONS: `--import ${preload}` }
  const server = await startServer(folder, ['--http', '--workers', '2'], options, address)
  started.push(server)
  assert.equal(await server.ended, 1)
  assert.match(server.errors.join(''), /5 threads ended shortly after their start\./)
})

test('a declaration that is wrong now leaves the threads that serve, and a later one is served', async () => {
  const server = await start('2')
  const file = join(folder, 'diary.json')
  const ids = [...server.workerIds.values()]
  try {
    writeFileSync(file, '{ "name": "workers", "resources": 1 }')
    server.child.kill('SIGHUP')
    await until(async () => server.errors.join('').includes('must be an object'))
    assert.deepEqual([...server.workerIds.values()], ids)
    assert.equal((await clients(server, 1)[0]!('GET', '/v1/notes?limit=1')).status, 200)
  } finally {
    writeFileSync(file, JSON.stringify(declaration))
  }
  server.child.kill('SIGHUP')
  await until(async () => [...server.workerIds.values()].every((id) => !ids.includes(id)))
  await stop(server)
})

test('OPS-2: a thread that hangs is ended when the server stops, and when the threads are replaced', async () => {
  const [replaced, stopped] = await Promise.all([start('2'), start('2')])
  const id = replaced.workerIds.get(2)
  for (const server of [replaced, stopped]) failThread(server, folder, { thread: 2, how: { hang: 60_000 } })
  for (const server of [replaced, stopped]) await until(async () => existsSync(hangFile(server, folder)))
  replaced.child.kill('SIGHUP')
  stopped.child.kill('SIGTERM')
  assert.equal(await stopped.ended, 1)
  await until(async () => replaced.workerIds.get(2) !== id && replaced.lost.length > 0)
  await stop(replaced)
})

test('a server that cannot start explains why, and its exit code is that of the server', async () => {
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
  await assert.rejects(inMemory, /ended with 2: A database in memory belongs to one thread/)
})

test('LIM-1: what was counted stays counted when threads are replaced', async () => {
  const server = await start('2', ['--rate-limit', 'declared'])
  const before = [...server.workerIds.values()]
  const first = await Promise.all(clients(server, 4).map((send) => send('GET', '/v1/notes?limit=1')))
  assert.deepEqual(statuses(first), { 200: 4 })
  server.child.kill('SIGHUP')
  await until(async () => [...server.workerIds.values()].every((id) => !before.includes(id)))
  const senders = clients(server, 4).map(sendAgain)
  const answers: Answer[] = []
  for (let round = 0; round < 60; round++) answers.push(...(await each(senders, 'GET', '/v1/notes?limit=1')))
  assert.deepEqual(statuses(answers), { 200: 196, 429: 44 })
  await stop(server)
})
