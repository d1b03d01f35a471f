import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Transaction } from '../transaction.ts'
import { Connection } from './connection.ts'
import { all, find, migrateTo } from './migrate.fixture.ts'
import {
  deleteWords,
  endOfRun,
  indexWords,
  partName,
  partNames,
  partOf,
  partsUpTo,
  searchParts,
  viewName,
} from './search-parts.ts'

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
  assert.ok(!partNames('words').includes(viewName('words')))
})

const fields = { title: { type: 'string', search: true } } as const

/** A database that has lost its index. */
function withoutIndex(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  migrateTo(database, fields)
  database.exec('drop view resourced_words_tasks_all; drop table resourced_words_tasks_0')
  database.exec(`
    insert into tasks (_row, id, title, created_at, updated_at, _revision)
      values (1, 'a', 'One', '', '', 1), (32767, 'b', 'Two', '', '', 1), (32768, 'c', 'Two', '', '', 1), (9000000, 'd', 'Two', '', '', 1);`)
  return database
}

test('an index that is missing is built in parts at the next start', () => {
  const database = withoutIndex()
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
  assert.deepEqual(migrateTo(database, fields).steps, [])
})

test('a part has the settings that keep its changes short', () => {
  const database = withoutIndex()
  migrateTo(database, fields)
  for (const name of partNames('resourced_words_tasks', partsUpTo(9_000_000))) {
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
  run(deleteWords('tasks', ['600000']))
  for (const row of rows) run(indexWords('tasks', [{ id: `${row}`, words: `every row${row}` }], false))
  assert.deepEqual(migrateTo(database, fields).steps, [])
  const ids = rows.map(String).sort()
  assert.deepEqual(find(database, 'every'), ids)
  for (const row of rows) run(indexWords('tasks', [{ id: `${row}`, words: `every new${row}` }], true))
  assert.deepEqual([find(database, 'every'), find(database, 'row*'), find(database, 'new*')], [ids, [], ids])
  run(deleteWords('tasks', ['1', '32768', '9000000', 'nobody']))
  assert.deepEqual(find(database, 'every'), ['32767', '600000'])
  assert.deepEqual(find(database, 'new1 OR new32768'), [])
})

test('a part is made with its first row, and other connections search it without being told', async (context) => {
  const path = join(mkdtempSync(join(tmpdir(), 'resourced-parts-')), 'tasks.db')
  const [writer, reader] = [new Connection(path), new Connection(path)]
  context.after(() => {
    for (const { database } of [writer, reader]) database.close()
    rmSync(dirname(path), { recursive: true })
  })
  migrateTo(writer.database, fields)
  const parts = () =>
    all(writer.database, "select name from sqlite_schema where sql like 'create virtual%' order by rowid").length
  assert.equal(parts(), 1)
  const searching = reader.database.prepare(
    'select "row" from resourced_words_tasks_all where words match ? order by "row"',
  )
  const insert = (row: number) => {
    writer.database.exec(`insert into tasks values (${row}, '${row}', '', '', '', null, null, 1)`)
    writer.run(indexWords('tasks', [{ id: `${row}`, words: 'word' }], false))
  }
  const expected: number[] = []
  for (let part = 0; part <= searchParts; part++) {
    for (const row of [part * endOfRun(0), part * endOfRun(0) + 1].filter((each) => each > 0)) {
      insert(row)
      expected.push(row)
    }
    assert.equal(parts(), partsUpTo(part * endOfRun(0)))
    assert.deepEqual(searching.all('"word"').map(({ row }) => row), expected) // biome-ignore format: a line
  }
  assert.equal(parts(), searchParts)
  assert.deepEqual(migrateTo(writer.database, fields).steps, [])
})

test('a part of a change that is taken back is made again', () => {
  const connection = new Connection(':memory:')
  const { database } = connection
  migrateTo(database, fields)
  const row = endOfRun(0)
  for (const end of ['rollback', 'commit']) {
    database.exec(`begin; insert into tasks values (${row}, 'a', '', '', '', null, null, 1)`)
    connection.run(indexWords('tasks', [{ id: 'a', words: 'word' }], false))
    database.exec(end)
    assert.deepEqual(find(database, 'word'), end === 'commit' ? ['a'] : [])
  }
})

test('an index without its view, or without a part between others, is built anew at the next start', () => {
  const database = new DatabaseSync(':memory:')
  migrateTo(database, fields)
  for (const row of [1, 40_000, 80_000]) {
    database.exec(
      `insert into tasks (_row, id, title, created_at, updated_at, _revision) values (${row}, '${row}', 'Word', '', '', 1)`,
    )
  }
  for (const damage of [
    'drop table resourced_words_tasks_0',
    'drop view resourced_words_tasks_all',
    'drop table resourced_words_tasks_1',
  ]) {
    database.exec(damage)
    assert.deepEqual(migrateTo(database, fields).steps.map(({ kind }) => kind), ['build-search']) // biome-ignore format: a line
    assert.deepEqual(find(database, 'word'), ['1', '40000', '80000'])
    assert.deepEqual(migrateTo(database, fields).steps, [])
  }
})
