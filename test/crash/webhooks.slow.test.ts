/**
 * EVT-9: two servers that are killed under load, and a receiver that is killed and restarted at random, end with the
 * same state: `SECONDS=60 node --test test/crash/webhooks.slow.test.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { clientOf, isConnectionLost, type Send } from '../durability/client.ts'
import { createKey, type ServerProcess, startServer } from '../durability/command.ts'
import { newDatabase } from '../engine.ts'
import { endLeases } from '../events/leases.ts'
import { freePort } from '../postgres/free-port.ts'

const seconds = Number(process.env.SECONDS ?? 10)
const writers = 6
const folder = mkdtempSync(join(tmpdir(), 'resourced-webhooks-'))
const { address } = await newDatabase()
const started = new Set<ServerProcess>()
after(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all([...started].map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

const declaration = {
  name: 'counters',
  resources: {
    counters: { fields: { n: { type: 'integer' }, writer: { type: 'integer' } }, events: true },
  },
}

async function start(): Promise<ServerProcess> {
  const options = ['--http', '--webhook-network', '127.0.0.1/32', '--database-unsafe']
  const server = await startServer(folder, options, {}, address)
  started.add(server)
  return server
}

/** A receiver that mirrors the collection, and can be killed at any moment. What it has acknowledged, it keeps. */
class Mirror {
  readonly state = new Map<string, number>()
  readonly seen = new Set<string>()
  readonly mistakes: string[] = []
  received = 0
  kills = 0
  isWild = true
  secret = ''
  readonly url: string
  readonly #port: number
  #server: Server | undefined

  constructor(port: number) {
    this.#port = port
    this.url = `http://127.0.0.1:${port}/`
  }

  async begin(): Promise<void> {
    const server = createServer((request, response) => void this.#take(request, response).catch(() => {}))
    await new Promise<void>((done) => void server.listen(this.#port, '127.0.0.1', done))
    this.#server = server
  }

  async kill(): Promise<void> {
    this.kills++
    this.#server?.closeAllConnections()
    await new Promise<void>((done) => this.#server?.close(() => done()) ?? done())
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    this.received++
    new Webhook(this.secret).verify(text, request.headers as Record<string, string>)
    if (this.isWild && Math.random() < 0.05) return void response.writeHead(500).end()
    if (this.isWild) await sleep(Math.random() * 20)
    this.#keep(String(request.headers['webhook-id']), JSON.parse(text))
    // The receiver may be killed between the two: then it gets the event once more.
    if (this.isWild && Math.random() < 0.03) return void request.socket.destroy()
    response.writeHead(204).end()
  }

  #keep(id: string, { subject, type, data }: { subject: string; type: string; data: { n: number } | null }): void {
    if (this.seen.has(id)) return
    this.seen.add(id)
    const before = this.state.get(subject)
    if (type === 'counters.created' && before !== undefined) this.mistakes.push(`${subject} was created twice`)
    if (data !== null && before !== undefined && data.n <= before) {
      this.mistakes.push(`${subject}: ${data.n} after ${before}`)
    }
    if (data === null) this.state.delete(subject)
    else this.state.set(subject, data.n)
  }
}

/** Makes, changes and deletes records until the time is over. Answers that are lost are not repeated. */
async function write(send: () => Send, writer: number, isOver: () => boolean): Promise<number> {
  const own: string[] = []
  let changes = 0
  while (!isOver()) {
    try {
      const id = own[Math.floor(Math.random() * own.length)]
      if (id === undefined || own.length < 5) {
        const { status, json } = await send()('POST', '/v1/counters', { body: { n: 0, writer } })
        if (status === 201) own.push(json.id)
      } else if (Math.random() < 0.1) {
        await send()('DELETE', `/v1/counters/${id}`)
        own.splice(own.indexOf(id), 1)
      } else {
        const { json } = await send()('GET', `/v1/counters/${id}`)
        if (json?.n !== undefined) await send()('PATCH', `/v1/counters/${id}`, { body: { n: json.n + 1 } })
      }
      changes++
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      await sleep(50)
    }
    await sleep(5)
  }
  return changes
}

async function listAll(send: Send): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let page = 1; ; page++) {
    const { json } = await send('GET', `/v1/counters?per_page=100&page=${page}`)
    for (const { id, n } of json.data) found.set(id, n)
    if (json.data.length < 100) return found
  }
}

test(`a receiver that is killed at random, with two servers that are killed, ends with the state of the database`, async (t: TestContext) => {
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  const key = createKey(folder, address)
  const mirror = new Mirror(await freePort())
  const servers = [await start(), await start()]
  const clients = servers.map(({ origin }) => clientOf(origin, key, 16))
  const send = () => (clients[Math.floor(Math.random() * 2)] as (typeof clients)[0]).send
  const made = await send()('POST', '/v1/webhooks', { body: { url: mirror.url } })
  assert.equal(made.status, 201, JSON.stringify(made.json))
  mirror.secret = made.json.secret
  await mirror.begin()
  t.after(() => mirror.kill())
  let isOver = false
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(send, writer, () => isOver)))
  const end = performance.now() + seconds * 1_000
  let kills = 0
  const killReceiver = async () => {
    while (performance.now() < end) {
      await sleep(300 + Math.random() * 600)
      await mirror.kill()
      await sleep(100 + Math.random() * 300)
      await mirror.begin()
    }
  }
  const killServers = async () => {
    while (performance.now() < end) {
      await sleep(1_000 + Math.random() * 2_000)
      const which = kills % 2
      const killed = servers[which] as ServerProcess
      killed.child.kill('SIGKILL')
      await killed.ended
      await endLeases(address, killed.names)
      kills++
      servers[which] = await start()
      clients[which]?.close()
      clients[which] = clientOf(servers[which].origin, key, 16)
    }
  }
  await Promise.all([killReceiver(), killServers()])
  isOver = true
  const changes = (await writing).reduce((sum, each) => sum + each, 0)
  mirror.isWild = false
  const written = performance.now()
  const pending = async () =>
    (await send()('GET', '/v1/deliveries?status=pending&per_page=1')).json.pagination.total_count
  for (let left = 1; left > 0; await sleep(500)) {
    left = await pending()
    assert.ok(performance.now() - written < 240_000, `${left} deliveries are still pending`)
    // A position that has just advanced may still have deliveries to make.
    if (left === 0) {
      await sleep(1_500)
      left = await pending()
    }
  }
  const expected = await listAll(send())
  t.diagnostic(
    `${changes} changes, ${mirror.seen.size} events, ${mirror.received} messages; the receiver was killed ` +
      `${mirror.kills} times, a server ${kills} times; it was even ${Math.round(performance.now() - written)} ms later`,
  )
  assert.deepEqual(mirror.mistakes, [])
  assert.deepEqual([...mirror.state].sort(), [...expected].sort())
  assert.ok(expected.size > 0 && mirror.kills > 2)
  const { json } = await send()('GET', '/v1/deliveries?per_page=1')
  assert.equal(json.pagination.total_count, mirror.seen.size, 'each event has one delivery')
  for (const client of clients) client.close()
})
