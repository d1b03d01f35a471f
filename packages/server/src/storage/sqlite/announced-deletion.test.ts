/** DEL-8: a deletion of many records that is announced and checked, where its server is killed or something changes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import statement from 'sql-template-tag'
import type { BulkDelete, Delete, Idempotency } from '../../plan/plan.ts'
import { sqlContext } from '../sql/context.ts'
import type { Transaction } from '../transaction.ts'
import { beginDeletion, inspect } from '../transactions/delete/begin.ts'
import { deleteRecord } from '../transactions/delete/delete.ts'
import { collectAgain, stepWork, undoWork } from '../transactions/delete/work.ts'
import {
  type Announced,
  announce,
  announcedFor,
  newState,
  type Removed,
  type WorkState,
} from '../transactions/delete/work-list.ts'
import { continueForKey } from '../transactions/idempotency.ts'
import { stateOf } from '../transactions/rows/job-rows.ts'
import { pendingMark } from '../transactions/rows/other-records.ts'
import { type Written, writeTransaction } from '../transactions/run.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'
import { openSqlite } from './storage.ts'

const to = (reference: string, onDelete: 'cascade' | 'restrict') => ({ reference, onDelete }) as const
const catalog = completeCatalog({
  name: 'store',
  resources: {
    boxes: { fields: {} },
    items: { fields: { box_id: to('boxes', 'cascade') } },
    seals: { fields: { item_id: to('items', 'restrict') } },
  },
})
const now = Date.now()
const plan: Delete = {
  ...{ kind: 'delete', resource: catalog.resources.get('boxes') as Resource, id: 'box', permitted: always },
  ...{
    conditions: {},
    deletion: 'job',
    statusUrl: '',
    above: 1_000,
    caller: { id: 'ann', roles: [], claims: {} },
    now,
  },
  readable: new Map([...catalog.resources.keys()].map((name) => [name, always])),
}

/** A box of more items than one transaction inspects, whose deletion is announced. */
async function announced(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-announced-'))
  const path = join(folder, 'store.db')
  await openSqlite(catalog, { path }).close()
  const connection = new Connection(path)
  context.after(() => {
    connection.close()
    rmSync(folder, { recursive: true })
  })
  const { database } = connection
  const stamps = "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1"
  database.exec(`insert into boxes (id, created_at, updated_at, _revision) values ('box', ${stamps});
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500)
      insert into items (id, box_id, created_at, updated_at, _revision) select 'item ' || i, 'box', ${stamps} from n;
    update resourced_clocks set live = 1500 where collection = 'items'`)
  const sql = sqlContext({ catalog, dialect: sqlite })
  const outcome = connection.run(deleteRecord(sql, plan))
  assert.equal(outcome.kind, 'announced')
  const items = catalog.resources.get('items') as Resource
  const run = connection.run.bind(connection)
  return {
    connection,
    sql,
    path,
    outcome: outcome as Announced,
    /** Marks the other records. */
    collect: (job = 'job') => {
      while (run(stateOf<WorkState>(job))?.phase === 'collect') run(stepWork(sql, job, now, { isRequest: true }))
    },
    check: (asked: Removed) => run(inspect(sql, asked, ['box'], [])),
    seal: () =>
      database.exec(
        `insert into seals (id, item_id, created_at, updated_at, _revision) values ('s', 'item 9', ${stamps})`,
      ),
    isPending: () => run(pendingMark(sql, items, { id: 'item 9' })) !== undefined,
    count: (which: string) => Number(database.prepare(`select count(*) as count from ${which}`).get()?.['count']),
  }
}

test('an announced deletion deletes nothing, and nobody can change its records', async (context) => {
  const { connection, sql, outcome, collect, check, isPending, count } = await announced(context)
  collect()
  assert.deepEqual([isPending(), count('items where deleted_at is null'), count('jobs')], [true, 1_500, 0])
  assert.equal(count("items where deleted_at is null and _deletion = 'job'"), 1_500)
  assert.deepEqual(check(plan), { issues: [], undecided: [] })
  const { writes } = connection
  const begun = connection.run(beginDeletion(sql, plan, outcome))
  assert.equal(begun.kind, 'accepted')
  assert.ok(connection.writes - writes < 15, 'a short transaction begins it')
  assert.deepEqual([isPending(), count('items where deleted_at is null')], [true, 1_500])
  while (connection.run(stepWork(sql, 'job', now)) !== 'finished');
  assert.deepEqual([count('items where deleted_at is null'), count('resourced_queue')], [0, 0])
})

