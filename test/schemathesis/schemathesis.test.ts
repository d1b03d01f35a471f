/**
 * Thousands of generated requests, valid and invalid, against the document of each interface: no response is a server
 * error, and each conforms to the document (DOC-1, ERR-1, ERR-4). Schemathesis generates the requests, if Python is
 * installed.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { serve } from '../../packages/server/src/server/serve.ts'
import { studio } from '../declarations.ts'
import { everything } from '../declarations-everything.ts'
import { shop } from '../declarations-shop.ts'
import { newDatabase } from '../engine.ts'

const examples = process.env['SCHEMATHESIS_EXAMPLES'] ?? '5'
/** Whether there is time for every value that a schema names, and every one that it excludes. */
const isWhole = Number(examples) >= 5
const phases = isWhole ? 'examples,coverage,fuzzing,stateful' : 'examples,fuzzing,stateful'
/** The fewest cases of all interfaces together: fewer were not generated, or not sent. */
const fewest = isWhole ? 20_000 : 100 * Number(examples)
// The same requests each time, so that a change is judged by what it changes; another number looks for what nobody has
// seen yet.
const seed = process.env['SCHEMATHESIS_SEED'] ?? '1'
// With few examples, the interface alone that has everything.
const interfaces: Readonly<Record<string, InterfaceDeclaration>> = isWhole
  ? { studio, shop, everything }
  : { everything }

/** Installs Schemathesis into a folder that later runs find again; the reason where there is none. */
function install(): { readonly program: string } | { readonly missing: string } {
  const folder = join(import.meta.dirname, '../../.resourced/schemathesis')
  const program = join(folder, 'bin/schemathesis')
  if (existsSync(program)) return { program }
  const run = (command: string, parameters: readonly string[]) =>
    spawnSync(command, parameters, { encoding: 'utf8', timeout: 300_000 })
  if (run('python3', ['--version']).status !== 0) return { missing: 'There is no python3 here.' }
  const made = run('python3', ['-m', 'venv', folder])
  const requirements = join(import.meta.dirname, 'requirements.txt')
  const installed = made.status === 0 ? run(join(folder, 'bin/pip'), ['install', '-q', '-r', requirements]) : made
  if (installed.status === 0) return { program }
  rmSync(folder, { recursive: true, force: true })
  return { missing: `Schemathesis cannot be installed: ${installed.stderr.split('\n', 1)[0]}` }
}

const installed = install()
const skip = 'missing' in installed ? installed.missing : false
let cases = 0

for (const [name, declaration] of Object.entries(interfaces)) {
  test(`DOC-1: responses of the ${name} to requests that are generated from its document conform to the document`, {
    skip,
  }, async (t) => {
    assert.ok('program' in installed)
    const { address } = await newDatabase({ memory: true })
    const serving = await serve({
      ...{ catalog: completeCatalog(declaration), database: address, host: '127.0.0.1', port: 0, http: true },
      rateLimit: 'off',
    })
    t.after(() => serving.close())
    const folder = mkdtempSync(join(tmpdir(), 'resourced-schemathesis-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const { key, stored } = makeKey('root', ['admin'], null)
    await serving.app.storage.keys.add(stored)
    const { output, code } = await run(installed.program, folder, [
      ...['run', `${serving.url}/openapi.json`, '-H', `Authorization: Bearer ${key}`, '-n', examples],
      ...['--seed', seed, '--phases', phases],
      ...['--continue-on-failure', '--suppress-health-check', 'all', '--warnings', 'off', '--no-color'],
    ])
    const [, generated = '0'] = /(\d[\d,]*) generated/.exec(output) ?? []
    cases += Number(generated.replaceAll(',', ''))
    t.diagnostic(`${generated} cases, seed ${seed}`)
    assert.equal(code, 0, output)
  })
}

test(`at least ${fewest} cases ran`, { skip }, () => assert.ok(cases >= fewest, `${cases} cases`))

function run(program: string, cwd: string, parameters: readonly string[]): Promise<{ output: string; code: unknown }> {
  const env = { ...process.env, PYTHONPATH: import.meta.dirname, SCHEMATHESIS_HOOKS: 'accepted' }
  const child = spawn(program, parameters, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += String(piece)))
  return new Promise((resolve) => child.on('close', (code) => resolve({ output, code })))
}
