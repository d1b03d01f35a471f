/** DEL-6, DEL-13: a restoration of many records, window by window: where it is killed, and where something changes meanwhile. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import type { Outcome } from '../../plan/outcome.ts'
import type { Delete, Idempotency, Restore } from '../../plan/plan.ts'
import { sqlContext } from '../sql/context.ts'
import { inspect } from '../transactions/delete/begin.ts'
import { deleteRecord } from '../transactions/delete/delete.ts'
import { purgeRecords } from '../transactions/delete/purge.ts'
import { stepWork, undoWork } from '../transactions/delete/work.ts'
import { announcedFor, type WorkState } from '../transactions/delete/work-list.ts'
import { continueForKey } from '../transactions/idempotency.ts'
import { beginRestoration, restoreRecord } from '../transactions/restore.ts'
import { stateOf } from '../transactions/rows/job-rows.ts'
import { isBeingDeleted, pendingMark } from '../transactions/rows/other-records.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'
import { openSqlite } from './storage.ts'

const to = (reference: string, onDelete: 'cascade' | 'clear' | 'restrict') => ({ reference, onDelete }) as const
const catalog = completeCatalog({
  name: 'store',
  resources: {
    owners: { fields: {} },
    boxes: { fields: {} },
    items: {
      fields: {
        box_id: to('boxes', 'cascade'),
        code: { type: 'string', unique: true, optional: true },
        owner_id: { ...to('owners', 'restrict'), optional: true },
        next_id: { ...to('items', 'clear'), optional: true },
      },
    },
    parts: { fields: { item_id: to('items', 'cascade') } },
  },
})
const of = (name: string) => catalog.resources.get(name) as Resource
const now = Date.now()
const shared = { permitted: always, conditions: {}, caller: { id: 'ann', roles: [], claims: {} }, now }
const readable = new Map([...catalog.resources.keys()].map((name) => [name, always]))
const stamps = "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1"

function removal(collection: string, id: string, deletion: string): Delete {
  return { kind: 'delete', resource: of(collection), id, deletion, statusUrl: '', above: 0, readable, ...shared }
}

function restoration(id: string, name = 'restoration', idempotency?: Idempotency): Restore {
  const work = { restoration: name, statusUrl: '', above: 5_000 }
  const plan = { kind: 'restore', resource: of('boxes'), id, ...work, mayRead: always, readable } as const
  return { ...plan, ...shared, ...(idempotency !== undefined && { idempotency }) }
}

/** Two boxes of 6,000 items each, one of which is deleted with its items and their parts. */
async function deleted(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-restoration-'))
  const path = join(folder, 'store.db')
  await openSqlite(catalog, { path }).close()
  const connection = new Connection(path)
  context.after(() => {
    connection.close()
    rmSync(folder, { recursive: true })
  })
  const { database } = connection
  const sql = sqlContext({ catalog, dialect: sqlite })
  database.exec(`insert into boxes (id, created_at, updated_at, _revision) values ('a', ${stamps}), ('b', ${stamps});
    insert into owners (id, created_at, updated_at, _revision) values ('owner', ${stamps});
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 12000)
      insert into items (id, box_id, code, created_at, updated_at, _revision)
        select 'item ' || i, iif(i % 2, 'a', 'b'), 'code ' || i, ${stamps} from n;
    update items set owner_id = 'owner' where id = 'item 1'; update items set next_id = 'item 5' where id = 'item 3';
    insert into parts (id, item_id, created_at, updated_at, _revision)
      select 'part of ' || id, id, ${stamps} from items where _row % 20 in (1, 2);
    update resourced_clocks set live = 12000 where collection = 'items';
    update resourced_clocks set live = 1200 where collection = 'parts';
    update resourced_clocks set live = 2 where collection = 'boxes'`)
  const run = connection.run.bind(connection)
  const phase = (job = 'restoration') => run(stateOf<WorkState>(job))?.phase
  const step = (job: string, { later = 0, isRequest = true } = {}) =>
    run(stepWork(sql, job, now + later, { size: 1_000, isRequest }))
  const remove = (id: string, deletion: string) => {
    assert.equal(run(deleteRecord(sql, removal('boxes', id, deletion))).kind, 'accepted')
  }
  const drop = (id: string, deletion: string) => {
    remove(id, deletion)
    while (step(deletion) === 'more');
  }
  drop('a', 'deletion')
  const count = (which: string) => Number(database.prepare(`select count(*) as count from ${which}`).get()?.['count'])
  const live = () => ['boxes', 'items', 'parts'].map((name) => count(`${name} where deleted_at is null`))
  const clocks = () =>
    ['boxes', 'items', 'parts'].map((name) =>
      Number(database.prepare(`select live from resourced_clocks where collection = '${name}'`).get()?.['live']),
    )
  return {
    ...{ database, sql, run, step, remove, drop, count, live, clocks, phase },
    isPending: (id: string) => run(pendingMark(sql, of('items'), { id })) !== undefined,
    /** Announces a restoration, collects its records, checks and begins it. */
    begin(plan: Restore): Outcome {
      const { restoration } = plan
      assert.equal(run(restoreRecord(sql, plan)).kind, 'announced')
      while (phase(restoration) === 'collect') step(restoration)
      assert.deepEqual(run(inspect(sql, plan, [], [])).issues, [])
      return run(continueForKey(sql, plan, beginRestoration(sql, plan)))
    },
  }
}

