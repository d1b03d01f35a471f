/**
 * The container files that `resourced init` writes, built and run without a container engine: as the user of the image, on
 * a file system that is read-only but for its volume.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import * as https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import {
  type Consumer,
  cannotRun,
  installPackage,
  plainEnvironment,
  runToEnd,
  sizeOnDisk,
} from '../package/consumer.ts'
import { databaseFor, whyNoDatabase } from '../postgres/database.ts'
import { freePort } from '../postgres/free-port.ts'
import { buildImage, type Image, makeReadOnly, nodeUser } from './dockerfile.ts'

const run = promisify(execFile)

/** A container: the process of an image. */
interface Container {
  readonly child: ChildProcess
  readonly output: () => string
  /** Runs its health check, and gives the exit code. */
  check(): Promise<number | null>
}

describe('the container files of resourced init', { skip: cannotRun }, () => {
  let consumer: Consumer
  let base: string
  let image: Image
  // biome-ignore lint/suspicious/noExplicitAny: tests look into files of every shape
  let compose: { services: Record<string, any>; volumes: object }

  before(async () => {
    consumer = await installPackage({ needsTools: false })
    base = await mkdtemp(join(tmpdir(), 'resourced-container-'))
    await run('chmod', ['755', base])
    // As deep as the folders of the stages, so that the relative address of the package is right there too.
    const context = join(base, 'project/app')
    await mkdir(context, { recursive: true })
    await cp(consumer.tarball, join(base, 'resourced.tgz'))
    const program = join(consumer.folder, 'node_modules/resourced/lib/main.js')
    const made = await runToEnd([process.execPath, program, 'init', context], base)
    assert.equal(made.status, 0, made.stderr)
    const install = ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', join(base, 'resourced.tgz')]
    const installed = await runToEnd(install, context)
    assert.equal(installed.status, 0, installed.stderr)
    const node = join(base, 'node')
    await mkdir(node)
    await cp(process.execPath, join(node, 'node'))
    const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8')
    image = await buildImage({ dockerfile, context, folder: base, node })
    await makeReadOnly(image)
    compose = parse(await readFile(join(context, 'compose.yaml'), 'utf8'))
  })
  after(async () => {
    await run('chmod', ['-R', 'u+w', base])
    await rm(base, { recursive: true, force: true, maxRetries: 5 })
    await consumer?.remove()
  })

  const identity = () => (process.getuid?.() === 0 ? { uid: nodeUser, gid: nodeUser } : {})

  /** Runs a command in the container, as `docker exec` does, and gives its output. */
  async function execute(...words: readonly string[]): Promise<string> {
    const program = join(image.root, image.workdir, 'node_modules/.bin/resourced')
    const environment = { ...plainEnvironment(), ...image.environment, HOME: join(image.root, 'tmp') }
    const options = { cwd: join(image.root, image.workdir), env: environment, ...identity() }
    return (await run(program, words, options)).stdout.trim()
  }

  async function start(variables: Readonly<Record<string, string>>): Promise<Container> {
    const environment = { ...plainEnvironment(), ...image.environment, HOME: join(image.root, 'tmp'), ...variables }
    const options = { cwd: join(image.root, image.workdir), env: environment, ...identity() }
    const within = (words: readonly string[]) => words.map((word) => word.replace(/^\/(?=app)/, `${image.root}/`))
    const [program = '', ...words] = within(image.command)
    const child = spawn(program, words, options)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += String(piece)))
    const check = async () => {
      const [command = '', ...rest] = image.healthcheck
      return (await once(spawn(command, rest, options), 'close'))[0] as number | null
    }
    for (
      const end = performance.now() + 60_000;
      !output.includes('listening');
      await new Promise((r) => setTimeout(r, 20))
    ) {
      assert.equal(child.exitCode, null, output)
      assert.ok(performance.now() < end, output)
    }
    return { child, output: () => output, check }
  }

  async function stop({ child, output }: Container): Promise<void> {
    const ended = once(child, 'close')
    child.kill(image.stopSignal as NodeJS.Signals)
    assert.deepEqual((await ended)[0], 0, output())
    assert.match(output(), /"msg":"stopped"/)
  }

  test('the image runs as another user than root, without npm or a shell between it and its signals', () => {
    assert.equal(image.user, 'node')
    assert.equal(image.stopSignal, 'SIGTERM')
    assert.ok(!image.command.some((word) => /^(?:npm|npx|sh|bash)$/.test(word)), String(image.command))
  })

  test('the image contains what the server needs, and nothing of the build', async () => {
    const app = join(image.root, image.workdir)
    assert.deepEqual(
      (await readdir(app)).filter((name) => /^Dockerfile|compose|\.env/.test(name)),
      [],
    )
    const size = await sizeOnDisk(image.root)
    assert.ok(size <= 45_000_000, `the layers above Node.js have ${size} bytes`)
  })

  test('a container serves from its volume, is healthy, and finds its keys there when it is replaced', async () => {
    const PORT = String(await freePort())
    const key = await execute('keys', 'create', '--subject', 'ann', '--roles', 'admin')
    for (let round = 0; round < 2; round++) {
      const container = await start({ PORT, HOST: '127.0.0.1' })
      try {
        assert.equal(await container.check(), 0, container.output())
        assert.deepEqual([await statusOf(PORT, key), await statusOf(PORT, 'another')], [200, 401])
      } finally {
        await stop(container)
      }
    }
  })

  test('a health check of a server that is not there fails', async () => {
    const PORT = String(await freePort())
    const container = await start({ PORT, HOST: '127.0.0.1' })
    await stop(container)
    assert.equal(await container.check(), 1)
  })

  test('the services of compose.yaml: PostgreSQL first, and a server that may write nowhere else', () => {
    const { services, volumes } = compose
    const [name = '', database] = Object.entries(services).find(([, { image }]) => /^postgres:18/.test(image)) ?? []
    const server = Object.values(services).find(({ build }) => build !== undefined)
    assert.equal(server.depends_on[name].condition, 'service_healthy')
    assert.ok(database.healthcheck.test.join(' ').includes('pg_isready'))
    assert.equal(server.read_only, true)
    assert.deepEqual(server.cap_drop, ['ALL'])
    // The official image keeps its data below this folder from 18 on.
    assert.ok(database.volumes.some((each: string) => each.endsWith(':/var/lib/postgresql')))
    const mounted = [...server.volumes, ...database.volumes].map((each: string) => each.split(':')[0])
    assert.deepEqual(mounted.sort(), Object.keys(volumes).sort())
    assert.ok(server.volumes.some((each: string) => image.volumes.includes(String(each.split(':')[1]))))
    for (const port of server.ports) assert.ok(image.ports.includes(Number(String(port).split(':').at(-1))), port)
  })

  test('a container serves from PostgreSQL with the variables of compose.yaml', {
    skip: whyNoDatabase ?? false,
  }, async (context) => {
    const url = await databaseFor(context)
    const PORT = String(await freePort())
    const container = await start({ PORT, HOST: '127.0.0.1', DATABASE_URL: url, DATABASE_UNSAFE: 'true' })
    try {
      assert.equal(await container.check(), 0, container.output())
    } finally {
      await stop(container)
    }
  })
})

/** The status of the list of API keys, for the holder of a key. */
async function statusOf(port: string, key: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${key}` }
  const request = https.get(`https://127.0.0.1:${port}/v1/api-keys`, { headers, rejectUnauthorized: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}
