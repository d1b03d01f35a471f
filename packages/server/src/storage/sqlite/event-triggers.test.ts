import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { createIndex, tablesFor } from '../sql/tables.ts'
import { addFunctions, sqlite } from './dialect.ts'

const wide = Object.fromEntries(Array.from({ length: 1_200 }, (_, number) => [`f${number}`, { type: 'integer' }]))

function databaseOf(fields: Record<string, object>): DatabaseSync {
  const catalog = completeCatalog({
    name: 'test',
    resources: { tasks: { fields, events: true, history: true } },
  } as never)
  const database = new DatabaseSync(':memory:')
  addFunctions(database)
  for (const table of tablesFor(catalog, sqlite.layout)) {
    if (!['tasks', 'events', 'revisions'].includes(table.name)) continue
    database.exec(sqlite.createTable(table))
    for (const index of table.indexes) database.exec(createIndex(index))
    if (table.events === undefined) continue
    for (const trigger of sqlite.eventTriggers('tasks', table.events)) {
      for (const statement of trigger.statements('main')) database.exec(statement)
    }
  }
  return database
}

const { sql: orFail } = sqlite.orFail
const insertion = `insert${orFail} into tasks (id, created_at, updated_at, _revision) values ('a', 'then', 'then', 1)`
const changes = [
  insertion,
  `update${orFail} tasks set updated_at = 'now', _revision = _revision + 1 where id = 'a'`,
  `update${orFail} tasks set deleted_at = 'now', _revision = _revision + 1 where id = 'a'`,
]

for (const change of changes) {
  test(`SQLite keeps no copy of the pages that a change with an event and a revision changes: ${change.slice(0, 50)}…`, () => {
    const database = databaseOf({ title: { type: 'string' } })
    const steps = database.prepare(`explain ${change}`).all()
    assert.ok(steps.some(({ opcode }) => opcode === 'Program'))
    // With a function or OE_Abort (2), SQLite has to be able to abort the statement alone.
    const aborting = steps.filter(({ opcode, p2 }) => {
      const name = String(opcode)
      return /Function|PureFunc|OpenEphemeral/.test(name) || (name.startsWith('Halt') && p2 === 2)
    })
    assert.deepEqual(aborting, [])
    database.close()
  })
}

test('the event of a record with many fields has them all, in their order (EVT-3)', () => {
  const database = databaseOf(wide)
  database.exec(insertion)
  const { id, data } = database.prepare('select id, data from events').get() as Record<string, string>
  assert.match(String(id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const snapshot = JSON.parse(String(data))
  assert.deepEqual(Object.keys(snapshot), [...Object.keys(wide), 'created_at', 'updated_at'])
  assert.equal(snapshot.updated_at, 'then')
  database.close()
})
