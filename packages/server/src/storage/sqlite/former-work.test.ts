/** JOB-3: deletions and restorations that version 0.1.0 has begun, and that this version continues or undoes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { sqlContext } from '../sql/context.ts'
import { stepWork } from '../transactions/delete/work.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'
import { openSqlite } from './storage.ts'

const catalog = completeCatalog({
  name: 'store',
  resources: { boxes: { fields: {} }, items: { fields: { box_id: { reference: 'boxes', onDelete: 'cascade' } } } },
})
const stamps = "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1"
const deleted = "deleted_at = '2026-02-01T00:00:00.000Z', _deletion = 'job'"
const shared = { collection: 'boxes', deletedAt: '2026-02-01T00:00:00.000Z', ids: ['box'], at: 0, taken: 1, done: 1 }
const restoration = {
  ...{ deletion: 'job', root: 'box', mark: 'job', now: 0, updatedAt: '2026-03-01T00:00:00.000Z' },
  caller: { id: 'ann', roles: [], claims: {} },
}

/** A box of ten items, some of which its work has come to. Returns what is live, and the job, when the work has ended. */
async function ended(context: TestContext, state: object, { box, items }: { box: string; items: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-former-'))
  const path = join(folder, 'store.db')
  await openSqlite(catalog, { path }).close()
  const connection = new Connection(path)
  context.after(() => {
    connection.close()
    rmSync(folder, { recursive: true })
  })
  const { database } = connection
  database.exec(`insert into boxes (id, created_at, updated_at, _revision) values ('box', ${stamps});
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 10)
      insert into items (id, box_id, created_at, updated_at, _revision) select 'item ' || i, 'box', ${stamps} from n;
    update boxes set ${box}; update items set ${items} where _row <= 5;
    insert into resourced_queue (job, collection, record) values ('job', 'boxes', 'box'), ('job selected', 'boxes', 'x');
    insert into jobs (id, job_id, kind, status, created_at, updated_at, _revision)
      values ('job', 'job', 'deletion', 'running', ${stamps})`)
  const insertion = database.prepare("insert into resourced_work (job, task, state) values ('job', 'deletion', ?)")
  insertion.run(JSON.stringify({ ...shared, total: 11, ...state }))
  const sql = sqlContext({ catalog, dialect: sqlite })
  let steps = 0
  while (connection.run(stepWork(sql, 'job', Date.now())) === 'more') assert.ok(++steps < 20)
  const count = (which: string) => Number(database.prepare(`select count(*) as count from ${which}`).get()?.['count'])
  assert.equal(count('resourced_work') + count('resourced_queue'), 0)
  assert.equal(count('items where deleted_at is null and _deletion is not null'), 0)
  const { status, error } = database.prepare('select status, error from jobs').get() as Record<string, string | null>
  return { live: ['boxes', 'items'].map((name) => count(`${name} where deleted_at is null`)), status, error }
}

test('a deletion that was going downwards is finished', async (context) => {
  const { live, status } = await ended(context, { phase: 'mark' }, { box: deleted, items: deleted })
  assert.deepEqual([live, status], [[0, 0], 'succeeded'])
})

test('a deletion that had come to its end is finished', async (context) => {
  const all = `${deleted} where true; update items set ${deleted}`
  const { live, status } = await ended(context, { phase: 'tidy' }, { box: all, items: deleted })
  assert.deepEqual([live, status], [[0, 0], 'succeeded'])
})

test('a deletion by filter is undone, and its job says why', async (context) => {
  const selection = { filter: { kind: 'always' }, at: 0, last: 1, newest: '' }
  const { live, status, error } = await ended(context, { phase: 'match', selection }, { box: deleted, items: deleted })
  assert.deepEqual([live, status], [[1, 10], 'failed'])
  assert.match(String(error), /upgraded while the job ran.*Send the request again/)
})

test('what was only announced is withdrawn', async (context) => {
  const { live } = await ended(context, { phase: 'check' }, { box: '_deletion = null', items: '_deletion = null' })
  assert.deepEqual(live, [1, 10])
})

test('a restoration is undone', async (context) => {
  const box = `${deleted} where true; update items set ${deleted}`
  const items = 'deleted_at = null'
  const { live } = await ended(context, { phase: 'revive', table: 1, restoration }, { box, items })
  assert.deepEqual(live, [0, 0])
})

test('a restoration of which everything is live again is finished', async (context) => {
  const live = "_deletion = 'job'"
  const found = await ended(context, { phase: 'release', restoration }, { box: live, items: live })
  assert.deepEqual(found.live, [1, 10])
})