test('the check finds what blocks the deletion', async (context) => {
  const { outcome, seal, collect, check } = await announced(context)
  seal()
  collect()
  const [issue, ...others] = check(plan).issues
  assert.deepEqual([issue?.code, issue?.params.ids, others, outcome.ids], ['HAS_DEPENDENTS', ['s'], [], ['box']])
})

test('DEL-8: a large deletion waits for another one that is at work on the same records, and yields to it', async (context) => {
  const { connection, sql, count } = await announced(context)
  const run = connection.run.bind(connection)
  const state = () => run(stateOf<WorkState>('job'))
  connection.database.exec("update items set _deletion = 'earlier' where id = 'item 999'")
  const collect = () => {
    while (state()?.phase !== 'check' && state()?.takenBy === undefined) {
      run(stepWork(sql, 'job', now, { isRequest: true }))
    }
  }
  collect()
  assert.equal(state()?.takenBy, 'earlier')
  // The earlier one collects too.
  run(announce({ ...plan, deletion: 'earlier' }, newState({ ...plan, deletion: 'earlier' })))
  run(collectAgain(sql, 'job'))
  while (state()?.phase === 'free') run(stepWork(sql, 'job', now, { isRequest: true }))
  assert.deepEqual([count("items where _deletion = 'job'"), count("boxes where _deletion = 'job'")], [0, 1])
  collect()
  assert.equal(state()?.takenBy, 'earlier')
  // It is withdrawn.
  connection.database.exec("update items set _deletion = null where _deletion = 'earlier'")
  connection.database.exec("delete from resourced_work where job = 'earlier'")
  run(collectAgain(sql, 'job'))
  collect()
  assert.deepEqual([state()?.phase, state()?.total, count("items where _deletion = 'job'")], ['check', 1_501, 1_500])
})

test('JOB-3: the announcement of a killed server ends, and nothing was deleted', async (context) => {
  const { connection, sql, outcome, collect, isPending, count } = await announced(context)
  const step = (later: number) => connection.run(stepWork(sql, 'job', now + later))
  collect()
  assert.equal(step(announcedFor - 1_000), 'elsewhere')
  assert.equal(isPending(), true)
  while (step(announcedFor) === 'more');
  assert.deepEqual([isPending(), count('resourced_work'), count('items where deleted_at is null')], [false, 0, 1_500])
  assert.equal(count('resourced_queue') + count('items where _deletion is not null'), 0)
  // A check that comes to its end after that does not begin the deletion.
  assert.throws(() => connection.run(beginDeletion(sql, plan, outcome)), { kind: 'busy' })
})

test('JOB-5: one server runs the windows of a deletion whose caller waits', async (context) => {
  const { connection, sql, outcome, collect, count } = await announced(context)
  collect()
  assert.equal(connection.run(beginDeletion(sql, { ...plan, above: 10_000 }, outcome)).kind, 'deleted')
  assert.equal(connection.run(stepWork(sql, 'job', now)), 'elsewhere')
  assert.equal(count('items where deleted_at is null'), 1_500)
  assert.equal(connection.run(stepWork(sql, 'job', now, { isRequest: true })), 'more')
  const left = count('items where deleted_at is null')
  assert.ok(left < 1_500)
  while (connection.run(stepWork(sql, 'job', now + announcedFor)) !== 'finished');
  assert.deepEqual([count('items where deleted_at is null'), count('resourced_work')], [0, 0])
})

