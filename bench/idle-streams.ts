/**
 * Measures many idle streams of events on one server: its memory, and how long it takes until all of them have an
 * event. `node bench/idle-streams.ts [streams]`, 10,000 by default. Clients run in processes of their own; each process
 * may open as many files as `ulimit -n` says.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp, defineInterface } from '../packages/server/src/index.ts'
import { createNodeServer } from '../packages/server/src/server/node/listener.ts'

const roles = ['one', 'two', 'three']
const [, , given = '10000', role, ...rest] = process.argv
if (role === 'server') await serve()
else if (role === 'client') await follow(Number(given), rest[0] ?? '', Number(rest[1]))
else await measure(Number(given))

/** Prints the figures. */
async function measure(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-streams-'))
  const server = fork(import.meta.filename, ['0', 'server'], {
    cwd: folder,
    // As `serve` starts a server. The cache of compiled code is filled by the first run.
    execArgv: [
      ...['--max-semi-space-size=8', '--heap-growing-percent=100'],
      ...(process.env['PROFILE'] ? ['--cpu-prof', `--cpu-prof-dir=${process.env['PROFILE']}`] : []),
    ],
    env: { MALLOC_ARENA_MAX: '2', NODE_COMPILE_CACHE: join(tmpdir(), 'resourced-streams-code'), ...process.env },
  })
  const origin = await new Promise<string>((resolve) => server.once('message', (text) => resolve(String(text))))
  const send = (method: string, path: string, body: object) =>
    fetch(`${origin}${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-caller': 'writer admin' },
    })
  await send('POST', '/v1/notes', { text: 'first' })
  const before = memoryOf(server.pid)
  const perClient = 4_000
  const clients = Array.from({ length: Math.ceil(count / perClient) }, (_, index) => {
    const own = Math.min(perClient, count - index * perClient)
    return fork(import.meta.filename, [String(own), 'client', origin, String(index * perClient)])
  })
  const heard = (what: string) =>
    Promise.all(
      clients.map(
        (client) => new Promise<void>((resolve) => client.on('message', (message) => message === what && resolve())),
      ),
    )
  const opening = performance.now()
  await heard('open')
  const opened = performance.now() - opening
  await sleep(Number(process.env['REST'] ?? 20_000))
  console.log(
    `${count} streams of ${roles.length} roles, opened in ${(opened / 1_000).toFixed(1)} s: ` +
      `${memoryOf(server.pid)} MB (before: ${before} MB)`,
  )
  server.send('memory')
  for (let event = 1; event <= 5; event++) {
    const all = heard(`event ${event}`)
    const began = performance.now()
    await send('POST', '/v1/notes', { text: `event ${event}` })
    const written = performance.now()
    await all
    const now = performance.now()
    console.log(
      `event ${event}: ${(now - written).toFixed(0)} ms after its response (${(written - began).toFixed(0)} ms)`,
    )
  }
  console.log(`afterwards: ${memoryOf(server.pid)} MB`)
  for (const client of clients) client.kill()
  const ended = new Promise((resolve) => server.once('exit', resolve))
  server.disconnect()
  await ended
  rmSync(folder, { recursive: true })
}

/** The resident memory of a process, in MB. */
function memoryOf(id: number | undefined): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1_000)
}

async function serve(): Promise<void> {
  const declaration = defineInterface({
    name: 'streams',
    resources: {
      notes: {
        fields: { text: { type: 'string' } },
        access: { read: roles.map((each) => `role:${each}` as const), create: 'anyone' },
        events: true,
      },
    },
    limits: { events: { streams: 10_000 }, rate: { caller: '1000000/minute' } },
  })
  const app = createApp(declaration, {
    database: 'sqlite:streams.db',
    authenticate({ headers }) {
      const [id = '', ...callerRoles] = (headers['x-caller'] ?? '').split(' ')
      return { id, roles: callerRoles }
    },
  })
  await app.ready()
  const server = createNodeServer({ respond: app.respond, problem: app.refuse })
  process.send?.(await server.listen('127.0.0.1', 0))
  process.on('message', () => console.log(JSON.stringify(process.memoryUsage())))
  process.once('disconnect', () => process.exit())
}

async function follow(count: number, origin: string, first: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const got = new Map<number, number>()
  const open = (index: number): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      const headers = { accept: 'text/event-stream', 'x-caller': `c${index} ${roles[index % roles.length]}` }
      const asked = request(`${origin}/v1/events`, { agent, headers }, (answer) => {
        if (answer.statusCode === 503) return resolve(sleep(1_000).then(() => open(index)))
        if (answer.statusCode !== 200) return reject(new Error(`${answer.statusCode}`))
        let events = 0
        answer.setEncoding('latin1').on('data', (text: string) => {
          if (!text.includes('data: ')) return
          const number = ++events
          const having = (got.get(number) ?? 0) + 1
          got.set(number, having)
          if (having === count) process.send?.(`event ${number}`)
        })
        resolve()
      })
      asked.once('error', reject).end()
    })
  for (let index = 0; index < count; index += 50) {
    const batch = Math.min(50, count - index)
    await Promise.all(Array.from({ length: batch }, (_, each) => open(first + index + each)))
  }
  process.send?.('open')
}
