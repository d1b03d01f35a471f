/**
 * The allowed imports between folders, checked on the sources. `docs/explanation/architecture.md` has the same table,
 * with the reasons.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { circles, folderCycles, type Import, importsOf, readSources } from './imports.ts'

const engines = ['storage/sqlite', 'storage/postgres']
const storageFolders = ['storage', 'storage/sql', 'storage/transactions', 'storage/migration', 'storage/move']

// A folder may also import itself. Types count like values.
const mayImport: Readonly<Record<string, readonly string[]>> = {
  spec: [],
  http: ['spec'],
  model: ['spec'],
  versions: ['spec', 'http', 'model'],
  request: ['spec', 'http', 'model', 'versions'],
  policy: ['spec', 'http/fields', 'model'],
  plan: ['spec', 'http', 'model', 'request', 'policy', 'versions'],
  storage: ['spec', 'model', 'plan'],
  'storage/sql': ['spec', 'model', 'storage'],
  'storage/transactions': ['spec', 'model', 'plan', 'storage', 'storage/sql'],
  'storage/migration': ['spec', 'model', 'plan', 'storage', 'storage/sql'],
  'storage/move': [
    ...['spec', 'model', 'plan', 'storage'],
    ...['storage/sql', 'storage/transactions', 'storage/migration'],
  ],
  'storage/sqlite': ['model', 'plan', ...storageFolders],
  'storage/postgres': ['model', 'plan', ...storageFolders],
  events: ['spec', 'model', 'plan', 'storage'],
  jobs: ['spec', 'model', 'plan', 'storage'],
  reply: ['spec', 'http', 'model', 'versions', 'plan'],
  documents: ['spec', 'model', 'versions'],
  server: [
    ...['spec', 'http', 'model', 'versions', 'request', 'policy', 'plan'],
    ...[...storageFolders, ...engines, 'events', 'jobs', 'reply', 'documents', 'client'],
  ],
  changes: ['model'],
  client: ['model', 'spec'],
  providers: ['client'],
  testing: ['spec', 'http', 'model', 'policy', 'plan', 'storage', 'server', 'client'],
  checker: ['spec', 'http/fields'],
  cli: [
    ...['server', 'jobs', 'checker', 'changes', 'documents', 'spec', 'model', 'versions', 'policy'],
    ...storageFolders,
  ],
}
// What text of SQL may import of `storage`.
const port = ['storage/storage.ts', 'storage/transaction.ts']
const folders = Object.keys(mayImport).sort((left, right) => right.length - left.length)

/** The folder of the table that a file belongs to: the innermost one. */
function folderOf(file: string): string | undefined {
  return folders.find((folder) => file.startsWith(`${folder}/`))
}

/** Whether a file counts as part of an allowed folder, which may be narrower than the table's own (`http/fields`). */
function lies(file: string, folder: string): boolean {
  return folder in mayImport ? folderOf(file) === folder : file.startsWith(`${folder}/`)
}

/**
 * What is wrong with an import; `undefined`: nothing. Tests prove things across folders, so only the circles bind them.
 */
function objection(found: Import): string | undefined {
  const { file, target, specifier } = found
  if (/\.(?:test|fixture)\.ts$/.test(file)) return undefined
  if (target === 'index.ts') return 'only tests and examples use the public entry point'
  const from = folderOf(file)
  if (from === 'spec' && (target === undefined || folderOf(target) !== 'spec')) return 'spec imports nothing'
  if (target === undefined) return undefined
  if (from === undefined)
    return file === 'index.ts' ? undefined : 'every file but index.ts belongs to a folder of the table'
  const to = folderOf(target)
  if (to === undefined) return `${specifier} is in no folder of the table`
  if (from === 'storage/sql' && to === 'storage' && !port.includes(target)) {
    return 'storage/sql imports nothing of storage but the port'
  }
  if (engines.includes(to) && from !== to && file !== 'server/open-database.ts') {
    return 'only server/open-database.ts names an engine'
  }
  const allowed = to === from || mayImport[from]?.some((folder) => lies(target, folder))
  if (allowed !== true) return `${from} may not import ${to}`
  if (from === 'client' && to !== 'client' && !found.typeOnly) return 'client imports types only'
  return undefined
}

function objections(imports: readonly Import[]): string[] {
  return imports.flatMap((found) => {
    const reason = objection(found)
    return reason === undefined ? [] : [`src/${found.file}:${found.line} imports ${found.specifier}: ${reason}`]
  })
}

const sources = await readSources(new URL('../src', import.meta.url))
const imports = sources.flatMap(importsOf)

test('every import is allowed by the table', () => {
  assert.ok(imports.length > 50, 'the sources were read')
  assert.deepEqual(objections(imports), [])
})