test('MET-9: a key is in use until the deletion that its caller waits for is done, and new if it is undone', async (context) => {
  const { connection, sql, outcome, collect, count } = await announced(context)
  const step = () => connection.run(stepWork(sql, 'job', now, { isRequest: true }))
  connection.run(undoWork(sql, 'job', {}, now))
  while (step() === 'more');
  const { conditions: _, id, ...removal } = plan
  const preferred = {} as Idempotency['preferred']
  const idempotency = { scope: 'key', fingerprint: 'body', preferred }
  const bulk: BulkDelete = { ...removal, kind: 'bulk-delete', ids: [id], issues: [], idempotency, above: 1_000_000 }
  const ask = () => connection.run(writeTransaction(sql, { ...bulk, deletion: 'again' })).kind
  const begin = () => {
    assert.equal(connection.run(writeTransaction(sql, bulk)).kind, 'announced')
    collect()
    const begun = connection.run(continueForKey(sql, bulk, beginDeletion(sql, bulk, outcome)))
    assert.equal(begun.kind, 'bulk-deleted')
  }
  begin()
  assert.equal(ask(), 'key-in-use')
  assert.equal(step(), 'more')
  connection.run(undoWork(sql, 'job', {}, now))
  while (step() === 'more') assert.equal(ask(), 'key-in-use')
  assert.deepEqual([count('items where deleted_at is null'), count('boxes where deleted_at is null')], [1_500, 1])
  begin()
  while (step() !== 'finished') assert.equal(ask(), 'key-in-use')
  assert.equal(ask(), 'replayed')
})

test('MET-9: a request that gets the lock of a key just after another one has announced its change does nothing', async (context) => {
  const { connection, sql } = await announced(context)
  connection.run(undoWork(sql, 'job', {}, now))
  while (connection.run(stepWork(sql, 'job', now, { isRequest: true })) === 'more');
  const { conditions: _, id, ...removal } = plan
  const idempotency = { scope: 'key', fingerprint: 'body', preferred: {} as Idempotency['preferred'] }
  const bulk: BulkDelete = { ...removal, kind: 'bulk-delete', ids: [id], issues: [], idempotency, above: 1_000_000 }
  const locking = { ...sql, dialect: { ...sql.dialect, tryAdvisoryLock: () => statement`1` } }
  const late = writeTransaction(locking, { ...bulk, deletion: 'again' })
  late.next()
  assert.equal(connection.run(writeTransaction(sql, bulk)).kind, 'announced')
  const rest = function* (): Transaction<Written> {
    let step = late.next([{ locked: 1 }])
    while (step.done !== true) step = late.next(yield step.value)
    return step.value
  }
  assert.equal(connection.run(rest()).kind, 'key-in-use')
})

test('AUT-9: a job shows no number of records that the caller may not read', async (context) => {
  const { connection, sql, outcome, collect } = await announced(context)
  collect()
  connection.run(beginDeletion(sql, { ...plan, readable: new Map([['boxes', always]]) }, outcome))
  connection.run(stepWork(sql, 'job', now))
  connection.run(stepWork(sql, 'job', now))
  const state = connection.run(stateOf<WorkState>('job'))
  assert.ok(state !== undefined && state.done > 1 && state.taken === 1)
  const job = connection.database.prepare("select progress from jobs where id = 'job'").get()
  assert.deepEqual(JSON.parse(String(job?.['progress'])), { done: 1, total: 1 })
})

test('DEL-8: a large deletion counts as not answered, until it is, for when the writer ends', async (context) => {
  const { connection, sql, path, count } = await announced(context)
  connection.run(undoWork(sql, 'job', {}, now))
  while (connection.run(stepWork(sql, 'job', now, { isRequest: true })) === 'more');
  const committing = new SharedArrayBuffer(4)
  const storage = openSqlite(catalog, { path, committing })
  let isAnswered = false
  const removed = storage.run({ ...plan, deletion: 'again', above: 1_000_000 }).finally(() => (isAnswered = true))
  while (count('items where deleted_at is null') === 1_500) await nextTurn()
  while (!isAnswered) {
    assert.ok(Atomics.load(new Int32Array(committing), 0) > 0)
    await nextTurn()
  }
  assert.equal((await removed).kind, 'deleted')
  await storage.close()
  assert.equal(Atomics.load(new Int32Array(committing), 0), 0)
})
