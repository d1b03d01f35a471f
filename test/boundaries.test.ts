/**
 * The allowed imports between folders, checked on the sources. `docs/explanation/architecture.md` has the same table,
 * with the reasons.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { circles, folderCycles, type Import, importsOf, packages, readSources, type Source } from './imports.ts'

const engines = ['storage/sqlite', 'storage/postgres']
// The table of engines: how an address is recognised, and the administration of its database.
const tableOfEngines = ['server/database-address.ts', 'server/open-database.ts']
// The row of an operator has its words in the SQL of each engine, of which a dialect takes its own.
const tableOfOperators = 'storage/sql/operators.ts'
const storageFolders = [
  ...['storage', 'storage/sql', 'storage/transactions', 'storage/migration', 'storage/move', 'storage/administration'],
]

// A folder may also import itself. Types count like values.
const mayImport: Readonly<Record<string, readonly string[]>> = {
  spec: [],
  fields: ['spec'],
  model: ['spec'],
  http: ['spec', 'fields'],
  versions: ['spec', 'fields', 'http', 'model'],
  request: ['spec', 'fields', 'http', 'model', 'versions'],
  policy: ['spec', 'fields', 'model'],
  plan: ['spec', 'fields', 'http', 'model', 'request', 'policy', 'versions'],
  storage: ['spec', 'model', 'plan'],
  'storage/sql': ['spec', 'model', 'storage'],
  'storage/transactions': ['spec', 'model', 'plan', 'storage', 'storage/sql'],
  'storage/migration': ['spec', 'model', 'plan', 'storage', 'storage/sql'],
  'storage/move': [
    ...['spec', 'model', 'plan', 'storage'],
    ...['storage/sql', 'storage/transactions', 'storage/migration'],
  ],
  'storage/administration': ['model', 'storage', 'storage/migration', 'storage/move'],
  'storage/sqlite': ['spec', 'model', 'plan', ...storageFolders],
  'storage/postgres': ['model', 'plan', ...storageFolders],
  events: ['spec', 'model', 'plan', 'storage'],
  jobs: ['spec', 'model', 'plan', 'storage'],
  reply: ['spec', 'fields', 'http', 'model', 'versions', 'plan'],
  documents: ['spec', 'model', 'versions'],
  server: [
    ...['spec', 'fields', 'http', 'model', 'versions', 'request', 'policy', 'plan'],
    ...[...storageFolders, ...engines, 'events', 'jobs', 'reply', 'documents', 'client'],
  ],
  testing: ['spec', 'fields', 'http', 'model', 'policy', 'plan', 'storage', 'server', 'client'],
  cli: [
    ...['server', 'jobs', 'documents', 'spec', 'model', 'versions', 'policy', 'check', 'compare'],
    ...storageFolders,
  ],
  client: ['model', 'spec'],
  console: ['client'],
  check: ['spec', 'fields', 'model'],
  compare: ['model'],
}
// What text of SQL may import of `storage`.
const port = ['storage/storage.ts', 'storage/transaction.ts']
// Of the model, the checker takes words only: what it judges by may not be what the server is made of.
const ofModelInCheck = ['packages/contract/src/model/nearest.ts']
const rooms = Object.keys(mayImport).sort((left, right) => right.length - left.length)
const divided = ['packages/contract', 'packages/server']

/** A file's path as the table has it: `model/text.ts`, `storage/sql/condition.ts`, `check/run/check.ts`. */
function placed(file: string): string {
  const [, folder = '', path = ''] = /^(packages\/\w+)\/src\/(.*)$/.exec(file) ?? []
  return divided.includes(folder) ? path : `${folder.replace('packages/', '')}/${path}`
}

/** The room of the table that a file belongs to: the innermost one. */
function roomOf(file: string): string | undefined {
  return rooms.find((room) => placed(file).startsWith(`${room}/`))
}

function packageOf(file: string): string | undefined {
  return /^packages\/\w+/.exec(file)?.[0]
}

/** What is wrong with an import of one package by another; `undefined`: nothing. */
function objectionOfPackage({ file, target, specifier, typeOnly }: Import): string | undefined {
  const own = packageOf(file)
  const named = [...packages].find(([, { name }]) => specifier === name || specifier.startsWith(`${name}/`))
  if (own === undefined) return undefined
  if (named !== undefined) {
    const [folder, { name }] = named
    if (target === undefined) return `${name} has no such door`
    if (folder !== own && !(name in (packages.get(own)?.dependencies ?? {}))) return `${own} does not depend on ${name}`
    // A browser would load the values of the contract with the client.
    if (own === 'packages/client' && folder !== own && !typeOnly) return 'client imports types only'
    return undefined
  }
  if (target !== undefined && packageOf(target) !== own) return 'a package imports another by its name'
  return undefined
}

