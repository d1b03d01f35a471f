/**
 * Clients that generators make from the document of the studio (DOC-6): they compile under the strictest settings, and
 * create, list, read, update and delete records of a server. A second document has collections with hostile names.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { loadCatalog } from '../../packages/server/src/cli/load-declaration.ts'
import { openApiDocument, openApiText } from '../../packages/server/src/documents/openapi.ts'
import { type Serving, serve } from '../../packages/server/src/server/serve.ts'
import { newDatabase } from '../engine.ts'
import { programs } from './programs.ts'

const execute = promisify(execFile)
const cache = join(import.meta.dirname, '../../.resourced/generators')
const bin = (name: string) => join(cache, 'node_modules', name)
const commands = {
  'openapi-fetch': [bin('openapi-typescript/bin/cli.js'), 'openapi.json', '-o', 'schema.ts'],
  'hey-api': [bin('@hey-api/openapi-ts/bin/run.js'), '-f', 'hey.config.mjs'],
  orval: [bin('orval/dist/bin/orval.mjs'), '--config', 'orval.config.mjs'],
} as const

/** Names of our own schemas, of types of TypeScript and Python, and of components of other collections. */
const hostile = `issues problems pages limits ranges ids cursors deletions errors records arrays promises dates strings
  objects responses requests files blobs clients types maps unions api-problems api-problem-errors task-pages tasks
  task-creates task-patches api-paginations lists anys options functions headers`.split(/\s+/)

let serving: Serving
let folder: string
let env: NodeJS.ProcessEnv

before(async () => {
  await installGenerators()
  folder = await mkdtemp(join(tmpdir(), 'resourced-generators-'))
  const { address } = await newDatabase({ memory: true })
  const catalog = await loadCatalog('examples/studio/resources.yaml')
  serving = await serve({ catalog, database: address, host: '127.0.0.1', port: 0, http: true, rateLimit: 'off' })
  const { key, stored } = makeKey('root', ['admin'], null)
  await serving.app.storage.keys.add(stored)
  const response = await fetch(`${serving.url}/openapi.json`, { headers: { Authorization: `Bearer ${key}` } })
  env = { ...process.env, BASE: serving.url, KEY: key }
  await write(folder, await response.text())
})

after(async () => {
  await serving?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

for (const [name, program] of Object.entries(programs)) {
  test(`DOC-6: the client of ${name} compiles under strict, and creates, lists, reads, updates and deletes`, async () => {
    await run(folder, commands[name as keyof typeof commands])
    await writeFile(join(folder, `use-${name}.ts`), program)
    await compile(folder, `use-${name}.ts`)
    await execute(process.execPath, [join(cache, 'node_modules/esbuild/bin/esbuild'), `use-${name}.ts`, '--bundle',
      '--format=esm', `--outfile=${name}.mjs`], { cwd: folder }) // biome-ignore format: one command
    const { stdout } = await execute(process.execPath, [`${name}.mjs`], { cwd: folder, env })
    assert.equal(stdout, 'done\n')
  })
}

test('DOC-1: Spectral has no warning about the document', async () => {
  // Whom to ask about an interface, a declaration does not say.
  await writeFile(join(folder, 'rules.json'), '{ "extends": "spectral:oas", "rules": { "info-contact": "off" } }')
  const linted = [bin('@stoplight/spectral-cli/dist/index.js'), 'lint', '-r', 'rules.json', 'openapi.json']
  const { stdout } = await execute(process.execPath, linted, { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  assert.match(stdout, /^No results with a severity of 'error' found!\s*$/)
})

test('DOC-6: clients of an interface with hostile names of collections compile', async (t) => {
  const place = await mkdtemp(join(tmpdir(), 'resourced-hostile-'))
  t.after(() => rm(place, { recursive: true, force: true }))
  const text = { type: 'string' } as const
  const resources = Object.fromEntries(hostile.map((name) => [name, { fields: { name: text } }]))
  await write(place, openApiText(openApiDocument(completeCatalog({ name: 'hostile', resources }))))
  for (const command of Object.values(commands)) await run(place, command)
  await compile(place, 'schema.ts', 'hey/index.ts', 'orval.ts')
})

test('DOC-6: the client of openapi-python-client creates, lists, reads, updates and deletes', async (t) => {
  const python = await installPython()
  if ('missing' in python) return t.skip(python.missing)
  await execute(join(python.folder, 'bin/openapi-python-client'), ['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'studio'], { cwd: folder }) // biome-ignore format: one command
  await cp(join(import.meta.dirname, 'round_trip.py'), join(folder, 'round_trip.py'))
  const { stdout } = await execute(join(python.folder, 'bin/python'), ['round_trip.py'], { cwd: folder, env })
  assert.equal(stdout, 'done\n')
})

/** Writes what all generators read into a folder. */
async function write(place: string, document: string): Promise<void> {
  const orval = { input: './openapi.json', output: { target: './orval.ts', client: 'fetch', mode: 'single', baseUrl: serving.url } } // biome-ignore format: as a configuration
  const hey = { input: './openapi.json', output: './hey', logs: { level: 'silent', file: false } }
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'es2024', module: 'esnext', moduleResolution: 'bundler', types: [] },
    ...{ lib: ['es2024', 'dom', 'dom.iterable'], allowImportingTsExtensions: true, skipLibCheck: true },
    ...{ paths: { 'openapi-fetch': [bin('openapi-fetch')] } },
  }
  await Promise.all([
    writeFile(join(place, 'openapi.json'), document),
    writeFile(join(place, 'package.json'), '{ "type": "module" }'),
    writeFile(join(place, 'orval.config.mjs'), `export default { studio: ${JSON.stringify(orval)} }`),
    writeFile(join(place, 'hey.config.mjs'), `export default ${JSON.stringify(hey)}`),
    writeFile(join(place, 'settings.json'), JSON.stringify({ compilerOptions })),
  ])
}

async function run(cwd: string, [program, ...words]: readonly [string, ...string[]]): Promise<void> {
  await execute(process.execPath, [program, ...words], { cwd })
}

/** Compiles modules and what they import. */
async function compile(cwd: string, ...files: readonly string[]): Promise<void> {
  await writeFile(join(cwd, 'tsconfig.json'), JSON.stringify({ extends: './settings.json', files }))
  const compiled = await execute(process.execPath, [bin('typescript/bin/tsc'), '-p', '.'], { cwd }).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  )
  assert.equal(compiled.stdout, '')
}

/** Installs the generators, without their install scripts, where later runs find them again. */
async function installGenerators(): Promise<void> {
  if (existsSync(bin('@stoplight/spectral-cli'))) return
  await mkdir(cache, { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) {
    await cp(join(import.meta.dirname, 'tools', name), join(cache, name))
  }
  await execute('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: cache })
}

/** Installs openapi-python-client where later runs find it again; the reason where it cannot be installed. */
async function installPython(): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const place = join(cache, 'python')
  if (existsSync(join(place, 'bin/openapi-python-client'))) return { folder: place }
  try {
    await execute('python3', ['-m', 'venv', place])
    await execute(join(place, 'bin/pip'), ['install', '-q', '-r', join(import.meta.dirname, 'requirements.txt')])
    return { folder: place }
  } catch (error) {
    await rm(place, { recursive: true, force: true })
    return { missing: `openapi-python-client cannot be installed: ${String(error).split('\n', 1)[0]}` }
  }
}
