import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Field, Resource } from 'resourced-contract/model/resource'
import { newDatabase, type TrialDatabase } from '../../../../test/engine.ts'
import type { Storage } from '../storage/storage.ts'
import { Columns, emptyMap } from './column-map.ts'
import { keysOf, withKeys } from './import-keys.ts'
import { importStaged, keyText, type StagedImport, type StagedResult } from './import-staged.ts'
import { readRecords } from './read-records.ts'

const catalog = completeCatalog({
  name: 'office',
  resources: {
    teams: {
      fields: { old_id: { type: 'string', unique: true, optional: true }, name: { type: 'string', unique: true } },
    },
    people: {
      fields: {
        old_id: { type: 'integer', unique: true, optional: true },
        name: { type: 'string', unique: true, maxLength: 20 },
        boss_id: { reference: 'people', optional: true, immutable: true },
        deputy_id: { reference: 'people', optional: true },
        team_id: { reference: 'teams', optional: true },
        number: { sequence: {} },
      },
      events: true,
      rules: [
        {
          on: 'create',
          check: ({ next }) => (next?.['name'] === 'Taboo' ? { code: 'TABOO', message: 'No.' } : undefined),
        },
      ],
    },
    // A record cannot be without its reference.
    links: { fields: { old_id: { type: 'string', unique: true }, next_id: { reference: 'links' } } },
  },
})
const resourceOf = (name: string) => catalog.resources.get(name) as Resource

async function opened(context: TestContext): Promise<{ storage: Storage; database: TrialDatabase }> {
  const database = await newDatabase()
  const storage = await database.open(catalog)
  context.after(() => storage.close())
  return { storage, database }
}

interface Ended extends Omit<StagedResult, 'imported'> {
  readonly imported: number
  readonly problems: readonly string[]
}

/** Imports lines of CSV with the key `old_id`. */
async function imported(
  storage: Storage,
  collection: string,
  lines: readonly string[] | AsyncIterable<Uint8Array>,
  options: Partial<StagedImport> & { readonly key?: string; readonly referenceKeys?: Record<string, string> } = {},
): Promise<Ended> {
  async function* bytes() {
    yield Buffer.from(`${(lines as readonly string[]).join('\n')}\n`)
  }
  const { key = 'old_id', referenceKeys = {}, ...more } = options
  const resource = resourceOf(collection)
  const keys = keysOf(catalog, resource, key, new Map(Object.entries(referenceKeys)))
  const columns = new Columns(resource, emptyMap)
  const source = Array.isArray(lines) ? bytes() : (lines as AsyncIterable<Uint8Array>)
  const problems: string[] = []
  const result = await importStaged({
    storage,
    resources: [resource],
    spaces: keys.spaces,
    rows: withKeys(readRecords(source, 'csv', columns, { mostBytes: 10_000 }), keys),
    caller: { id: 'importer', roles: [], claims: {} },
    isWhole: false,
    onProblem: ({ place, issues }) =>
      problems.push(`${place} ${issues.map(({ code, pointer }) => `${code} ${pointer}`)}`),
    ...more,
  })
  const { imported: counts, ...rest } = result
  return { imported: counts.get(collection) ?? 0, ...rest, problems }
}

/** The people by their old ids, with the old ids of those that they refer to. */
async function people({ rows }: TrialDatabase): Promise<string[]> {
  const old = (field: string) => `(select other.old_id from people other where other.id = people.${field})`
  const found = await rows(
    `select old_id, name, ${old('boss_id')} as boss, ${old('deputy_id')} as deputy,
       (select teams.old_id from teams where teams.id = people.team_id) as team, _revision from people order by old_id`,
  )
  return found.map((row) => Object.values(row).join(' ').trimEnd())
}

