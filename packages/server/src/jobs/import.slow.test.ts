import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { engine, newDatabase } from '../../../../test/engine.ts'
import { type Storage, StorageFault } from '../storage/storage.ts'
import { Columns } from './column-map.ts'
import { type Imported, type ImportOptions, type ImportProblem, importRecords } from './import.ts'
import { readRecords } from './read-records.ts'
import type { SourceRecord } from './source.ts'

const catalog = completeCatalog({
  name: 'shop',
  resources: {
    shelves: { fields: { name: Type.String({ unique: true }) } },
    bills: { fields: { tenant: { type: 'string', set: { onCreate: { caller: 'claims.tenant' } } } } },
    orders: { fields: { total: { type: 'decimal', precision: 4, scale: 0, sumOf: 'parts.price' } } },
    parts: {
      fields: { order_id: { reference: 'orders' }, price: { type: 'decimal', precision: 4, scale: 0 } },
    },
    items: {
      fields: {
        code: Type.String({ unique: true, maxLength: 20, search: true, sort: true }),
        shelf_id: Type.Optional(reference('shelves')),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      rules: [
        {
          on: 'create',
          check: ({ next }) => (next?.['code'] === 'taboo' ? { code: 'TABOO', message: 'No.' } : undefined),
        },
      ],
    },
  },
})
const items = catalog.resources.get('items') as Resource

async function storageFor(context: TestContext): Promise<Storage> {
  const storage = await (await newDatabase()).open(catalog)
  context.after(() => storage.close())
  return storage
}

/** Records, each on a line of its own. */
async function* records(values: readonly unknown[]): AsyncGenerator<SourceRecord> {
  for (const [index, value] of values.entries()) yield { line: index + 1, value, size: 10 }
}

interface Run extends Imported {
  readonly problems: readonly string[]
}

async function run(
  storage: Storage,
  source: AsyncIterable<SourceRecord>,
  options: Partial<ImportOptions> = {},
): Promise<Run> {
  const problems: string[] = []
  const onProblem = ({ line, issues }: ImportProblem) =>
    problems.push(`${line} ${issues.map(({ code, pointer = '' }) => `${code} ${pointer}`.trim()).join(', ')}`)
  const caller = { id: 'importer', roles: [], claims: {} }
  const result = await importRecords({ storage, resource: items, records: source, caller, onProblem, ...options })
  return { ...result, problems }
}

function pageOf(resource: Resource) {
  return {
    kind: 'read-page',
    resource,
    parent: undefined,
    filter: always,
    permitted: always,
    search: undefined,
    deleted: undefined,
    page: { style: 'offset', offset: 0, limit: 10_000 },
    fields: undefined,
    conditions: {},
  } as const
}

/** The codes that are in, with their owners, in the order of the codes; and how many the collection counts. */
async function stored(storage: Storage): Promise<{ codes: string[]; owners: string[]; total: number }> {
  const page = await storage.run({ ...pageOf(items), sort: [{ field: 'code', descending: false }] })
  assert.ok(page.kind === 'page')
  const found = JSON.parse(`[${page.json}]`) as { code: string; owner_id: string }[]
  return { codes: found.map(({ code }) => code), owners: found.map(({ owner_id }) => owner_id), total: page.total }
}

test('names the attribute of the caller that a record needs and no import has (RES-15)', async (context) => {
  const resource = catalog.resources.get('bills') as Resource
  const { imported, problems } = await run(await storageFor(context), records([{}, {}]), {
    resource,
    skipInvalid: true,
  })
  assert.deepEqual([imported, problems], [0, ['1 FORBIDDEN', '2 FORBIDDEN']])
})

test('names the record that makes a sum too large (RES-17)', async (context) => {
  const orders = catalog.resources.get('orders') as Resource
  const resource = catalog.resources.get('parts') as Resource
  for (const skipInvalid of [true, false]) {
    const storage = await storageFor(context)
    await run(storage, records([{}]), { resource: orders })
    const page = await storage.run({ ...pageOf(orders), sort: [{ field: 'id', descending: false }] })
    const order_id = page.kind === 'page' && JSON.parse(page.json).id
    const prices = ['9000', '900', '500', '99', '1', '-9999', '3']
    const source = records(prices.map((price) => ({ order_id, price })))
    const { imported, problems } = await run(storage, source, { resource, skipInvalid })
    const refused = ['3 TOO_LARGE /price', '5 TOO_LARGE /price']
    assert.deepEqual([imported, problems], skipInvalid ? [5, refused] : [2, refused.slice(0, 1)])
  }
})

test('records are created as by POST: the owner defaults to the caller, and search finds them', async (context) => {
  const storage = await storageFor(context)
  const result = await run(storage, records([{ code: 'apple pie' }, { code: 'bread', owner_id: 'ann' }]))
  assert.deepEqual(result, { imported: 2, skipped: 0, line: 2, stopped: false, problems: [] })
  assert.deepEqual(await stored(storage), { codes: ['apple pie', 'bread'], owners: ['importer', 'ann'], total: 2 })
  const search = { search: ['pie'], filter: always, permitted: always, parent: undefined, deleted: undefined, sort: [] }
  const page = { style: 'page', page: 1, perPage: 10 } as const
  const found = await storage.run({
    kind: 'read-page',
    resource: items,
    ...search,
    page,
    fields: undefined,
    conditions: {},
  })
  assert.ok(found.kind === 'page' && found.total === 1)
})

const bad: readonly (readonly [name: string, value: unknown, problem: string])[] = [
  ['a broken schema', { code: 'x'.repeat(21) }, 'TOO_LONG /code'],
  ['two faults at once', { colour: 1 }, 'UNKNOWN_FIELD /colour, REQUIRED /code'],
  [
    'a reference to nothing',
    { code: 'x', shelf_id: '00000000-0000-7000-8000-000000000000' },
    'INVALID_REFERENCE /shelf_id',
  ],
  ['a value that is taken, by a record of the same batch', { code: 'a001' }, 'DUPLICATE_VALUE /code'],
  ['a business rule', { code: 'taboo' }, 'TABOO'],
  ['no object', 7, 'INVALID_TYPE, REQUIRED /code'],
]
for (const [name, value, problem] of bad) {
  test(`${name} stops the import: exactly the records before it are imported`, async (context) => {
    for (const batch of [1, 4, 5, 6, 100]) {
      const storage = await storageFor(context)
      const values: unknown[] = Array.from({ length: 12 }, (_, index) => ({
        code: `a${String(index).padStart(3, '0')}`,
      }))
      values[5] = value
      const result = await run(storage, records(values), { batch })
      assert.deepEqual(result, { imported: 5, skipped: 1, line: 5, stopped: true, problems: [`6 ${problem}`] })
      const { codes, total } = await stored(storage)
      assert.deepEqual(codes, ['a000', 'a001', 'a002', 'a003', 'a004'])
      assert.equal(total, 5)
    }
  })
}

test('a record that cannot be read stops the import too', async (context) => {
  const storage = await storageFor(context)
  const file = bytesOf('{"code":"a"}\n{"code":"b"}\n{"code":\n{"code":"c"}\n')
  const result = await run(storage, readRecords(file, 'ndjson', new Columns(items), { mostBytes: 100 }))
  assert.deepEqual(result, { imported: 2, skipped: 1, line: 2, stopped: true, problems: ['3 MALFORMED_JSON'] })
  assert.deepEqual((await stored(storage)).codes, ['a', 'b'])
})

test('skipInvalid skips invalid records and imports the others in order', async (context) => {
  for (const batch of [1, 3, 100]) {
    const storage = await storageFor(context)
    const file = bytesOf('[{"code":"a"}, {"code":"a"},\n{"code" 1},\n{"code":"taboo"},\n{"code":"b"}]')
    const source = readRecords(file, 'json', new Columns(items), { mostBytes: 100 })
    const result = await run(storage, source, { batch, skipInvalid: true })
    const problems = ['1 DUPLICATE_VALUE /code', '2 MALFORMED_JSON', '3 TABOO']
    assert.deepEqual(result, { imported: 2, skipped: 3, line: 4, stopped: false, problems })
    assert.deepEqual((await stored(storage)).codes, ['a', 'b'])
  }
})

test('skipInvalid stops where nothing more can be read', async (context) => {
  const storage = await storageFor(context)
  const source = readRecords(bytesOf('[{"code":"a"}, {"code":"b"'), 'json', new Columns(items), { mostBytes: 100 })
  const result = await run(storage, source, { skipInvalid: true })
  assert.deepEqual(result, { imported: 1, skipped: 1, line: 1, stopped: true, problems: ['1 MALFORMED_JSON'] })
})

test('if the database fails, everything up to the last progress is imported, and nothing after it', async (context) => {
  const storage = await storageFor(context)
  let loads = 0
  const failing: Storage = {
    ...storage,
    load: (plans, whenRefused) =>
      ++loads === 3
        ? Promise.reject(new StorageFault('failed', 'The disk is full.'))
        : storage.load(plans, whenRefused),
  }
  let told = 0
  const values = Array.from({ length: 10 }, (_, index) => ({ code: `c${index}` }))
  const onProgress = ({ imported }: { imported: number }) => {
    told = imported
  }
  await assert.rejects(run(failing, records(values), { batch: 3, onProgress }), StorageFault)
  assert.equal(told, 6)
  assert.equal((await stored(storage)).total, 6)
})

test('a batch that takes long is imported in several transactions, with the same result', async (context) => {
  const lines = ['{"code":"a"}', '{"code":"b"}', '{"code" 1}', '{"code":"a"}', '{"code":"c"}', '{"code":"d"}']
  for (const skipInvalid of [true, false]) {
    const results = []
    for (const most of [undefined, 0]) {
      const storage = await storageFor(context)
      let loads = 0
      const load: Storage['load'] = (plans, whenRefused) => {
        loads++
        return storage.load(plans, whenRefused, most)
      }
      const source = readRecords(bytesOf(lines.join('\n')), 'ndjson', new Columns(items), { mostBytes: 100 })
      results.push([await run({ ...storage, load }, source, { skipInvalid }), await stored(storage)])
      if (most === 0 && engine === 'sqlite') assert.ok(loads > 1)
    }
    assert.deepEqual(results[1], results[0])
  }
})

test('a batch of large records ends sooner', async () => {
  const sizes: number[] = []
  const storage = fakeStorage((count) => sizes.push(count))
  async function* large(): AsyncGenerator<SourceRecord> {
    for (let line = 1; line <= 10; line++) yield { line, value: {}, size: 1_000_000 }
  }
  await run(storage, large())
  assert.deepEqual(sizes, [4, 4, 2])
})

test('memory does not grow with the file, of 300,000 lines of NDJSON or 100,000 of JSON and CSV', {
  timeout: 120_000,
}, async () => {
  const line = (index: number) => `{"code":"item ${index}","owner_id":"${'x'.repeat(60)}"}`
  const formats = {
    ndjson: { first: '', each: (index: number) => `${line(index)}\n`, last: '' },
    json: { first: '[{}', each: (index: number) => `,${line(index)}\n`, last: ']' },
    csv: { first: 'code,owner_id\n', each: (index: number) => `item ${index},"${'x'.repeat(60)}"\n`, last: '' },
  }
  for (const [format, { first, each, last }] of Object.entries(formats)) {
    const lines = format === 'ndjson' ? 300_000 : 100_000
    async function* file(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(first)
      for (let index = 0; index < lines; index += 1_000) {
        yield Buffer.from(Array.from({ length: 1_000 }, (_, offset) => each(index + offset)).join(''))
      }
      yield Buffer.from(last)
    }
    const storage = fakeStorage(() => {})
    let least = Number.POSITIVE_INFINITY
    let most = 0
    const onProgress = ({ imported }: { imported: number }) => {
      if (imported % 20_000 !== 0) return
      collectGarbage()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      least = Math.min(least, heapUsed + arrayBuffers)
      most = Math.max(most, heapUsed + arrayBuffers)
    }
    const result = await run(storage, readRecords(file(), format as 'csv', new Columns(items), { mostBytes: 1_000 }), {
      onProgress,
    })
    assert.equal(result.imported, format === 'json' ? lines + 1 : lines)
    assert.ok(most - least < 5_000_000, `${format}: ${most - least} bytes more`)
  }
})

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** A storage that creates everything and keeps nothing. */
function fakeStorage(onLoad: (count: number) => void): Storage {
  const load: Storage['load'] = async (plans) => {
    onLoad(plans.length)
    return plans.map(() => undefined)
  }
  return { load } as Storage
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
