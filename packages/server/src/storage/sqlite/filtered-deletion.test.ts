/** DEL-10: what others do to records of a deletion by filter, and to records below, before its job comes to them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always } from 'resourced-contract/model/predicate'
import type { DeleteMatching } from '../../plan/plan.ts'
import { sqlContext } from '../sql/context.ts'
import { beginDeletion, inspect } from '../transactions/delete/begin.ts'
import { deleteMatching } from '../transactions/delete/delete.ts'
import { stepWork } from '../transactions/delete/work.ts'
import type { Announced, WorkState } from '../transactions/delete/work-list.ts'
import { explained } from '../transactions/query-plan.fixture.ts'
import { stateOf } from '../transactions/rows/job-rows.ts'
import { isBeingDeleted } from '../transactions/rows/other-records.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'
import { openSqlite } from './storage.ts'

const name = { type: 'string' } as const
const to = (reference: string, onDelete: 'cascade' | 'restrict') => ({ reference, onDelete, optional: true }) as const
const catalog = completeCatalog({
  name: 'grove',
  resources: {
    trees: { fields: { name, tree_id: to('trees', 'cascade') } },
    branches: { fields: { name, tree_id: to('trees', 'cascade') } },
    leaves: { fields: { name, branch_id: to('branches', 'cascade') } },
    nests: { fields: { name, branch_id: to('branches', 'restrict') } },
  },
})

test('DEL-10: nobody can refer to a record below what matches, and all of it goes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-filtered-'))
  const path = join(folder, 'grove.db')
  await openSqlite(catalog, { path }).close()
  const connection = new Connection(path)
  t.after(() => {
    connection.close()
    rmSync(folder, { recursive: true })
  })
  const stamps = "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1"
  const plant = (table: string, id: string, field: string, above: string | null) =>
    connection.database
      .prepare(
        `insert into ${table} (id, name, ${field}, created_at, updated_at, _revision) values (?, 'n', ?, ${stamps})`,
      )
      .run(id, above)
  plant('trees', 'old', 'tree_id', null)
  plant('trees', 'middle', 'tree_id', 'old')
  plant('trees', 'other', 'tree_id', null)
  plant('trees', 'young', 'tree_id', 'other')
  for (const tree of ['middle', 'young']) {
    plant('branches', `branch of ${tree}`, 'tree_id', tree)
    plant('leaves', `leaf of ${tree}`, 'branch_id', `branch of ${tree}`)
  }
  const context = sqlContext({ catalog, dialect: sqlite })
  const resource = catalog.resources.get('trees')
  assert.ok(resource)
  const now = Date.now()
  const caller = { id: 'ann', roles: [], claims: {} }
  const readable = new Map([...catalog.resources.keys()].map((name) => [name, always]))
  const removal = { deletion: 'job', statusUrl: '', above: 0, readable, caller, now }
  const begun = connection.run(
    deleteMatching(context, {
      ...{ kind: 'delete-matching', resource, filter: always, permitted: always, conditions: {}, most: undefined },
      ...removal,
    }),
  )
  assert.equal(begun.kind, 'accepted')
  assert.equal(connection.run(isBeingDeleted(context, 'branches', 'branch of middle')), true)
  while (connection.run(stepWork(context, 'job', now)) === 'more');

  const live = ['trees', 'branches', 'leaves', 'nests'].flatMap((table) =>
    connection.database
      .prepare(`select id from ${table} where deleted_at is null order by id`)
      .all()
      .map(({ id }) => id),
  )
  assert.deepEqual(live, [])
  const job = connection.database.prepare("select status, result from jobs where id = 'job'").get()
  const { deleted_count, left_count, affected_count } = JSON.parse(String(job?.['result']))
  assert.deepEqual([job?.['status'], deleted_count, left_count, affected_count], ['succeeded', 4, 0, 8])
})

test('DEL-4: a rule that asks for other records decides again when the job comes to a record', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-filtered-'))
  const path = join(folder, 'park.db')
  const unless = { none: 'visits', where: { tree: { record: 'id' } } }
  const rules = [{ on: 'delete', code: 'VISITED', message: 'Somebody comes.', unless }] as const
  const park = completeCatalog({
    name: 'park',
    resources: {
      trees: { fields: { name }, deletion: { byFilter: true }, rules },
      visits: { fields: { tree: { type: 'string', filter: true } } },
    },
  })
  await openSqlite(park, { path }).close()
  const connection = new Connection(path)
  t.after(() => {
    connection.close()
    rmSync(folder, { recursive: true })
  })
  const { database, run } = { database: connection.database, run: connection.run.bind(connection) }
  const stamps = "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1"
  database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200)
    insert into trees (id, name, created_at, updated_at, _revision) select 'tree ' || i, 'n', ${stamps} from n`)
  const context = sqlContext({ catalog: park, dialect: sqlite })
  const resource = park.resources.get('trees')
  assert.ok(resource)
  const now = Date.now()
  const plan: DeleteMatching = {
    ...{ kind: 'delete-matching', resource, filter: always, permitted: always, conditions: {}, most: undefined },
    ...{ deletion: 'job', statusUrl: '', above: 0, readable: new Map([['trees', always]]) },
    ...{ caller: { id: 'ann', roles: [], claims: {} }, now },
  }
  const announced = run(deleteMatching(context, plan)) as Announced
  while (run(stateOf<WorkState>('job'))?.phase === 'collect') run(stepWork(context, 'job', now, { isRequest: true }))
  assert.deepEqual(run(inspect(context, plan, [], [])).issues, [])
  assert.equal(run(beginDeletion(context, plan, announced)).kind, 'accepted')
  assert.equal(run(stepWork(context, 'job', now)), 'more')
  database.exec(
    `insert into visits (id, tree, created_at, updated_at, _revision) values ('visit', 'tree 1100', ${stamps})`,
  )
  while (run(stepWork(context, 'job', now)) === 'more');
  const left = database.prepare('select id from trees where deleted_at is null').all()
  assert.deepEqual(
    left.map(({ id }) => id),
    ['tree 1100'],
  )
  const job = database.prepare("select status, result from jobs where id = 'job'").get()
  assert.deepEqual([job?.['status'], JSON.parse(String(job?.['result'])).left_count], ['succeeded', 1])
})

test('DEL-10: a window looks its records up by their ids, however many have the mark of the job', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-filtered-'))
  const path = join(folder, 'grove.db')
  await openSqlite(catalog, { path }).close()
  const connection = new Connection(path)
  t.after(() => {
    connection.close()
    rmSync(folder, { recursive: true })
  })
  const stamps = "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1"
  connection.database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200)
    insert into trees (id, name, created_at, updated_at, _revision) select 'tree ' || i, 'n', ${stamps} from n;
    insert into branches (id, name, tree_id, created_at, updated_at, _revision)
      select 'branch of ' || id, 'n', id, ${stamps} from trees`)
  const context = sqlContext({ catalog, dialect: sqlite })
  const resource = catalog.resources.get('trees')
  assert.ok(resource)
  const now = Date.now()
  const plan: DeleteMatching = {
    ...{ kind: 'delete-matching', resource, filter: always, permitted: always, conditions: {}, most: undefined },
    ...{ deletion: 'job', statusUrl: '', above: 0, caller: { id: 'ann', roles: [], claims: {} }, now },
    readable: new Map([...catalog.resources.keys()].map((name) => [name, always])),
  }
  const run = connection.run.bind(connection)
  const announced = run(deleteMatching(context, plan)) as Announced
  while (run(stateOf<WorkState>('job'))?.phase === 'collect') run(stepWork(context, 'job', now, { isRequest: true }))
  assert.equal(run(beginDeletion(context, plan, announced)).kind, 'accepted')
  for (let step = 'more'; step === 'more'; ) {
    const { result, statements } = explained(connection, stepWork(context, 'job', now))
    const listed = statements.filter(({ sql }) => /"?id"? in \(select value from json_each/.test(sql))
    assert.deepEqual(
      listed.filter(({ steps }) => steps.some((each) => /USING INDEX \w*_deletion/.test(each))),
      [],
    )
    step = result
  }
})
