import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { moveAll } from '../move/move.ts'
import { migrateSqlite } from './administration.ts'
import { addFunctions } from './dialect.ts'
import { fillSqlite, sqliteSource } from './move.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-move-'))
after(() => rmSync(folder, { recursive: true }))
const resources = { tasks: { fields: { title: { type: 'string' } }, events: true } } as const
const catalog = completeCatalog({ name: 'moved', resources })

function insert(path: string, id: string): void {
  const database = new DatabaseSync(path)
  addFunctions(database)
  database.exec(`insert into tasks (id, title, created_at, updated_at, _revision) values ('${id}', 'One', '', '', 1)`)
  database.close()
}

function eventsOf(path: string): unknown[] {
  const database = new DatabaseSync(path)
  const rows = database.prepare('select _row, id, record, kind, data from events order by _row').all()
  database.close()
  return rows.map((row) => ({ ...row }))
}

test('a copy has the events of the original, writes none while it is filled, and goes on with the next position', async () => {
  const [from, to] = [join(folder, 'from.db'), join(folder, 'to.db')]
  migrateSqlite(from, catalog, 'all')
  insert(from, 'a')
  insert(from, 'b')
  const source = sqliteSource(from)
  await source.begin()
  const schema = await source.schema()
  const { signal } = new AbortController()
  const options = { schema, now: Date.now(), signal, onRows() {}, onIndexes() {} }
  await fillSqlite(to, schema, (target) => moveAll(source, target, options))
  await source.close()
  assert.deepEqual(eventsOf(to), eventsOf(from))
  assert.equal(eventsOf(to).length, 2)
  migrateSqlite(to, catalog, 'additive')
  insert(to, 'c')
  assert.deepEqual(
    (eventsOf(to) as { _row: number; record: string; kind: string }[]).map(({ _row, record, kind }) => [
      _row,
      record,
      kind,
    ]),
    [
      [1, 'a', 'created'],
      [2, 'b', 'created'],
      [3, 'c', 'created'],
    ],
  )
})