for (const isWhole of [false, true]) {
  const how = isWhole ? 'in one transaction' : 'in batches'

  test(`${how}: references to later lines, to itself, in a circle and to another collection`, async (context) => {
    const { storage, database } = await opened(context)
    await imported(storage, 'teams', ['old_id,name', 'a,Alpha', 'b,Beta'])
    const lines = ['old_id,name,boss_id,deputy_id,team_id', '4,Dov,2,,b', '2,Bea,1,3,a', '3,Cem,2,2,', '1,Ann,1,,a']
    const result = await imported(storage, 'people', lines, { isWhole })
    assert.deepEqual(result, { imported: 4, existing: 0, skipped: 0, stopped: false, problems: [] })
    assert.deepEqual(await people(database), ['1 Ann 1  a 1', '2 Bea 1 3 a 1', '3 Cem 2 2  1', '4 Dov 2  b 1'])
    // Each record was written once, after those that it refers to, and has one event.
    const events = await database.rows('select kind, count(*) as count from events group by kind')
    assert.deepEqual(events.map((row) => [row['kind'], Number(row['count'])]), [['created', 4]]) // biome-ignore format: one row reads best
    const numbers = await database.rows('select number from people order by number')
    assert.deepEqual(numbers.map((row) => Number(row['number'])), [1, 2, 3, 4]) // biome-ignore format: one row reads best
  })

  test(`${how}: a second run creates what is missing, and leaves what is there as it is`, async (context) => {
    const { storage, database } = await opened(context)
    await imported(storage, 'people', ['old_id,name,boss_id', '1,Ann,', '2,Bea,1'], { isWhole })
    const lines = ['old_id,name,boss_id', '3,Cem,2', '2,Bea Smith,', '1,Ann,']
    const result = await imported(storage, 'people', lines, { isWhole })
    assert.deepEqual(result, { imported: 1, existing: 2, skipped: 0, stopped: false, problems: [] })
    assert.deepEqual(await people(database), ['1 Ann    1', '2 Bea 1   1', '3 Cem 2   1'])
  })

  test(`${how}: all that is wrong is reported before anything is written`, async (context) => {
    const { storage, database } = await opened(context)
    const lines = [
      'old_id,name,boss_id,deputy_id,team_id',
      '1,Ann,,,',
      '1,Bea,,,',
      `2,${'x'.repeat(21)},,,`,
      '3,Cem,9,8,z',
      ',Dov,,,',
      '4,Eve,one,,',
      '5,Fay',
      'six,Gil,,,',
    ]
    const result = await imported(storage, 'people', lines, { isWhole })
    assert.deepEqual(result, {
      ...{ imported: 0, existing: 0, skipped: 7, stopped: true },
      problems: [
        'line 3 DUPLICATE_VALUE /old_id',
        'line 4 TOO_LONG /name',
        'line 6 REQUIRED /old_id',
        'line 7 INVALID_TYPE /boss_id',
        'line 8 INVALID_VALUE undefined',
        'line 9 INVALID_TYPE /old_id',
        'line 5 INVALID_REFERENCE /boss_id,INVALID_REFERENCE /deputy_id,INVALID_REFERENCE /team_id',
      ],
    })
    assert.deepEqual(await people(database), [])
  })
}

test('one transaction: what only the database refuses leaves nothing, and is reported with its lines', async (context) => {
  const { storage, database } = await opened(context)
  await imported(storage, 'people', ['old_id,name', '1,Ann'])
  const lines = ['old_id,name,boss_id', '2,Bea,', '3,Taboo,2', '4,Ann,2', '5,Eve,4']
  const result = await imported(storage, 'people', lines, { isWhole: true })
  assert.deepEqual([result.imported, result.stopped], [0, true])
  assert.deepEqual(result.problems.slice(0, 2), ['line 3 TABOO undefined', 'line 4 DUPLICATE_VALUE /name'])
  assert.deepEqual(await people(database), ['1 Ann    1'])
  const numbers = await imported(storage, 'people', ['old_id,name', '6,Fay'])
  assert.equal(numbers.imported, 1)
  const [last] = await database.rows('select max(number) as number from people')
  assert.equal(Number(last?.['number']), 2, 'the sequence has no gap')
})

test('batches: a refused row stops the import, and a second run continues it', async (context) => {
  const { storage, database } = await opened(context)
  const lines = ['old_id,name,boss_id', '2,Bea,', '3,Taboo,2', '4,Dov,2']
  const first = await imported(storage, 'people', lines)
  assert.deepEqual(first, { imported: 1, existing: 0, skipped: 1, stopped: true, problems: ['line 3 TABOO undefined'] })
  const second = await imported(
    storage,
    'people',
    lines.map((line) => line.replace('Taboo', 'Tab')),
  )
  assert.deepEqual(second, { imported: 2, existing: 1, skipped: 0, stopped: false, problems: [] })
  assert.deepEqual(await people(database), ['2 Bea    1', '3 Tab 2   1', '4 Dov 2   1'])
})

