import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { catalogFixture } from '../sql/catalog.fixture.ts'
import type { Transaction } from '../transaction.ts'
import { Connection } from './connection.ts'
import { endOfRun, partName, partNames, partOf, searchParts, sqlite } from './engine.ts'
import { all, find, migrateTo, now, tasks } from './migrate.fixture.ts'
import { migrate } from './migrate.ts'

test('neighbouring rows share a part, and many rows use all parts evenly', () => {
  assert.deepEqual([1, 32_767, 32_768, 65_535, 65_536].map(partOf), [0, 0, 1, 1, 2])
  const million = new Array<number>(searchParts).fill(0)
  for (let row = 1; row < 2 ** 20; row++) million[partOf(row)]!++
  assert.deepEqual([Math.min(...million), Math.max(...million)], [65_535, 65_536])
  assert.equal(partOf(2 ** 53 - 1), searchParts - 1)
})

test('a run of rows ends where the next part begins', () => {
  for (const row of [0, 1, 32_767, 32_768, 5_000_000]) {
    assert.equal(partOf(endOfRun(row) - 1), partOf(row))
    assert.notEqual(partOf(endOfRun(row)), partOf(row))
  }
})

test('no table of a collection has the name of a table that FTS5 creates for another collection', () => {
  const made = ['data', 'idx', 'docsize', 'config', 'content']
  assert.ok(partNames('words').every((name) => made.every((word) => !name.endsWith(word))))
  assert.equal(partName('words', 3), 'words_3')
})

const fields = { title: { type: 'string', search: true } } as const

/** A database whose words are all in one table, as they were before there were parts. */
function undivided(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  migrateTo(database, fields)
  for (const name of partNames('resourced_words_tasks')) database.exec(`drop table ${name}`)
  database.exec(`
    create virtual table resourced_search_tasks using fts5 (words, content='', contentless_delete=1);
    insert into tasks (_row, id, title, created_at, updated_at, _revision)
      values (1, 'a', 'One', '', '', 1), (32767, 'b', 'Two', '', '', 1), (32768, 'c', 'Two', '', '', 1), (9000000, 'd', 'Two', '', '', 1);
    insert into resourced_search_tasks (rowid, words) select _row, lower(title) from tasks;`)
  return database
}

test('an index in one table is divided at the next start, and finds the same rows', () => {
  const database = undivided()
  const { steps } = migrateTo(database, fields)
  assert.deepEqual(
    steps.map((step) => step.kind),
    ['build-search'],
  )
  assert.deepEqual([find(database, 'one'), find(database, 'two')], [['a'], ['b', 'c', 'd']])
  for (const row of [1, 32_767, 32_768, 9_000_000]) {
    const found = all(database, `select id from ${partName('resourced_words_tasks', partOf(row))}_docsize`)
    assert.ok(found.some(({ id }) => id === row))
  }
  const [old] = all(database, "select count(*) as n from sqlite_schema where name like 'resourced_search%'")
  assert.equal(old?.n, 0)
  assert.deepEqual(migrateTo(database, fields).steps, [])
})

test('an index in one table is dropped with its fields and with its collection', () => {
  for (const wanted of [tasks({ title: 'string' }), catalogFixture()]) {
    const database = undivided()
    migrate(database, wanted, { apply: 'all', now })
    assert.deepEqual(all(database, "select name from sqlite_schema where name like 'resourced_search%'"), [])
  }
})

test('a part has the settings that keep its changes short', () => {
  const database = undivided()
  migrateTo(database, fields)
  for (const name of partNames('resourced_words_tasks')) {
    assert.deepEqual(all(database, `select k, v from ${name}_config where k <> 'version' order by k`), [
      { k: 'deletemerge', v: 50 },
      { k: 'pgsz', v: 500 },
    ])
  }
})

test('words are added, replaced and deleted in the part of their rows', () => {
  const connection = new Connection(':memory:')
  const { database } = connection
  migrateTo(database, fields)
  const rows = [1, 32_767, 32_768, 600_000, 9_000_000]
  for (const row of rows) {
    database.exec(`insert into tasks values (${row}, '${row}', '', '', '', null, null, 1)`)
  }
  const run = (change: Transaction<void>) => connection.run(change)
  for (const row of rows) run(sqlite.indexWords('tasks', `${row}`, `every row${row}`, false))
  const ids = rows.map(String).sort()
  assert.deepEqual(find(database, 'every'), ids)
  for (const row of rows) run(sqlite.indexWords('tasks', `${row}`, `every new${row}`, true))
  assert.deepEqual([find(database, 'every'), find(database, 'row*'), find(database, 'new*')], [ids, [], ids])
  run(sqlite.deleteWords('tasks', ['1', '32768', '9000000', 'nobody']))
  assert.deepEqual(find(database, 'every'), ['32767', '600000'])
  assert.deepEqual(find(database, 'new1 OR new32768'), [])
})
