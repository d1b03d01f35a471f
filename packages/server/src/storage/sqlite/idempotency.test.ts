import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always, never, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { uuidv7 } from 'uuidv7'
import type { Created, Outcome } from '../../plan/outcome.ts'
import type { Create } from '../../plan/plan.ts'
import type { Storage } from '../storage.ts'
import { mostExpiredKeys } from '../transactions/idempotency.ts'
import { all } from './migrate.fixture.ts'
import { openSqlite } from './storage.ts'

const catalog = completeCatalog({
  name: 'shop',
  resources: {
    shelves: { fields: { name: Type.String() } },
    goods: {
      fields: {
        name: Type.String({ maxLength: 20, search: true }),
        code: Type.Optional(Type.String({ unique: true })),
        shelf_id: Type.Optional(reference('shelves')),
        pin: Type.Optional(Type.String({ writeOnly: true })),
      },
      within: 'shelf_id',
    },
  },
})
const goods = catalog.resources.get('goods') as Resource
const shelves = catalog.resources.get('shelves') as Resource
const folder = mkdtempSync(join(tmpdir(), 'resourced-idempotency-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0

const noon = Date.UTC(2026, 10, 21, 12)
const hour = 3_600_000

interface Asked {
  readonly key?: string
  readonly now?: number
  readonly preferred?: 'minimal' | 'representation'
  readonly permitted?: Predicate
  readonly shelf?: string
}

/** A creation as it comes from a client: each time with another id. The fingerprint is the body itself. */
function creation(body: object, { key = 'key', now = noon, preferred, permitted = always, shelf }: Asked = {}): Create {
  return {
    kind: 'create',
    resource: goods,
    id: uuidv7(),
    parent: shelf === undefined ? undefined : { resource: shelves, id: shelf, field: 'shelf_id', permitted: always },
    body,
    permitted,
    mayAssignOwner: false,
    idempotency: {
      scope: key,
      fingerprint: JSON.stringify(body),
      preferred: { return: preferred, asynchronously: false, most: undefined },
    },
    caller: { id: 'ann', roles: [], claims: {} },
    now,
  }
}

function opened(context: TestContext, file = join(folder, `${++files}.db`)) {
  const storage = openSqlite(catalog, { path: file })
  const other = new DatabaseSync(file)
  context.after(async () => {
    other.close()
    await storage.close()
  })
  const rows = (table: string) => Number(all(other, `select count(*) as count from ${table}`)[0]?.['count'])
  return { file, storage, other, records: () => rows('goods'), keys: () => rows('resourced_idempotency') }
}

async function create(storage: Storage, body: object, asked?: Asked): Promise<Created> {
  const outcome = await storage.run(creation(body, asked))
  assert.ok(outcome.kind === 'created', JSON.stringify(outcome))
  return outcome
}

test('MET-9: a repeated request gets the first response and its preferences, and changes nothing', async (context) => {
  const { storage, other, records } = opened(context)
  const first = await create(storage, { name: 'Tea', pin: '1234' }, { preferred: 'minimal' })
  const before = all(other, 'select * from resourced_clocks, resourced_idempotency')
  const repeat = creation({ name: 'Tea', pin: '1234' }, { now: noon + 23 * hour, preferred: 'representation' })
  assert.deepEqual(await storage.run(repeat), { kind: 'replayed', answer: first, preferred: minimal })
  assert.deepEqual(all(other, 'select * from resourced_clocks, resourced_idempotency'), before)
  assert.equal(records(), 1)
  assert.equal(String(before[0]?.['outcome']).includes('1234'), false)
})

test('MET-9: another key creates another record, and so does a request without a key', async (context) => {
  const { storage, records, keys } = opened(context)
  await create(storage, { name: 'Tea' })
  await create(storage, { name: 'Tea' }, { key: 'other' })
  const plain: Create = { ...creation({ name: 'Tea' }), idempotency: undefined }
  assert.equal((await storage.run(plain)).kind, 'created')
  assert.deepEqual([records(), keys()], [3, 2])
})

// As it comes back from its text.
const minimal = { return: 'minimal', asynchronously: false }
const kinds = (outcomes: readonly Outcome[]) => outcomes.map(({ kind }) => kind).sort()
const firstOf = (outcome: Outcome) => (outcome.kind === 'replayed' ? outcome.answer : outcome)

test('MET-9: 64 concurrent repetitions create one record and get one response', async (context) => {
  const { storage, records, keys } = opened(context)
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, () => storage.run(creation({ name: 'Tea', code: 'a' }))),
  )
  assert.deepEqual(kinds(outcomes), ['created', ...Array(63).fill('replayed')])
  for (const outcome of outcomes) assert.deepEqual(firstOf(outcome), firstOf(outcomes[0] as Outcome))
  assert.deepEqual([records(), keys()], [1, 1])
})