const before = [1, 6_000, 600]
const after = [2, 12_000, 1_200]

test('a restoration of many records brings all of them back, the one that was asked for last', async (context) => {
  const { sql, run, step, begin, live, clocks, phase, isPending, count, database } = await deleted(context)
  assert.deepEqual(live(), before)
  const plan = restoration('a')
  assert.equal(begin(plan).kind, 'accepted')
  assert.deepEqual([phase(), live()], ['flip', before])
  let steps = 0
  for (; phase() === 'flip'; steps++) {
    const [boxes, items = 0] = live()
    assert.ok(boxes === 1 || items === 12_000)
    if (items > 6_000) assert.equal(isPending('item 1'), true)
    if (steps === 3) assert.equal(run(restoreRecord(sql, restoration('a', 'again'))).kind, 'conflict')
    assert.equal(step('restoration', { isRequest: false }), 'more')
  }
  assert.ok(steps > 5)
  assert.deepEqual([live(), clocks()], [after, after])
  while (step('restoration', { isRequest: false }) === 'more');
  const marked = ['boxes', 'items', 'parts'].map((name) => count(`${name} where _deletion is not null`))
  assert.deepEqual([marked, count('resourced_work'), isPending('item 1')], [[0, 0, 0], 0, false])
  assert.equal(count(`items where updated_at = '${new Date(now).toISOString()}'`), 6_000)
  const job = database.prepare("select kind, status, progress, result from jobs where id = 'restoration'").get()
  const [progress, result] = [job?.['progress'], job?.['result']].map((text) => JSON.parse(String(text)))
  assert.deepEqual([job?.['kind'], job?.['status']], ['restoration', 'succeeded'])
  assert.deepEqual(
    [progress, result],
    [
      { done: 6_601, total: 6_601 },
      { id: 'a', affected_count: 6_601 },
    ],
  )
})

test('MET-9: a restoration with a key whose server was killed before its answer is withdrawn, so that the repetition makes it', async (context) => {
  const { sql, run, step, begin, live, clocks, count } = await deleted(context)
  const key = { scope: 'key', fingerprint: 'body', preferred: {} as Idempotency['preferred'] }
  assert.equal(run(restoreRecord(sql, restoration('a', 'restoration', key))).kind, 'announced')
  for (let window = 0; window < 3; window++) step('restoration')
  assert.ok(count("items where _deletion = 'restoration'") > 0)
  assert.equal(run(restoreRecord(sql, restoration('a', 'again', key))).kind, 'key-in-use')
  assert.equal(step('restoration', { isRequest: false }), 'elsewhere')
  while (step('restoration', { later: announcedFor, isRequest: false }) === 'more');
  assert.deepEqual([live(), clocks(), count('resourced_work')], [before, before, 0])
  assert.equal(count("items where _deletion = 'deletion'"), 6_000)
  const again = restoration('a', 'again', key)
  assert.equal(begin(again).kind, 'accepted')
  while (step('again', { isRequest: false }) === 'more');
  assert.equal(run(restoreRecord(sql, restoration('a', 'third', key))).kind, 'replayed')
  assert.deepEqual(live(), after)
})

for (const [what, change, code] of [
  [
    'a unique value is taken',
    `insert into items (id, code, box_id, created_at, updated_at, _revision)
      values ('other', 'code 11999', 'b', ${stamps})`,
    'DUPLICATE_VALUE',
  ],
  ['a record that is referred to is deleted', "delete from owners where id = 'owner'", 'REFERENCE_DELETED'],
] as const) {
  test(`DEL-6: where ${what} meanwhile, everything is deleted again`, async (context) => {
    const { database, sql, run, step, begin, count, phase } = await deleted(context)
    begin(restoration('a'))
    if (code === 'DUPLICATE_VALUE') step('restoration')
    const revisions = count('items where _revision & 1048575 > 2')
    database.exec(change)
    while (step('restoration') === 'more');
    assert.ok(count('items where _revision & 1048575 > 2') >= revisions)
    assert.deepEqual([count("items where box_id = 'a' and deleted_at is null"), count('resourced_work')], [0, 0])
    assert.equal(count("items where box_id = 'a' and _deletion = 'deletion'"), 6_000)
    const job = database.prepare("select status, error from jobs where id = 'restoration'").get()
    assert.deepEqual([job?.['status'], JSON.parse(String(job?.['error'])).code], ['failed', code])
    const plan = restoration('a', 'again')
    assert.equal(run(restoreRecord(sql, plan)).kind, 'announced')
    while (phase('again') === 'collect') step('again')
    const { issues } = run(inspect(sql, plan, [], []))
    assert.deepEqual(
      issues.map((issue) => issue.code),
      [code],
    )
  })
}