test('the pages for people are clients: of the source code they import the client alone', async () => {
  for (const folder of ['console', 'api-page']) {
    const found = (await readSources(new URL(`../${folder}`, import.meta.url))).flatMap(importsOf)
    assert.ok(found.length > 5, 'the sources were read')
    const outside = found.filter(({ file, target }) => target?.startsWith('../') && !/\.test\.tsx?$/.test(file))
    const allowed = /^\.\.\/(?:console\/interface\/|src\/client\/)/
    assert.deepEqual(
      outside.filter(({ target = '' }) => !allowed.test(target)),
      [],
    )
  }
})

test('no file imports itself through others', () => {
  assert.deepEqual(
    circles(imports).map((circle) => circle.join(' → ')),
    [],
  )
})

// Remove an entry when its cycle is gone.
const remainingCycles: readonly string[] = []

test('no folder imports itself through others, sub-folders included', () => {
  const runtime = imports.filter(({ file }) => !/\.(?:test|fixture)\.ts$/.test(file))
  const found = folderCycles(runtime).map((cycle) => cycle.join(' → '))
  assert.deepEqual(
    found.filter((cycle) => !remainingCycles.includes(cycle)),
    [],
  )
})

const planted: readonly { name: string; file: string; text: string; expect: string | undefined }[] = [
  {
    name: 'a folder above',
    file: 'model/schema.ts',
    text: "/** Why. */\nimport { plan } from '../plan/plan.ts'\n",
    expect: 'src/model/schema.ts:2 imports ../plan/plan.ts: model may not import plan',
  },
  {
    name: 'a type, over several lines',
    file: 'http/ranges.ts',
    text: "import type {\n  Field,\n  Resource,\n} from '../model/resource.ts'\n",
    expect: 'src/http/ranges.ts:1 imports ../model/resource.ts: http may not import model',
  },
  {
    name: 'a type inside a signature',
    file: 'http/ranges.ts',
    text: "export function a(b: import('../model/resource.ts').Field) {}\n",
    expect: 'src/http/ranges.ts:1 imports ../model/resource.ts: http may not import model',
  },
  {
    name: 'a re-export',
    file: 'checker/judge.ts',
    text: "export * from '../reply/problem.ts'\n",
    expect: 'src/checker/judge.ts:1 imports ../reply/problem.ts: checker may not import reply',
  },
  {
    name: 'more of http than its fields',
    file: 'policy/caller.ts',
    text: "import { x } from '../http/message.ts'\n",
    expect: 'src/policy/caller.ts:1 imports ../http/message.ts: policy may not import http',
  },
  {
    name: 'the fields of http',
    file: 'policy/caller.ts',
    text: "import { x } from '../http/fields/http-date.ts'\n",
    expect: undefined,
  },
  {
    name: 'an engine elsewhere in the server',
    file: 'server/respond.ts',
    text: "const x = await import('../storage/sqlite/driver.ts')\n",
    expect: 'src/server/respond.ts:1 imports ../storage/sqlite/driver.ts: only server/open-database.ts names an engine',
  },
  {
    name: 'an engine in serve.ts',
    file: 'server/open-database.ts',
    text: "import '../storage/sqlite/open.ts'\n",
    expect: undefined,
  },
  {
    name: 'a package in spec',
    file: 'spec/rules.ts',
    text: "import Ajv from 'ajv'\n",
    expect: 'src/spec/rules.ts:1 imports ajv: spec imports nothing',
  },
  {
    name: 'the entry point',
    file: 'cli/program.ts',
    text: "import { Type } from '../index.ts'\n",
    expect: 'src/cli/program.ts:1 imports ../index.ts: only tests and examples use the public entry point',
  },
  {
    name: 'a value in the client',
    file: 'client/client.ts',
    text: "import { x } from '../model/text.ts'\n",
    expect: 'src/client/client.ts:1 imports ../model/text.ts: client imports types only',
  },
  { name: 'an example in a comment', file: 'spec/x.ts', text: " * import { x } from 'resourced'\n", expect: undefined },
]

for (const { name, file, text, expect } of planted) {
  test(`a planted import, ${name}: ${expect === undefined ? 'allowed' : 'found'}`, () => {
    assert.deepEqual(objections(importsOf({ file, text })), expect === undefined ? [] : [expect])
  })
}

test('a planted cycle is found, also behind other imports', () => {
  const texts = {
    'a.ts': "import './b.ts'",
    'b.ts': "import type { C } from './c.ts'",
    'c.ts': "export * from './b.ts'",
  }
  const found = circles(Object.entries(texts).flatMap(([file, text]) => importsOf({ file, text })))
  assert.deepEqual(found, [['b.ts', 'c.ts']])
})