test('MET-9: repetitions to two servers on one database create one record', async (context) => {
  const { file, storage, records } = opened(context)
  const { storage: second } = opened(context, file)
  const repeats = Array.from({ length: 64 }, (_, index) =>
    (index % 2 === 0 ? storage : second).run(creation({ name: 'Tea' })),
  )
  const outcomes = await Promise.all(repeats)
  assert.deepEqual(kinds(outcomes), ['created', ...Array(63).fill('replayed')])
  for (const outcome of outcomes) assert.deepEqual(firstOf(outcome), firstOf(outcomes[0] as Outcome))
  assert.equal(records(), 1)
})

test('CON-6: a key that was used with another body is reported after 403 and 404, and before mistakes in the body', async (context) => {
  const { storage, records, keys } = opened(context)
  await create(storage, { name: 'Tea', code: 'a' })
  const run = async (body: object, asked: Asked = {}) => (await storage.run(creation(body, asked))).kind
  assert.equal(await run({ name: 'Oil' }), 'key-reused')
  assert.equal(await run({}), 'key-reused')
  assert.equal(await run({ name: 'Oil', code: 'a' }), 'key-reused')
  assert.equal(await run({ name: 'Oil', shelf_id: uuidv7() }), 'key-reused')
  assert.equal(await run({ name: 'Oil' }, { permitted: never }), 'forbidden')
  assert.equal(await run({ name: 'Oil' }, { shelf: uuidv7() }), 'parent-missing')
  // If the field that decides about permission is invalid, no caller could be permitted. That is a 400, which comes
  // after the error of the key.
  const named: Predicate = { kind: 'compare', field: 'name', operator: 'eq', value: 'Oil' }
  assert.equal(await run({ name: 5 }, { permitted: named }), 'key-reused')
  assert.equal(await run({ name: 5 }, { permitted: named, key: 'other' }), 'invalid')
  assert.deepEqual([records(), keys()], [1, 1])
})

test('MET-9: the response to a refused creation is not kept: a repeated request is decided again', async (context) => {
  const { storage, keys } = opened(context)
  const taken = await create(storage, { name: 'Tea', code: 'a' }, { key: 'first' })
  for (const [body, asked, refusal] of [
    [{ name: 'Oil', code: 'a' }, { key: 'second' }, 'conflict'],
    [{ name: 5 }, { key: 'second' }, 'invalid'],
    [{ name: 'Oil', code: 'a' }, { key: 'second', permitted: never }, 'forbidden'],
  ] as const) {
    assert.equal((await storage.run(creation(body, asked))).kind, refusal)
    assert.equal(keys(), 1)
  }
  const removal = { deletion: uuidv7(), statusUrl: '', above: 1_000, permitted: always, readable: new Map() }
  const caller = { id: 'ann', roles: [], claims: {} }
  const plan = { kind: 'delete', resource: goods, id: taken.id, conditions: {}, caller, now: noon, ...removal } as const
  assert.equal((await storage.run(plan)).kind, 'deleted')
  await create(storage, { name: 'Oil', code: 'a' }, { key: 'second' })
  // The first response stays the same, although its record is deleted.
  assert.deepEqual(firstOf(await storage.run(creation({ name: 'Tea', code: 'a' }, { key: 'first' }))), taken)
})

test('MET-9: after a day the key is new, with any body', async (context) => {
  const { storage, records, keys } = opened(context)
  const first = await create(storage, { name: 'Tea' })
  const day = 24 * hour
  const late = await storage.run(creation({ name: 'Tea' }, { now: noon + day - 1 }))
  assert.deepEqual(firstOf(late), first)
  const next = await create(storage, { name: 'Oil' }, { now: noon + day, preferred: 'minimal' })
  assert.notEqual(next.id, first.id)
  assert.deepEqual([records(), keys()], [2, 1])
  const repeat = await storage.run(creation({ name: 'Oil' }, { now: noon + 2 * day - 1 }))
  assert.deepEqual(repeat, { kind: 'replayed', answer: next, preferred: minimal })
})

