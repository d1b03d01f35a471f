/** `resourced types`, compiled and used with the client against the server that it describes. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { commandFile } from '../../../../test/command-file.ts'
import { newDatabase } from '../../../../test/engine.ts'
import { interfaceTypes } from '../documents/types/interface-types.ts'
import { createApp } from '../server/create-app.ts'
import { toNodeHandler } from '../server/node/listener.ts'
import { loadDeclaration } from './load-declaration.ts'

const root = join(import.meta.dirname, '../../../..')
const run = promisify(execFile)

/** Runs the command to its end. */
async function types(...given: readonly string[]) {
  try {
    const { stdout, stderr } = await run(process.execPath, [commandFile, 'types', ...given], { cwd: root })
    return { status: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { status: code, stdout, stderr }
  }
}

/** A folder of a test's own, whose modules are ECMAScript modules. */
function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-types-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

/** What the compiler finds wrong in modules, under its strictest settings; empty: nothing. */
function compile(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'es2024', module: 'nodenext', moduleResolution: 'nodenext' },
    ...{ noUncheckedIndexedAccess: true, allowImportingTsExtensions: true, types: [], lib: ['es2024', 'dom'] },
  }
  const project = join(folder, 'tsconfig.json')
  writeFileSync(project, JSON.stringify({ compilerOptions, files: Object.keys(files) }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' }).stdout
}

/** Serves an example, every request as an administrator. */
async function serve(context: TestContext, file: string): Promise<string> {
  const database = await newDatabase()
  const declaration = await loadDeclaration(join(root, file))
  const authenticate = () => ({ id: 'ann', roles: ['admin'] })
  const app = createApp(declaration, { database: database.address, log: false, authenticate })
  const server = createServer(toNodeHandler(app))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(async () => {
    server.closeAllConnections()
    server.close()
    await app.close()
    await database.remove()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

interface Program {
  /** Runs, and names the records that it has read. */
  readonly works: string
  /** Compiles, because each mistake is expected, and never runs. */
  readonly mistakes: string
}

const studio: Program = {
  works: `
    const project = await client.projects.create({ name: 'House' })
    const task = await client.projects.within(project).tasks.create({ title: 'Roof' })
    const status: 'open' | 'doing' | 'done' = task.status
    const changed = await client.tasks.update(task, { status: 'doing' })
    const { data } = await client.tasks.list({ status: [status, 'doing'], sort: '-due_on', fields: ['title'] })
    const titles: string[] = data.map((each) => each.title)
    if (titles.join() !== 'Roof') throw new Error(titles.join())
    const summary = await client.tasks.summary({ group: ['status', 'created_at:year'], max: 'created_at' })
    const [row] = summary.data
    const shown: ['open' | 'doing' | 'done', string, string | null] | undefined =
      row && [row.group.status, row.group['created_at:year'], row.max.created_at]
    if (shown?.[0] !== 'doing' || row?.count !== 1) throw new Error(JSON.stringify(summary))
    const records: { projects: Types['projects']['record'], tasks: Types['tasks']['record'] } =
      { projects: project, tasks: changed }`,
  mistakes: `
    // @ts-expect-error It was not selected.
    client.tasks.list({ fields: ['title'] }).then(({ data }) => data[0]?.status)
    // @ts-expect-error There is no such status.
    client.tasks.list({ status: 'closed' })
    // @ts-expect-error There is no such filter.
    client.tasks.list({ colour: 'red' })
    // @ts-expect-error Nothing is grouped by a text.
    client.tasks.summary({ group: 'title' })
    // @ts-expect-error It was not asked for.
    client.tasks.summary({ group: 'status' }).then(({ data }) => data[0]?.sum)
    // @ts-expect-error Nothing sorts by it.
    client.tasks.list({ sort: 'secret_note' })
    // @ts-expect-error A title is a text.
    client.tasks.update('id', { title: 7 })
    // @ts-expect-error A title is required.
    client.tasks.create({ project_id: 'id' })
    // @ts-expect-error There is no such collection.
    client.budgets
    // @ts-expect-error Nothing is within a task.
    client.tasks.within('id').projects
    const names = client.tasks.list({ include: ['project'], where: { project: { visibility: 'public' } } })
      .then(({ data }): string | undefined => data[0]?.project?.name)
    const numbers = client.projects.get('id', { include: 'tasks' })
      .then(({ tasks }) => [tasks.total, ...tasks.map(({ title }) => title.length)])
    // @ts-expect-error There is no such relation.
    client.tasks.list({ include: ['projects'] })
    // @ts-expect-error There is no such visibility.
    client.tasks.list({ where: { project: { visibility: 'ajar' } } })`,
}

const atlas: Program = {
  works: `
    const country = await client.countries.create({
      ...{ name: 'Utopia', official_name: 'Utopia', code: 'UT', code3: 'UTO', region: 'Europe', landlocked: false },
      ...{ capitals: ['Amaurot'], languages: [], flag: 'U', latitude: 1, longitude: 2 },
      currencies: [{ code: 'UTO', name: 'Uto', symbol: 'u' }],
    })
    const symbol: string | undefined = country.currencies[0]?.symbol
    if (symbol !== 'u') throw new Error(symbol)
    const { cities } = client.countries.within(country)
    const city = await cities.create({ name: 'Amaurot', country_id: country.id, population: 10, latitude: 1, longitude: 2 })
    for await (const each of client.cities.all({ 'population[gte]': 10, capital: false, sort: ['-population', 'name'] })) {
      const population: number = each.population
      if (population !== 10) throw new Error('It has another population.')
    }
    const records: { countries: Types['countries']['record'], cities: Types['cities']['record'] } =
      { countries: country, cities: city }`,
  mistakes: `
    // @ts-expect-error A population is a number.
    client.cities.list({ 'population[gte]': 'many' })
    // @ts-expect-error A country has no population.
    client.countries.get('id').then(({ population }) => population)`,
}

/** The names of the members of each record, as the types have them, without those that may be missing. */
function recordMembers(text: string): Readonly<Record<string, readonly string[]>> {
  const blocks = text.matchAll(/^ {2}readonly (\w+): \{\n {4}readonly record: \{\n(.*?)^ {4}\}/gms)
  return Object.fromEntries(
    [...blocks].map(([, name = '', block = '']) => [
      name,
      [...block.matchAll(/^ {6}readonly (\w+):/gm)].map(([, member = '']) => member),
    ]),
  )
}

for (const [name, { works, mistakes }] of Object.entries({ studio, atlas })) {
  it(`the types of the example ${name} compile, and are what its server returns`, async (context) => {
    const url = await serve(context, `examples/${name}/resources.yaml`)
    const { stdout, stderr, status } = await types(url)
    assert.equal(status, 0, stderr)
    assert.equal((await types(`examples/${name}/resources.yaml`)).stdout, stdout)
    const folder = folderFor(context)
    const text = `
      import { createClient } from '${join(root, 'packages/client/src/index.ts')}'
      import type { Interface as Types } from './types.ts'
      const client = createClient<Types>({ url: '${url}' })
      ${works}
      console.log(JSON.stringify(Object.entries(records).map(([name, record]) => [name, Object.keys(record)])))
      export const mistakes = () => {
        ${mistakes}
      }
    `
    assert.equal(compile(folder, { 'types.ts': stdout, 'program.ts': text }), '')
    const printed = await run(process.execPath, [join(folder, 'program.ts')], { cwd: folder })
    const records = Object.fromEntries(JSON.parse(printed.stdout))
    const expected = recordMembers(stdout)
    assert.equal(Object.keys(records).length, 2)
    for (const [collection, keys] of Object.entries<string[]>(records))
      assert.deepEqual(keys.toSorted(), [...(expected[collection] ?? [])].sort(), collection)
  })
}

/** A document as a hostile server could send it. */
const hostile = {
  info: { title: 'a */ export const leak = 1 /*\nb', version: '`' },
  tags: ['__proto__', 'constructor', "it's", 'a"b\n', '*/ export const x = 1 /*', '\u2028', 'then', '2nd'].map(
    (name) => ({
      name,
      description: `${name} */ export {} /*`,
      'x-collection': {
        made: 'by-clients',
        schemas: { record: 'Record', create: 'Record', replace: 'Lost', patch: 'Loop' },
        fields: { __proto__: {}, 'a"b': { filter: ['eq', 'gt', '"'], sort: true }, loop: { filter: ['eq'] } },
        search: true,
        relations: { 'a" */': { to: 'one"', collection: "it's" } },
        summary: { group: ['"', '*/'], sum: [], min: ['\n'] },
        within: { collection: '__proto__' },
      },
    }),
  ),
  components: {
    schemas: {
      Record: {
        required: ['id', 'a"b'],
        properties: {
          id: { type: 'string', description: '*/ */\u2028' },
          'a"b': { enum: ['"', '\n', null, -1, '*/'] },
          loop: { $ref: '#/components/schemas/Loop' },
          self: { $ref: '#/components/schemas/Self' },
          nothing: false,
          anything: true,
          many: { type: ['array', 'null'], items: { anyOf: [{ type: 'string' }, { const: { 'x y': 1 } }] } },
          map: { type: 'object', additionalProperties: { type: 'integer' } },
          both: {
            allOf: [
              { $ref: '#/components/schemas/Part%7E01~1' },
              { type: 'object', properties: { b: { type: 'number' } } },
            ],
          },
          strange: { type: 'toString' },
        },
      },
      'Part~1/': { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
      Loop: { type: 'object', properties: { again: { $ref: '#/components/schemas/Loop' } } },
      Self: { $ref: '#/components/schemas/Self' },
    },
  },
}

it('names and texts of a document cannot end what they stand in, and every type compiles', (context) => {
  const text = interfaceTypes(JSON.parse(JSON.stringify(hostile)))
  const use = `
    import { createClient } from '${join(root, 'packages/client/src/index.ts')}'
    import type * as types from './types.ts'
    // @ts-expect-error Nothing but the types is exported.
    type Leak = types.leak | types.x
    const client = createClient<types.Interface>({ url: 'https://example.org' })
    export const list = () => client["it's"].list({ 'a"b': ['"', -1], sort: '-a"b', q: 'a' })
    export const read = async () => {
      const { both, many, map, loop } = await client['2nd'].get('id')
      const found: [string | undefined, number | undefined, number | undefined] = [both?.a, both?.b, map?.['a']]
      const texts: readonly (string | { readonly 'x y': 1 })[] | null | undefined = many
      return [found, texts, loop?.again]
    }
  `
  assert.equal(compile(folderFor(context), { 'types.ts': text, 'use.ts': use }), '')
})

it('says what it cannot read', async (context) => {
  const folder = folderFor(context)
  const file = join(folder, 'other.json')
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info: { title: 'Other', version: '1' }, paths: {} }))
  for (const [source, status, message] of [
    [file, 1, /describes no collections/],
    [join(folder, 'none.yaml'), 1, /There is no such file/],
    ['http://127.0.0.1:1/v1', 1, /v1\/openapi\.json cannot be read: bad port\. Check the address/],
    ['http://', 2, /is no address/],
  ] as const) {
    const { stderr, stdout, ...ended } = await types(source)
    assert.match(stderr, message)
    assert.deepEqual([ended.status, stdout], [status, ''], source)
  }
})

it('reads a document of an address with a key, and says if the key is missing', async (context) => {
  const document = JSON.stringify(hostile)
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === 'Bearer rsk_1' && request.url === '/v2/openapi.json'
    response.writeHead(isKnown ? 200 : 401, { 'Content-Type': 'application/json' }).end(isKnown ? document : '{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/`
  assert.equal((await types(url, '--key', 'rsk_1')).stdout, interfaceTypes(JSON.parse(document)))
  const refused = await types(url)
  assert.deepEqual([refused.status, /needs a credential: give one with --key/.test(refused.stderr)], [1, true])
})
