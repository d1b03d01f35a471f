import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { commandFile } from '../../../../test/command-file.ts'
import { newDatabase } from '../../../../test/engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-versions-'))
after(() => rmSync(folder, { recursive: true }))
const declaration = join(folder, 'resources.yaml')
writeFileSync(
  declaration,
  `name: library
resources: { books: { fields: { title: { type: string } } } }
versions: { v1: { deprecated: 2026-01-01 }, v2: {} }
versionCarriers: [header]
`,
)
const env = { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env }
const run = (...words: string[]) => spawnSync(process.execPath, [commandFile, ...words], { env, encoding: 'utf8' })

test('VER-1: openapi prints the document of the current version, or of the version in --version', () => {
  const documentOf = (...words: string[]) => JSON.parse(run('openapi', declaration, ...words).stdout)
  assert.equal(documentOf().info.version, 'v2')
  const old = documentOf('--version', 'v1')
  assert.deepEqual([old.info.version, old.paths['/books'].get.deprecated], ['v1', true])
  const none = run('openapi', declaration, '--version', 'v3')
  assert.deepEqual([none.status, none.stdout], [2, ''])
  assert.match(none.stderr, /v1 or v2/)
  // Without a command it is the version of the program.
  assert.match(run('--version').stdout, /^\d+\.\d+\.\d+\n$/)
})

test('VER-1: serve prints the address of each version, and serves all versions, under the base path', async () => {
  const { address } = await newDatabase()
  const words = ['serve', declaration, '--database', address, '--http', '--port', '0', '--base-path', '/api']
  const key = run('keys', 'create', '--subject', 'ann', '--roles', 'admin', '--database', words[3] as string).stdout
  const child = spawn(process.execPath, [commandFile, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  child.stderr.on('data', (piece) => said.push(String(piece)))
  try {
    let url: string | undefined
    // Other entries of the log may come before.
    for await (const line of createInterface(child.stdout)) {
      url = JSON.parse(line).url
      if (url !== undefined) break
    }
    assert.match(String(url), /:\d+\/api$/)
    const headers = { Authorization: `Bearer ${key.trim()}`, 'API-Version': 'v1' }
    const answer = await fetch(`${url}/books`, { headers })
    assert.deepEqual([answer.status, answer.headers.get('API-Version')], [200, 'v1'])
    assert.ok(said.join('').includes(`v1: ${url}, with API-Version: v1 (deprecated since 2026-01-01)`), said.join(''))
  } finally {
    child.kill()
    await once(child, 'close')
  }
})

test('a base path that is none ends serve with one sentence', () => {
  for (const path of ['/api/', 'api', '/a b']) {
    const { status, stderr } = run('serve', declaration, '--database', 'sqlite::memory:', '--base-path', path)
    assert.equal(status, 2)
    assert.match(stderr, /^The base path .* cannot be used\. Write a path such as \/api: .*\n$/)
  }
})
