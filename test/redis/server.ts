/** A Redis or Valkey of a test's own: on loopback, without files, gone when the test ends. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const program = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
)

/** Why there is none on this machine; `undefined` where there is. */
export const whyNoRedis = program === undefined ? 'neither redis-server nor valkey-server is installed' : undefined

/** A server that can be stopped, and started again where it was. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Lets it hang: it takes connections and answers nothing. */
  hang(): void
}

/** Starts a server. */
export async function redisFor(context: TestContext, password?: string): Promise<RedisServer> {
  const port = await freePort()
  let running: ChildProcess | undefined
  const server: RedisServer = {
    port,
    url: `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`,
    async start() {
      const secret = password === undefined ? [] : ['--requirepass', password]
      const where = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
      running = spawn(program as string, [...where, ...secret], { stdio: 'ignore' })
      await listening(port)
    },
    async stop() {
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
      const ended = once(running, 'exit')
      running.kill('SIGKILL')
      await ended
    },
    hang() {
      running?.kill('SIGSTOP')
    },
  }
  context.after(() => server.stop())
  await server.start()
  return server
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const answered = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (answered) return
    await sleep(50)
  }
  assert.fail('The Redis does not listen.')
}