test('skipInvalid leaves out what is refused, and what refers to it', async (context) => {
  const { storage, database } = await opened(context)
  const lines = [
    'old_id,name,boss_id',
    '1,Ann,',
    '2,Bea,9',
    '3,Cem,2',
    '4,Taboo,1',
    '5,Eve,4',
    '6,Fay,1',
    '7,Taboo,8',
    '8,Hal,7',
  ]
  const result = await imported(storage, 'people', lines, { skipInvalid: true })
  assert.deepEqual(result, {
    ...{ imported: 2, existing: 0, skipped: 6, stopped: false },
    problems: [
      'line 3 INVALID_REFERENCE /boss_id',
      'line 4 INVALID_REFERENCE /boss_id',
      'line 5 TABOO undefined',
      'line 6 INVALID_REFERENCE /boss_id',
      'line 8 TABOO undefined',
      'line 9 INVALID_REFERENCE undefined',
    ],
  })
  assert.deepEqual(await people(database), ['1 Ann    1', '6 Fay 1   1'])
})

test('a circle of references that cannot be empty goes in as a whole', async (context) => {
  const { storage, database } = await opened(context)
  const lines = ['old_id,next_id', 'a,b', 'b,c', 'c,a', 'd,c', 'e,e']
  const result = await imported(storage, 'links', lines)
  assert.deepEqual(result, { imported: 5, existing: 0, skipped: 0, stopped: false, problems: [] })
  const rows = await database.rows(
    'select links.old_id, target.old_id as next from links join links target on target.id = links.next_id order by 1',
  )
  assert.deepEqual(rows.map((row) => Object.values(row).join()), ['a,b', 'b,c', 'c,a', 'd,c', 'e,e']) // biome-ignore format: one row reads best
})

test('a reference can hold another unique field, of records that are there', async (context) => {
  const { storage, database } = await opened(context)
  await imported(storage, 'teams', ['old_id,name', 'a,Alpha'])
  const lines = ['old_id,name,team_id', '1,Ann,Alpha', '2,Bea,Gamma']
  const result = await imported(storage, 'people', lines, { referenceKeys: { team_id: 'name' }, skipInvalid: true })
  assert.deepEqual(result.problems, ['line 3 INVALID_REFERENCE /team_id'])
  assert.deepEqual(await people(database), ['1 Ann   a 1'])
})

test('equal keys have one text, and what a field cannot have is no key', () => {
  const textOf = (collection: string, field: string, value: unknown) => {
    const resource = resourceOf(collection)
    return keyText(resource, resource.field.get(field) as Field, value)
  }
  for (const value of [7, '7', ' 7 ']) assert.equal(textOf('people', 'old_id', value), '7')
  for (const value of ['007', '0x10', '1e3', '7.5', '', 'x', null, true, {}]) {
    assert.equal(textOf('people', 'old_id', value), undefined, JSON.stringify(value))
  }
  assert.equal(textOf('teams', 'old_id', 7), textOf('teams', 'old_id', '7'))
  assert.notEqual(textOf('teams', 'old_id', '007'), textOf('teams', 'old_id', '7'))
})

test('a field that cannot be a key is refused, and says what to declare', () => {
  const refused = (key: string, referenceKeys: Record<string, string> = {}) => {
    assert.throws(() => keysOf(catalog, resourceOf('people'), key, new Map(Object.entries(referenceKeys))), {
      name: 'ConfigurationError',
    })
  }
  refused('id')
  refused('team_id')
  refused('old_id', { team_id: 'nothing' })
})

test('memory does not grow with 60,000 rows, each of which refers to a later one', { timeout: 300_000 }, async () => {
  const count = 60_000
  async function* file(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('old_id,name,boss_id\n')
    for (let from = 1; from <= count; from += 1_000) {
      const lines = Array.from({ length: 1_000 }, (_, offset) => {
        const number = from + offset
        return `${number},Person ${number},${number < count ? number + 1 + ((number * 7) % (count - number)) : ''}\n`
      })
      yield Buffer.from(lines.join(''))
    }
  }
  const page = { kind: 'page', json: '', total: 0 }
  const storage = {
    run: async () => page,
    load: async (plans: readonly unknown[]) => plans.map(() => undefined),
  } as unknown as Storage
  const used = () => {
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  let [least, most] = [Number.POSITIVE_INFINITY, 0]
  const measure = (done: number) => {
    if (done % 10_000 !== 0) return
    const now = used()
    least = Math.min(least, now)
    most = Math.max(most, now)
  }
  const result = await imported(storage, 'people', file(), { onStaged: measure, onProgress: measure })
  assert.equal(result.imported, count)
  assert.ok(most - least < 8_000_000, `${most - least} bytes more`)
})