test('a restoration leaves what else its deletion has deleted', async (context) => {
  const { database, sql, run, step, drop, begin, live, clocks, count } = await deleted(context)
  drop('b', 'second')
  // As if one bulk deletion had deleted both.
  for (const table of ['boxes', 'items', 'parts']) {
    database.exec(`update ${table} set _deletion = 'deletion' where _deletion = 'second'`)
  }
  assert.deepEqual(live(), [0, 0, 0])
  const plan = restoration('b')
  begin(plan)
  assert.equal(run(restoreRecord(sql, restoration('a', 'other'))).kind, 'conflict')
  while (step('restoration') !== 'finished');
  assert.deepEqual([live(), clocks()], [before, before])
  assert.equal(count("items where box_id = 'a' and _deletion = 'deletion'"), 6_000)
})

test('few of very many records that one deletion has deleted are restored in one transaction', async (context) => {
  const { database, run, sql, begin, live, clocks, count } = await deleted(context)
  database.exec(`insert into boxes (id, created_at, updated_at, deleted_at, _deletion, _revision)
      select 'c', created_at, updated_at, deleted_at, _deletion, 1 from boxes where id = 'a';
    update items set box_id = 'c' where id = 'item 1'; update items set owner_id = null;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1)
      insert into items (id, box_id, created_at, updated_at, deleted_at, _deletion, _revision)
        select 'more ' || i, 'a', created_at, updated_at, deleted_at, _deletion, 1 from boxes, n where id = 'a'`)
  assert.equal(begin(restoration('c'))?.kind, 'updated')
  assert.deepEqual([live(), clocks(), count('resourced_work')], [[2, 6_001, 601], [2, 6_001, 601], 0])
  assert.equal(count('items where deleted_at is null and _deletion is not null'), 0)
  assert.equal(run(restoreRecord(sql, restoration('c', 'again'))).kind, 'conflict')
})

test('DEL-7: a purge leaves records of a running restoration, and takes one deleted alone', async (context) => {
  const { database, sql, run, begin, count } = await deleted(context)
  begin(restoration('a'))
  database.exec(`insert into owners (id, created_at, updated_at, deleted_at, _revision)
    values ('alone', '2026', '2026', '2026', 1)`)
  const far = now + 365 * 86_400_000
  for (const name of ['boxes', 'items', 'parts']) assert.equal(run(purgeRecords(sql, of(name), far, 10)), 0)
  assert.equal(run(purgeRecords(sql, of('owners'), far, 10)), 1)
  assert.equal(count('items'), 12_000)
})

/** A deletion of many records that has come to all of them. */
async function marked(context: TestContext) {
  const store = await deleted(context)
  store.remove('b', 'second')
  while (store.live()[1] !== 0) store.step('second')
  return store
}

test('JOB-3: a deletion of many records is undone in batches, and nobody changes them meanwhile', async (context) => {
  const { database, sql, run, step, live, clocks, phase } = await marked(context)
  assert.equal(run(undoWork(sql, 'second', { code: 'WHATEVER' }, now)), false)
  assert.equal(phase('second'), 'back')
  let [steps, result] = [0, step('second')]
  for (; result === 'more'; result = step('second'), steps++) {
    if (phase('second') === 'back') assert.equal(run(isBeingDeleted(sql, 'items', 'item 2')), true)
  }
  assert.ok(steps > 5)
  assert.deepEqual([result, live(), clocks()], ['failed', before, before])
  const job = database.prepare("select status, error, progress from jobs where id = 'second'").get()
  assert.deepEqual(
    { ...job, progress: JSON.parse(String(job?.['progress'])).done },
    {
      ...{ status: 'failed', error: '{"code":"WHATEVER"}', progress: 0 },
    },
  )
})

test('JOB-3: a deletion that cannot be undone goes on to its end', async (context) => {
  const { database, sql, run, step, live, count } = await marked(context)
  run(undoWork(sql, 'second', {}, now))
  step('second')
  database.exec(`insert into items (id, code, created_at, updated_at, _revision)
    values ('other', 'code 12000', ${stamps})`)
  let result = step('second')
  while (result === 'more') result = step('second')
  assert.deepEqual([result, live()[0], count("items where box_id = 'b' and deleted_at is null")], ['finished', 0, 0])
  assert.equal(count('resourced_work') + count('resourced_queue'), 0)
})