/**
 * What is wrong with an import; `undefined`: nothing. Tests prove things across folders, so only the circles bind them.
 */
function objection(found: Import): string | undefined {
  const { file, target, specifier } = found
  // A template is a file of the user's.
  if (/\.(?:test|fixture)\.tsx?$|\/templates\//.test(file)) return undefined
  const from = roomOf(file)
  if (from === 'spec' && (target === undefined || roomOf(target) !== 'spec')) return 'spec imports nothing'
  const wrong = objectionOfPackage(found)
  if (wrong !== undefined || target === undefined) return wrong
  if (target === 'packages/server/src/index.ts') return 'only tests and examples use the public entry point'
  // The entry points of a package stand in no room.
  if (from === undefined) return undefined
  const to = roomOf(target)
  if (to === undefined) return `${specifier} is in no folder of the table`
  if (from === 'storage/sql' && to === 'storage' && !port.includes(placed(target))) {
    return 'storage/sql imports nothing of storage but the port'
  }
  if (engines.includes(to) && from !== to && !tableOfEngines.includes(placed(file))) {
    return 'only the table of engines names an engine'
  }
  if (from === 'check' && to === 'model' && !ofModelInCheck.includes(target)) return 'check imports no judgement'
  return to === from || mayImport[from]?.includes(to) === true ? undefined : `${from} may not import ${to}`
}

function objections(imports: readonly Import[]): string[] {
  return imports.flatMap((found) => {
    const reason = objection(found)
    return reason === undefined ? [] : [`${found.file}:${found.line} imports ${found.specifier}: ${reason}`]
  })
}

const sources = await readSources('packages')
const imports = sources.flatMap(importsOf)
// The views of the console lead to one another, as pages do.
const withoutViews = imports.filter(({ file }) => !file.startsWith('packages/console/'))

test('every import is allowed by the table', () => {
  assert.ok(imports.length > 50, 'the sources were read')
  assert.deepEqual(objections(imports), [])
})

test('every file of the server and the contract is in a room, but for entry points', () => {
  const outside = sources.filter(({ file }) => /\/src\//.test(file) && roomOf(file) === undefined)
  assert.deepEqual(
    outside.map(({ file }) => file),
    ['client', 'index', 'react-admin', 'refine'].map((name) => `packages/server/src/${name}.ts`),
  )
})

test('no file imports itself through others', () => {
  assert.deepEqual(
    circles(withoutViews).map((circle) => circle.join(' → ')),
    [],
  )
})

// Remove an entry when its cycle is gone.
const remainingCycles: readonly string[] = []

test('no folder imports itself through others, sub-folders included', () => {
  const runtime = withoutViews.filter(({ file }) => !/\.(?:test|fixture)\.ts$/.test(file))
  const found = folderCycles(runtime).map((cycle) => cycle.join(' → '))
  assert.deepEqual(
    found.filter((cycle) => !remainingCycles.includes(cycle)),
    [],
  )
})

// A name of an engine that is compared with, a key or a case, or the beginning of an address that is asked for.
const branch =
  /['"`](?:sqlite|postgres(?:ql)?)['"`]|(?:startsWith|includes|test)\(['"`]?(?:sqlite|postgres)|\/\^?(?:\(\?:)?(?:sqlite|postgres)/i

/** The lines that ask which engine it is, outside the table of engines and the folders of engines. */
function branches({ file, text }: Source): string[] {
  const isOfEngine =
    engines.includes(roomOf(file) ?? '') || [...tableOfEngines, tableOfOperators].includes(placed(file))
  if (isOfEngine || /\.(?:test|fixture)\.tsx?$/.test(file)) return []
  return text.split('\n').flatMap((line, index) => {
    const isComment = /^\s*(?:\/\/|\*|\/\*)/.test(line)
    return !isComment && branch.test(line) ? [`${file}:${index + 1} asks which engine it is`] : []
  })
}

test('only the table of engines asks which engine it is', () => {
  const server = sources.filter(({ file }) => file.startsWith('packages/server/src/'))
  assert.deepEqual(server.flatMap(branches), [])
})

for (const line of [
  "  if (engine.kind === 'sqlite') return",
  "  if (!database.startsWith('postgres')) return",
  '  if (/^postgres(?:ql)?:/.test(address)) return',
  "    case 'postgres':",
]) {
  test(`a planted branch on the engine is found: ${line.trim()}`, () => {
    const found = (file: string) => branches({ file: `packages/server/src/${file}`, text: line }).length
    assert.deepEqual(['cli/dev.ts', 'storage/sql/records.ts', 'storage/sqlite/file.ts'].map(found), [1, 1, 0])
  })
}

const planted: readonly { name: string; file: string; text: string; expect: string | undefined }[] = [
  {
    name: 'a folder above, in another package',
    file: 'contract/src/model/schema.ts',
    text: "/** Why. */\nimport { plan } from '../../../server/src/plan/plan.ts'\n",
    expect:
      'packages/contract/src/model/schema.ts:2 imports ../../../server/src/plan/plan.ts: a package imports another by its name',
  },
  {
    name: 'a folder above, by the name of a package that is no dependency',
    file: 'contract/src/model/schema.ts',
    text: "import { createApp } from 'resourced'\n",
    expect: 'packages/contract/src/model/schema.ts:1 imports resourced: packages/contract does not depend on resourced',
  },
  {
    name: 'what a package does not show',
    file: 'server/src/cli/check.ts',
    text: "import { check } from 'resourced-check/run/check'\n",
    expect: 'packages/server/src/cli/check.ts:1 imports resourced-check/run/check: resourced-check has no such door',
  },
  {
    name: 'a type, over several lines',
    file: 'server/src/http/preconditions.ts',
    text: "import type {\n  Field,\n  Resource,\n} from 'resourced-contract/model/resource'\n",
    expect:
      'packages/server/src/http/preconditions.ts:1 imports resourced-contract/model/resource: http may not import model',
  },
  {
    name: 'a type inside a signature',
    file: 'server/src/http/preconditions.ts',
    text: "export function a(b: import('../plan/plan.ts').Plan) {}\n",
    expect: 'packages/server/src/http/preconditions.ts:1 imports ../plan/plan.ts: http may not import plan',
  },
  {
    name: 'a re-export',
    file: 'check/src/judge.ts',
    text: "export * from '../../server/src/reply/problem.ts'\n",
    expect:
      'packages/check/src/judge.ts:1 imports ../../server/src/reply/problem.ts: a package imports another by its name',
  },
  {
    name: 'what the checker would judge by',
    file: 'check/src/judge.ts',
    text: "import { parse } from 'resourced-contract/model/predicate'\n",
    expect: 'packages/check/src/judge.ts:1 imports resourced-contract/model/predicate: check imports no judgement',
  },
  {
    name: 'more of http than its fields',
    file: 'server/src/policy/caller.ts',
    text: "import { x } from '../http/message.ts'\n",
    expect: 'packages/server/src/policy/caller.ts:1 imports ../http/message.ts: policy may not import http',
  },
  {
    name: 'the fields of http',
    file: 'server/src/policy/caller.ts',
    text: "import { x } from 'resourced-contract/fields/header-fields'\n",
    expect: undefined,
  },
  {
    name: 'an engine elsewhere in the server',
    file: 'server/src/server/respond.ts',
    text: "const x = await import('../storage/sqlite/driver.ts')\n",
    expect:
      'packages/server/src/server/respond.ts:1 imports ../storage/sqlite/driver.ts: only the table of engines names an engine',
  },
  {
    name: 'an engine in the table of engines',
    file: 'server/src/server/open-database.ts',
    text: "import '../storage/sqlite/open.ts'\n",
    expect: undefined,
  },
  {
    name: 'a package in spec',
    file: 'contract/src/spec/rules.ts',
    text: "import Ajv from 'ajv'\n",
    expect: 'packages/contract/src/spec/rules.ts:1 imports ajv: spec imports nothing',
  },
  {
    name: 'the entry point',
    file: 'server/src/cli/program.ts',
    text: "import { Type } from '../index.ts'\n",
    expect:
      'packages/server/src/cli/program.ts:1 imports ../index.ts: only tests and examples use the public entry point',
  },
  {
    name: 'a value in the client',
    file: 'client/src/client.ts',
    text: "import { x } from 'resourced-contract/model/text'\n",
    expect: 'packages/client/src/client.ts:1 imports resourced-contract/model/text: client imports types only',
  },
  {
    name: 'the server in a page',
    file: 'console/src/console/app.tsx',
    text: "import { x } from 'resourced'\n",
    expect: 'packages/console/src/console/app.tsx:1 imports resourced: packages/console does not depend on resourced',
  },
  {
    name: 'an example in a comment',
    file: 'contract/src/spec/x.ts',
    text: " * import { x } from 'resourced'\n",
    expect: undefined,
  },
]

for (const { name, file, text, expect } of planted) {
  test(`a planted import, ${name}: ${expect === undefined ? 'allowed' : 'found'}`, () => {
    assert.deepEqual(objections(importsOf({ file: `packages/${file}`, text })), expect === undefined ? [] : [expect])
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
