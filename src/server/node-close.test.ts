import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectSession } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendRaw } from '../../test/raw-client.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { createNodeServer } from './node.ts'
import { localCertificate } from './tls.ts'

const folder = await mkdtemp(join(tmpdir(), 'resourced-close-'))
after(() => rm(folder, { recursive: true }))
const tls = await localCertificate(folder)

const megabytes = 'x'.repeat(8_000_000)
const problem = (): HttpResponse => ({ status: 500, headers: {}, body: 'problem' })
async function respond(request: HttpRequest): Promise<HttpResponse> {
  if (request.target === '/slow') await sleep(200)
  if (request.target === '/endless') await sleep(5000, undefined, { ref: false })
  return { status: 200, headers: {}, body: request.target === '/large' ? megabytes : 'done' }
}
const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`

async function timed(work: Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work
  return performance.now() - started
}

test('closing finishes what runs, tells its client so, and refuses new connections', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  const running = sendRaw(origin, get('/slow'))
  await sleep(50)
  const closing = server.close()
  const refused = await sendRaw(origin, get('/'))
  assert.deepEqual(refused.answers, [])
  const { answers, closed } = await running
  assert.equal(answers[0]!.body, 'done')
  assert.equal(answers[0]!.headers.connection, 'close')
  assert.equal(closed, true)
  await closing
})

test('closing does not wait for idle connections, nor for one that never spoke', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  const idle = sendRaw(origin, get('/'))
  const silent = sendRaw(origin, '')
  await sleep(50)
  assert.ok((await timed(server.close())) < 500)
  assert.equal((await idle).answers.length, 1)
  assert.equal((await silent).closed, true)
})

test('an answer that is still being written is written to its end', async () => {
  const server = createNodeServer({ respond, problem })
  const { port } = new URL(await server.listen('127.0.0.1', 0))
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(get('/large'))
  await sleep(100)
  const closing = server.close()
  let size = 0
  for await (const piece of socket) size += (piece as Buffer).length
  assert.ok(size > megabytes.length)
  await closing
})

test('at the deadline what is left is cut', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  const running = sendRaw(origin, get('/endless'))
  await sleep(50)
  const took = await timed(server.close(200))
  assert.ok(took >= 150 && took < 1500)
  assert.deepEqual((await running).answers, [])
})

test('closing twice, or before listening, is closing', async () => {
  const server = createNodeServer({ respond, problem })
  await server.close()
  const other = createNodeServer({ respond, problem })
  await other.listen('127.0.0.1', 0)
  await Promise.all([other.close(), other.close()])
})

test('a session of HTTP/2 is told to go away and its streams are finished', async () => {
  const server = createNodeServer({ respond, problem, tls })
  const origin = await server.listen('127.0.0.1', 0)
  const session = connectSession(origin, { ca: tls.cert })
  const idle = connectSession(origin, { ca: tls.cert })
  const away = new Promise<number>((resolve) => session.once('goaway', resolve))
  const stream = session.request({ ':path': '/slow' })
  await sleep(100)
  const closing = server.close()
  let body = ''
  for await (const piece of stream.setEncoding('utf8')) body += piece
  assert.equal(body, 'done')
  assert.equal(await away, 0)
  assert.ok((await timed(closing)) < 1000)
  idle.destroy()
})
