import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { tablesFor } from '../sql/system-tables.ts'
import { createIndex } from '../sql/tables.ts'
import { addFunctions, sqlite } from './dialect.ts'
import { totalsOf } from './total-triggers.ts'

const catalog = completeCatalog({
  name: 'test',
  resources: {
    invoices: {
      fields: {
        total: { type: 'decimal', precision: 12, scale: 2, sumOf: 'lines.amount' },
        pieces: { type: 'integer', sumOf: 'lines.pieces' },
      },
    },
    lines: {
      fields: {
        invoice_id: { reference: 'invoices' },
        amount: { type: 'decimal', precision: 12, scale: 2 },
        pieces: { type: 'integer' },
      },
    },
  },
})
const tables = tablesFor(catalog, sqlite.layout)

function database(): DatabaseSync {
  const made = new DatabaseSync(':memory:')
  addFunctions(made)
  for (const table of tables) {
    made.exec(sqlite.createTable(table))
    for (const index of table.indexes) made.exec(createIndex(index))
    for (const trigger of sqlite.totalTriggers(table.name, table.totals)) {
      for (const statement of trigger.statements('main')) made.exec(statement)
    }
  }
  return made
}

const changes = [
  "insert or fail into lines (id, invoice_id, created_at, updated_at, _revision) values ('a', 'i', 'then', 'then', 1)",
  "update or fail lines set amount = '5.00', _revision = _revision + 1 where id = 'a'",
  "update or fail lines set deleted_at = 'now', _revision = _revision + 1 where id = 'a'",
]

for (const change of changes) {
  test(`SQLite keeps no copy of the pages that a change with a sum changes: ${change.slice(0, 50)}…`, () => {
    const steps = database().prepare(`explain ${change}`).all()
    assert.ok(steps.some(({ opcode }) => opcode === 'Program'))
    const aborting = steps.filter(({ opcode, p2 }) => {
      const name = String(opcode)
      return /Function|PureFunc/.test(name) || (name.startsWith('Halt') && p2 === 2)
    })
    assert.deepEqual(aborting, [])
  })
}

test('the sums of a trigger are read from its text, unless somebody has written another one', () => {
  const table = tables.find(({ name }) => name === 'lines')!
  const [trigger] = sqlite.totalTriggers('lines', table.totals)
  const text = String(trigger?.definition('main'))
  assert.deepEqual(totalsOf(text), table.totals)
  assert.equal(totalsOf(text.replace('"amount":"amount"', '"amount":"amount\' --"')), undefined)
  assert.equal(totalsOf(text.replace('"scale":2', '"scale":"2"')), undefined)
})
