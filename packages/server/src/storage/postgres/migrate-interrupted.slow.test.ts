import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { databaseFor, whyNoDatabase } from '../../../../../test/postgres/database.ts'
import { withoutMarks } from '../sql/without-marks.fixture.ts'
import { all, connect, type Fields, find, migrateTo, snapshot } from './migrate.fixture.ts'

const skip = whyNoDatabase ?? false

const before: Fields = { title: 'string', size: 'string', old: 'integer' }
const wanted: Fields = {
  title: { type: 'string', filter: true, search: true, sort: true },
  size: { type: 'integer', sort: true, unique: true },
  status: { type: 'string', enum: ['open', 'done'], filter: true, required: true, default: 'open' },
}

/** A database with tasks of the first declaration. */
async function original(context: TestContext, count = 5_000): Promise<{ url: string; client: pg.Client }> {
  const url = await databaseFor(context)
  const client = await connect(context, url)
  await migrateTo(client, before)
  await client.query(
    `insert into tasks (id, title, size, old, created_at, updated_at, _revision)
       select 'id' || i, 'Task number ' || i, i, i, 'then', 'then', 1 from generate_series(1, ${count}) as i;
     update resourced_clocks set revision = ${count}, live = ${count} where slot = 0`,
  )
  return { url, client }
}

function start(url: string, fields: Fields, ...more: (string | number)[]): ChildProcess {
  const script = join(import.meta.dirname, 'migrate-process.fixture.ts')
  const parameters = [script, url, JSON.stringify(fields), ...more.map(String)]
  return spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** The output of a process until it ends. */
async function outputOf(child: ChildProcess): Promise<string> {
  let output = ''
  child.stdout!.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  return output
}

/** Waits until no other session is connected: PostgreSQL notices late that a process was killed. */
async function sessionsEnded(client: pg.Client): Promise<void> {
  const others = 'select 1 as one from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  for (const end = Date.now() + 10_000; (await all(client, others)).length > 0; await sleep(50)) {
    assert.ok(Date.now() < end, 'the killed process still has a session')
  }
}

function invalidIndexes(client: pg.Client): Promise<unknown[]> {
  return all(client, 'select indexrelid::regclass::text as name from pg_index where not indisvalid')
}

test('a migration that is killed at any moment leaves the old database, or one that the next start completes', {
  skip,
}, async (context) => {
  const whole = await original(context)
  await migrateTo(whole.client, wanted, 'all')
  const complete = withoutMarks(await snapshot(whole.client))
  // A kill before the commit leaves nothing changed; after the commit, indexes are missing.
  const moments = [
    ['alter table "tasks" drop column', 'old'],
    ['update "tasks"', 'old'],
    ['insert into resourced_meta', 'old'],
    ['commit', 'either'],
    ['create unique index concurrently', 'new'],
    ['create index concurrently "resourced_words', 'new'],
  ]
  for (const [moment = '', leaves] of moments) {
    const { url, client } = await original(context)
    const old = await snapshot(client)
    assert.equal(await outputOf(start(url, wanted, 0, moment)), 'begins\n', moment)
    await sessionsEnded(client)
    const left = await snapshot(client)
    if (leaves === 'old') assert.equal(left, old, moment)
    if (leaves === 'new') assert.notEqual(left, old, moment)
    await migrateTo(client, wanted, 'all')
    assert.equal(withoutMarks(await snapshot(client)), complete, moment)
    assert.deepEqual(await find(client, 'task & 4321'), ['id4321'])
  }
})

/** A database in which a server was killed while it built an index, and the reader that the build waited for. */
async function killedDuringBuild(
  context: TestContext,
  fields: Fields,
): Promise<{ client: pg.Client; reader: pg.Client }> {
  const { url, client } = await original(context, 100)
  // A concurrent build waits for transactions that began before it.
  const reader = await connect(context, url)
  await reader.query('begin isolation level repeatable read; select 1')
  const child = start(url, fields)
  const output = outputOf(child)
  for (const end = Date.now() + 20_000; (await invalidIndexes(client)).length === 0; await sleep(20)) {
    assert.ok(Date.now() < end, 'no index build began')
  }
  child.kill('SIGKILL')
  assert.equal(await output, 'begins\n')
  await sleep(100)
  const pid = "select pid from pg_locks where locktype = 'advisory'"
  for (const end = Date.now() + 10_000; (await all(client, pid)).length > 0; await sleep(50)) {
    assert.ok(Date.now() < end, 'the server releases the lock when the client is gone')
  }
  assert.equal((await invalidIndexes(client)).length, 1)
  return { client, reader }
}

for (const [kind, fields] of Object.entries({
  'an index': { ...before, old: { type: 'integer', sort: true } },
  'a unique index': { ...before, old: { type: 'integer', unique: true } },
  'a full-text index': { ...before, title: { type: 'string', search: true } },
} satisfies Record<string, Fields>)) {
  test(`${kind} that a killed server left invalid is built again`, { skip }, async (context) => {
    const { client, reader } = await killedDuringBuild(context, fields)
    await reader.query('commit')
    const { steps } = await migrateTo(client, fields)
    assert.equal(steps.length, 1)
    assert.deepEqual(await invalidIndexes(client), [])
    assert.equal((await migrateTo(client, fields, 'never')).applied, false)
  })
}

test('an invalid index that is no longer needed is dropped', { skip }, async (context) => {
  const { client, reader } = await killedDuringBuild(context, { ...before, old: { type: 'integer', unique: true } })
  await reader.query('commit')
  const { steps } = await migrateTo(client, before)
  assert.match(steps.map((step) => step.sentence).join(), /^drop the index tasks_by_old_[0-9a-f]{6}$/)
  assert.deepEqual(await invalidIndexes(client), [])
})

test('if ten processes start at once, one migrates and all continue', { skip }, async (context) => {
  const { url, client } = await original(context, 2_000)
  const moment = Date.now() + 4_000
  const outputs = await Promise.all(Array.from({ length: 10 }, () => outputOf(start(url, wanted, moment))))
  const others = Array.from({ length: 9 }, () => 'begins\napplied false\n')
  assert.deepEqual(outputs.sort(), [...others, 'begins\napplied true\n'])
  const { client: once } = await original(context, 2_000)
  await migrateTo(once, wanted, 'all')
  assert.equal(withoutMarks(await snapshot(client)), withoutMarks(await snapshot(once)))
})

test('if ten processes start at once on an empty database, one creates the tables', { skip }, async (context) => {
  const url = await databaseFor(context)
  const moment = Date.now() + 4_000
  const outputs = await Promise.all(Array.from({ length: 10 }, () => outputOf(start(url, wanted, moment))))
  assert.equal(outputs.filter((output) => output === 'begins\napplied true\n').length, 1)
  assert.equal(outputs.filter((output) => output === 'begins\napplied false\n').length, 9)
})
