/** The command `init`, run as a process in folders of its own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { commandFile } from '../../../../test/command-file.ts'
import { packageVersion } from '../server/observe/package-version.ts'
import { packageNameOf } from './init.ts'

const base = mkdtempSync(join(tmpdir(), 'resourced-init-'))
after(() => rmSync(base, { recursive: true }))

function run(folder: string, ...given: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [commandFile, ...given], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.equal(stdout.startsWith('{') ? '' : stdout, '')
  return { status, stdout, stderr }
}

function newFolder(name: string): string {
  const folder = join(base, name)
  mkdirSync(folder)
  return folder
}

const inFolder = (folder: string) => readdirSync(folder).sort()
const others = ['.dockerignore', '.env', '.gitignore', 'Dockerfile', 'compose.yaml', 'package.json']

test('it writes a declaration that can be served, and everything to run it', () => {
  const folder = newFolder('Bücher & more')
  const { status, stderr } = run(folder, 'init')
  assert.equal(status, 0, stderr)
  assert.deepEqual(inFolder(folder), [...others, 'resources.yaml'])
  assert.match(stderr, /Next:\n {2}npm install\n {2}npx resourced dev\n$/)
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')), {
    name: 'bucher-more',
    private: true,
    type: 'module',
    scripts: { dev: 'resourced dev', start: 'resourced serve' },
    dependencies: { resourced: packageVersion() },
  })
  const mode = statSync(join(folder, '.env')).mode & 0o777
  assert.equal(process.platform === 'win32' ? 0o600 : mode, 0o600, 'the password is private')
  const openapi = run(folder, 'openapi')
  assert.equal(openapi.status, 0, openapi.stderr)
  assert.ok('/books/{id}/restore' in JSON.parse(openapi.stdout).paths)
})

test('TypeScript and YAML declare the same interface', () => {
  const folder = newFolder('typescript')
  const { status, stderr } = run(base, 'init', 'typescript', '--typescript')
  assert.equal(status, 0, stderr)
  assert.match(stderr, /Next:\n {2}cd typescript\n/)
  assert.deepEqual(inFolder(folder), [...others, 'resources.ts'])
  const yaml = join(import.meta.dirname, 'templates/resources.yaml')
  assert.equal(run(folder, 'openapi').stdout, run(folder, 'openapi', yaml).stdout)
})

test('it overwrites nothing, names what it keeps, and says what that lacks', () => {
  const folder = newFolder('kept')
  const kept = {
    'package.json': '{ "type": "commonjs", "scripts": { "dev": "own" }, "devDependencies": { "resourced": "*" } }',
    '.gitignore': '/node_modules\n.resourced\n',
    'resources.js': '',
    '.env': 'OTHER=1\n',
  }
  for (const [name, text] of Object.entries(kept)) writeFileSync(join(folder, name), text)
  symlinkSync('nowhere', join(folder, 'Dockerfile'))
  const { status, stderr } = run(folder, 'init')
  assert.equal(status, 0, stderr)
  assert.match(stderr, /^Written: \.dockerignore, compose\.yaml\nKept as they are: resources\.js, package\.json, /)
  assert.ok(stderr.includes('Add to package.json: npm pkg set scripts.start="resourced serve" type=module\n'), stderr)
  assert.ok(stderr.includes('Add to .gitignore: .env\nAdd to .env: POSTGRES_PASSWORD=\n'), stderr)
  for (const [name, text] of Object.entries(kept)) assert.equal(readFileSync(join(folder, name), 'utf8'), text)
  assert.ok(!inFolder(folder).includes('nowhere'))

  const again = run(folder, 'init', '--typescript')
  assert.equal(again.status, 0)
  assert.match(again.stderr, /^Nothing was written: every file exists\.\n/)
  assert.ok(!inFolder(folder).includes('resources.ts'))
})

test('a package.json that is not JSON is kept, and named', () => {
  const folder = newFolder('broken')
  for (const text of ['', 'null', '[]', '{ broken']) {
    writeFileSync(join(folder, 'package.json'), text)
    const { status, stderr } = run(folder, 'init')
    assert.equal(status, 1, stderr)
    assert.doesNotMatch(stderr, /Next:|npm install/)
    assert.ok(stderr.includes('package.json is not a JSON object: correct it, and repeat the command.\n'), stderr)
    assert.equal(readFileSync(join(folder, 'package.json'), 'utf8'), text)
  }
})

writeFileSync(join(base, 'file'), '')
const bad: readonly [folder: string, sentence: RegExp][] = [
  ['', /^The name of the folder is ""\. Name one such as my-api\.\n$/],
  ['  ', /^The name of the folder is " {2}"\./],
  ['file', /^file cannot be written: a file has this name\. Name a folder\.\n$/],
  ['file/below', /^file\/below cannot be written: a part of this path is a file\. Name a folder\.\n$/],
  ['a'.repeat(300), /cannot be written: the name is too long\. Name a shorter one\.\n$/],
  // Node's own recursive mkdir never returns here.
  ...(process.platform === 'linux'
    ? [['/proc/none', /^\/proc\/none cannot be written: no folder can be made there\./] as [string, RegExp]]
    : []),
]
for (const [folder, sentence] of bad) {
  test(`the folder ${JSON.stringify(folder.slice(0, 20))} ends in one sentence`, () => {
    const before = inFolder(base)
    const { status, stderr } = run(base, 'init', folder)
    assert.equal(status, 1)
    assert.match(stderr, sentence)
    assert.equal(stderr.trim().split('\n').length, 1)
    assert.deepEqual(inFolder(base), before)
  })
}

test('a folder that cannot be written to ends in one sentence', {
  skip: process.geteuid?.() === 0 && 'root may',
}, () => {
  const folder = newFolder('locked')
  rmSync(folder, { recursive: true })
  mkdirSync(folder, { mode: 0o500 })
  const { status, stderr } = run(folder, 'init')
  assert.equal(status, 1)
  assert.match(stderr, /cannot be written: you lack the permission\. Name a folder of yours\.\n$/)
})

const names = [
  ['/x/shop', 'shop'],
  ['/x/My  Shop!', 'my-shop'],
  ['/x/日本', 'my-api'],
  ['/x/._hidden', 'hidden'],
  ['/x/resourced', 'resourced-api'],
  ['/x/node_modules', 'node-modules-api'],
  ['/', 'my-api'],
] as const
for (const [folder, name] of names) {
  test(`the package in ${folder} is called ${name}`, () => assert.equal(packageNameOf(folder), name))
}
