import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { schemaOf } from '../migration/stored-schema.ts'
import { type MoveSource, type MoveTarget, moveAll } from '../move/move.ts'
import { migrateSqlite } from './administration.ts'
import { fillSqlite, sqliteSource } from './move.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-move-'))
after(() => rmSync(folder, { recursive: true }))
const fields = { title: { type: 'string', search: true } } as const
const catalog = completeCatalog({ name: 'moved', resources: { tasks: { fields } } })
const schema = schemaOf(catalog)
const from = join(folder, 'from.db')
migrateSqlite(from, catalog, 'all')
const source = new DatabaseSync(from)
source.exec(`insert into tasks (_row, id, title, created_at, updated_at, _revision)
  values (3, 'a', 'One', '', '', 5), (9, 'b', 'Two', '', '', 1);
  update resourced_clocks set revision = 7, live = 2 where collection = 'tasks'`)
source.close()

const targets = {
  'a row that is lost': (target: MoveTarget): MoveTarget => ({
    ...target,
    write: (table, rows) => target.write(table, rows.slice(1)),
  }),
  'a value that is another one': (target: MoveTarget): MoveTarget => ({
    ...target,
    write: (table, rows) =>
      target.write(
        table,
        rows.map((row) => row.with(2, `${row[2]} `)),
      ),
  }),
  'a clock that goes back': (target: MoveTarget): MoveTarget => ({
    ...target,
    async index() {
      await target.index()
      const text = "update resourced_clocks set revision = 6 where collection = 'tasks'"
      await target.all({ sql: text, text, values: [] })
    },
  }),
}

async function move(path: string, change = (target: MoveTarget) => target, read = (source: MoveSource) => source) {
  const opened = read(sqliteSource(from))
  const now = Date.now()
  try {
    await opened.begin()
    const { signal } = new AbortController()
    const quiet = { onRows() {}, onIndexes() {} }
    return await fillSqlite(path, schema, (target) =>
      moveAll(opened, change(target), { schema, now, signal, ...quiet }),
    )
  } finally {
    await opened.close()
  }
}

for (const [name, change] of Object.entries(targets)) {
  test(`${name} is found by reading the copy back, and nothing is kept`, async () => {
    const path = join(folder, `${name}.db`)
    await assert.rejects(move(path, change), /What was written is not what was read: (tasks|resourced_clocks) has/)
    const left = new DatabaseSync(path)
    assert.deepEqual(left.prepare('select name from sqlite_schema').all(), [])
    left.close()
  })
}

test('a row that the source does not return fails the move', async () => {
  const forgetful = (source: MoveSource): MoveSource => ({
    ...source,
    async *rows(table) {
      for await (const rows of source.rows(table)) yield rows.slice(1)
    },
  })
  const moving = move(join(folder, 'less.db'), undefined, forgetful)
  await assert.rejects(moving, /Only 1 of the 2 rows of tasks were read/)
})

test('rows keep their numbers, and a clock its revision', async () => {
  const path = join(folder, 'to.db')
  const moved = await move(path)
  assert.equal(moved.rows.get('tasks'), 2)
  const opened = new DatabaseSync(path)
  const all = (text: string) =>
    opened
      .prepare(text)
      .all()
      .map((row) => Object.values(row).join())
  assert.deepEqual(all('select _row, id, title, _revision from tasks order by _row'), ['3,a,One,5', '9,b,Two,1'])
  assert.deepEqual(all("select revision, live, deleted from resourced_clocks where collection = 'tasks'"), ['7,2,0'])
  opened.close()
  assert.deepEqual(migrateSqlite(path, catalog, 'never'), { steps: [], applied: false })
})
