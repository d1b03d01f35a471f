/** A client that disconnects while its read runs: its statement is cancelled, and no other. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { localCertificate } from '../../packages/server/src/server/node/certificates.ts'
import { createNodeServer } from '../../packages/server/src/server/node/listener.ts'
import { until } from '../until.ts'
import { temporaryFolder } from './account.ts'
import { databaseFor, whyNoDatabase } from './database.ts'
import { query } from './query.ts'
import { type Served, servedFor } from './served.ts'

const skip = whyNoDatabase ?? false

interface Listening extends Served {
  readonly url: string
  readonly port: number
  readonly ca: string | undefined
}

async function listening(context: TestContext, secure = false): Promise<Listening> {
  const url = await databaseFor(context)
  const served = await servedFor(context, { url, poolSize: 10 })
  const folder = mkdtempSync(join(temporaryFolder(), 'resourced-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const { cert, key } = await localCertificate(folder)
  // As if it had come by HTTPS.
  const respond: Served['app']['respond'] = (request) => served.app.respond({ ...request, secure: true })
  const server = createNodeServer({ respond, problem: served.app.refuse, tls: secure ? { cert, key } : undefined })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(500))
  return { ...served, url, port: Number(new URL(origin).port), ca: secure ? cert : undefined }
}

async function lockNotes(context: TestContext, url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let ended: Promise<void> | undefined
  const unlock = () => {
    ended ??= client.end()
    return ended
  }
  context.after(unlock)
  await client.query('begin; lock table notes in access exclusive mode')
  return unlock
}

/** Waits until so many statements of the server wait for the lock, and says for how long. */
async function untilWaiting(url: string, number: number): Promise<number> {
  const began = performance.now()
  for (;;) {
    const waiting = await query(
      url,
      "select 1 from pg_stat_activity where application_name = 'resourced' and wait_event_type = 'Lock' and datname = current_database()",
    )
    if (waiting.length === number) return performance.now() - began
    assert.ok(performance.now() - began < 25_000, `${waiting.length} wait instead of ${number}`)
    await sleep(10)
  }
}

function ask({ port, key }: Listening, path = '/v1/notes?title=first'): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  return socket
}

const leaving: Readonly<Record<string, (socket: Socket) => void>> = {
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'closes the connection': (socket) => socket.destroy(),
}

for (const [way, leave] of Object.entries(leaving)) {
  test(`if a client ${way}, its read is cancelled, and no failure is logged`, {
    skip,
  }, async (context) => {
    const served = await listening(context)
    await served.send('POST', '/v1/notes', { title: 'first' })
    const unlock = await lockNotes(context, served.url)
    const sockets = [ask(served), ask(served, '/v1/notes?title=other'), ask(served, '/v1/notes?title=third')]
    await untilWaiting(served.url, 3)
    for (const socket of sockets) leave(socket)
    // Left alone they would wait for thirty seconds.
    assert.ok((await untilWaiting(served.url, 0)) < 10_000)
    await unlock()
    // Its connections are of use again.
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => served.send('GET', '/v1/notes')))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.deepEqual(
      served.seen.filter(({ kind }) => kind === 'failure'),
      [],
    )
  })
}

test('a client that only closed its side gets its response, however late', { skip }, async (context) => {
  const served = await listening(context)
  await served.send('POST', '/v1/notes', { title: 'first' })
  const unlock = await lockNotes(context, served.url)
  const socket = ask(served)
  let heard = ''
  socket.on('data', (data) => {
    heard += data
  })
  await untilWaiting(served.url, 1)
  socket.end()
  await until(() => heard.includes('102 Processing'))
  await untilWaiting(served.url, 1)
  await unlock()
  while (!heard.includes('"first"')) await sleep(10)
  assert.match(heard, /^(HTTP\/1\.1 102 Processing\r\n\r\n)+HTTP\/1\.1 200 OK\r\n/)
  socket.destroy()
})

test('on HTTP/2, a stream that is reset is cancelled, and the others of its connection continue', {
  skip,
}, async (context) => {
  const served = await listening(context, true)
  await served.send('POST', '/v1/notes', { title: 'first' })
  const unlock = await lockNotes(context, served.url)
  const session = connectHttp2(`https://127.0.0.1:${served.port}`, { rejectUnauthorized: false })
  context.after(() => session.destroy())
  const request = () => session.request({ ':path': '/v1/notes?title=first', authorization: `Bearer ${served.key}` })
  const [left, kept] = [request(), request()]
  left.on('error', () => {})
  const status = new Promise((resolve) => kept.on('response', (headers) => resolve(headers[':status'])))
  await untilWaiting(served.url, 2)
  left.close(8)
  await untilWaiting(served.url, 1)
  await unlock()
  assert.equal(await status, 200)
})

test('a change continues after its client has disconnected', { skip }, async (context) => {
  const served = await listening(context)
  const { json } = await served.send('POST', '/v1/notes', { title: 'first' })
  const unlock = await lockNotes(context, served.url)
  const socket = connect(served.port, '127.0.0.1').on('error', () => {})
  const head = `PATCH /v1/notes/${json.id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${served.key}`
  socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"number":5}`)
  await untilWaiting(served.url, 1)
  socket.destroy()
  await sleep(700)
  await untilWaiting(served.url, 1)
  await unlock()
  while ((await served.send('GET', `/v1/notes/${json.id}`)).json.number !== 5) await sleep(10)
})

test('many abandoned reads never cancel the statement of another client', { skip }, async (context) => {
  const served = await listening(context)
  await Promise.all(Array.from({ length: 50 }, (_, number) => served.send('POST', '/v1/notes', { title: 'a', number })))
  let going = true
  const statuses = new Map<number, number>()
  const others = Promise.all(
    Array.from({ length: 6 }, async () => {
      while (going) {
        const answers = [
          await served.send('GET', '/v1/notes?title=a&limit=50'),
          await served.send('POST', '/v1/notes', { title: 'b' }),
        ]
        for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }),
  )
  for (let round = 0; round < 150; round++) {
    const sockets = [1, 2, 3].map((number) => ask(served, `/v1/notes?title[contains]=a&offset=${number}&limit=50`))
    await sleep(Math.random() * 12)
    for (const socket of sockets) socket.resetAndDestroy()
  }
  going = false
  await others
  assert.deepEqual([...statuses.keys()].sort(), [200, 201])
  assert.ok((statuses.get(201) ?? 0) > 50)
})
