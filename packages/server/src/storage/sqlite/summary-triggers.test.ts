import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { tablesFor } from '../sql/system-tables.ts'
import { createIndex } from '../sql/tables.ts'
import { addFunctions, sqlite } from './dialect.ts'
import { summariesOf } from './summary-triggers.ts'

const catalog = completeCatalog({
  name: 'test',
  resources: {
    tasks: {
      fields: {
        status: { enum: ['a', 'b'] },
        done: { type: 'boolean' },
        cost: { type: 'decimal', precision: 20, scale: 2 },
        size: { type: 'integer' },
      },
      summaries: { kept: { group: ['status', 'done', 'created_at:month'], sum: ['cost', 'size'] } },
    },
  },
})

function database(): DatabaseSync {
  const made = new DatabaseSync(':memory:')
  addFunctions(made)
  for (const table of tablesFor(catalog, sqlite.layout)) {
    made.exec(sqlite.createTable(table))
    for (const index of table.indexes) made.exec(createIndex(index))
    for (const trigger of sqlite.summaryTriggers(table.name, table.summaries)) {
      for (const statement of trigger.statements('main')) made.exec(statement)
    }
  }
  return made
}

const { sql: orFail } = sqlite.orFail
const insertion = `insert${orFail} into tasks (id, status, done, cost, size, created_at, updated_at, _revision)
  values ('a', 'a', 1, '-3.05', 7, '2026-01-31', 'then', 1)`
const changes = [
  insertion,
  `update${orFail} tasks set cost = '5.00', _revision = _revision + 1 where id = 'a'`,
  `update${orFail} tasks set deleted_at = 'now', _revision = _revision + 1 where id = 'a'`,
]

for (const change of changes) {
  test(`SQLite keeps no copy of the pages that a change with a kept summary changes: ${change.slice(0, 50)}…`, () => {
    const steps = database().prepare(`explain ${change}`).all()
    assert.ok(steps.some(({ opcode }) => opcode === 'Program'))
    const aborting = steps.filter(({ opcode, p2 }) => {
      const name = String(opcode)
      return /Function|PureFunc/.test(name) || (name.startsWith('Halt') && p2 === 2)
    })
    assert.deepEqual(aborting, [])
  })
}

test('SUM-3: figures follow each change of a row', () => {
  const made = database()
  const figures = () =>
    made
      .prepare('select group0, group1, group2, figure, count, total from resourced_summaries order by figure')
      .all()
      .map((row) => Object.values(row))
  made.exec(insertion)
  const group = ['=a', '=1', '=2026-01']
  assert.deepEqual(figures(), [
    [...group, '', 1, null],
    [...group, 'cost', 1, '-3.05'],
    [...group, 'size', 1, '7'],
  ])
  made.exec(insertion.replace("('a'", "('b'").replace("'-3.05'", 'null'))
  made.exec("update tasks set status = 'b', cost = '0.01' where id = 'a'")
  assert.deepEqual(figures().slice(0, 3), [
    [...group, '', 1, null],
    ['=b', '=1', '=2026-01', '', 1, null],
    ['=b', '=1', '=2026-01', 'cost', 1, '0.01'],
  ])
  made.exec('delete from tasks')
  assert.deepEqual(figures(), [])
})

test('the summaries of a trigger are read from its text, unless somebody has written another one', () => {
  const table = tablesFor(catalog, sqlite.layout).find(({ name }) => name === 'tasks')!
  const [trigger] = sqlite.summaryTriggers('tasks', table.summaries)
  const text = String(trigger?.definition('main'))
  assert.deepEqual(summariesOf(text), table.summaries)
  assert.equal(summariesOf(text.replace('"column":"cost"', '"column":"cost\' --"')), undefined)
  assert.equal(summariesOf(text.replace('"scale":2', '"scale":"2"')), undefined)
  assert.equal(summariesOf(text.replace('[', '')), undefined)
})