test('MET-9: a crash between commit and response does not lead to a second record', async (context) => {
  const { storage, file } = opened(context)
  await create(storage, { name: 'Tea' })
  // The state of the disk at this moment: the first server is not closed.
  const crashed = join(folder, 'crashed.db')
  for (const part of ['', '-wal']) copyFileSync(file + part, crashed + part)
  const again = opened(context, crashed)
  const [row] = all(again.other, 'select id from goods')
  const outcome = await again.storage.run(creation({ name: 'Tea' }))
  assert.ok(outcome.kind === 'replayed' && outcome.answer.kind === 'created')
  assert.equal(outcome.answer.id, row?.['id'])
  assert.equal(again.records(), 1)
})

test('MET-9: a commit that fails keeps neither the record nor the key', async (context) => {
  const { storage, other, records, keys } = opened(context)
  // Both are written before the commit finds a constraint broken.
  other.exec('create table never (id text references goods (id) deferrable initially deferred)')
  other.exec("create trigger keyed after insert on resourced_idempotency begin insert into never values ('x'); end")
  await assert.rejects(storage.run(creation({ name: 'Tea' })), { kind: 'failed' })
  assert.deepEqual([records(), keys()], [0, 0])
  other.exec('drop trigger keyed')
  await create(storage, { name: 'Tea' })
  assert.deepEqual([records(), keys()], [1, 1])
})

/** Keys that are `age` old at noon. */
function fill(database: DatabaseSync, name: string, count: number, age: number): void {
  database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into resourced_idempotency select '${name}' || i, '', '{}', ${noon - age} from n`)
}

test('MET-9: keys are deleted after a day, and not before', async (context) => {
  const { storage, other, keys } = opened(context)
  fill(other, 'old', mostExpiredKeys + 1, 24 * hour)
  fill(other, 'young', 3, 24 * hour - 1)
  assert.equal(await storage.jobs.deleteExpired(noon), mostExpiredKeys + 1)
  assert.equal(keys(), 3)
  assert.equal(await storage.jobs.deleteExpired(noon), 0)
})

test('ERR-6: a deletion of expired keys that is stopped ends after its current batch', async (context) => {
  const { storage, other, keys } = opened(context)
  fill(other, 'old', 3 * mostExpiredKeys, 24 * hour)
  assert.equal(await storage.jobs.deleteExpired(noon, () => false), 0)
  let batches = 0
  assert.equal(await storage.jobs.deleteExpired(noon, () => ++batches <= 1), mostExpiredKeys)
  assert.equal(keys(), 2 * mostExpiredKeys)
})

test('MET-9: a writer waits for one batch of expired keys at most; closing ends the deletion', async () => {
  const file = join(folder, 'purged.db')
  const storage = openSqlite(catalog, { path: file })
  const other = new DatabaseSync(file)
  const total = 20 * mostExpiredKeys
  fill(other, 'old', total, 25 * hour)
  let purged: number | undefined
  const purge = storage.jobs.deleteExpired(noon).then((count) => {
    purged = count
  })
  await create(storage, { name: 'Tea' })
  await create(storage, { name: 'Oil' }, { key: 'other' })
  assert.equal(purged, undefined)
  await storage.close()
  await purge
  assert.ok(Number(purged) > 0 && Number(purged) < total, `${purged}`)
  assert.deepEqual(all(other, "select count(*) as left from resourced_idempotency where scope like 'old%'"), [
    { left: total - Number(purged) },
  ])
  other.close()
})

test('a database of a version without idempotency keys gets their table at start', async (context) => {
  const file = join(folder, 'before.db')
  await openSqlite(catalog, { path: file }).close()
  const before = new DatabaseSync(file)
  before.exec('drop table resourced_idempotency')
  const [shape] = all(before, "select value from resourced_meta where key = 'shape'")
  const { tables } = JSON.parse(String(shape?.['value'])) as { tables: { name: string }[] }
  const older = JSON.stringify({ tables: tables.filter(({ name }) => name !== 'resourced_idempotency') })
  before.prepare("update resourced_meta set value = ? where key = 'shape'").run(older)
  before.close()
  const { storage, other } = opened(context, file)
  await create(storage, { name: 'Tea' })
  assert.equal((await storage.run(creation({ name: 'Tea' }))).kind, 'replayed')
  const plan = all(other, 'explain query plan select scope from resourced_idempotency where created_at <= 5')
  assert.match(String(plan[0]?.['detail']), /USING INDEX resourced_idempotency_by_created_at_/)
})
