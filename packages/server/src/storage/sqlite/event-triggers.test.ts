import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Predicate } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { hasIdSql } from '../sql/columns.ts'
import { sqlContext } from '../sql/context.ts'
import { liveSql } from '../sql/predicate.ts'
import { tablesFor } from '../sql/system-tables.ts'
import { createIndex } from '../sql/tables.ts'
import { addFunctions, sqlite } from './dialect.ts'

const wide = Object.fromEntries(Array.from({ length: 1_200 }, (_, number) => [`f${number}`, { type: 'integer' }]))

function catalogOf(fields: Record<string, object>): Catalog {
  return completeCatalog({ name: 'test', resources: { tasks: { fields, events: true, history: true } } } as never)
}

function databaseOf(fields: Record<string, object>, catalog = catalogOf(fields)): DatabaseSync {
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

test('the id of a revision ends with its position, by which it is found (HIS-2)', () => {
  const database = databaseOf({})
  for (const change of changes.slice(0, 2)) database.exec(change)
  const ids = database
    .prepare('select id from revisions order by _row')
    .all()
    .map((row) => String(row['id']))
  assert.deepEqual(
    ids.map((id) => id.replace(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/, '')),
    ['000000000001', '000000000002'],
  )
  const catalog = catalogOf({})
  const { sql, values } = hasIdSql(catalog.system.get('revisions') as Resource, (of) => of(String(ids[1])))
  const which = `from revisions where ${sql}`
  const bound = values as (string | number)[]
  assert.deepEqual({ ...database.prepare(`select _row ${which}`).get(...bound) }, { _row: 2 })
  const [step] = database.prepare(`explain query plan select 1 ${which}`).all(...bound)
  assert.match(String(step?.['detail']), /USING INTEGER PRIMARY KEY/)
  database.close()
})

test('the revisions of a record are counted by their index alone (HIS-2)', () => {
  const catalog = catalogOf({})
  const database = databaseOf({}, catalog)
  const equal = (field: string, value: string): Predicate => ({ kind: 'compare', field, operator: 'eq', value })
  const ofRecord: Predicate = { kind: 'and', terms: [equal('record_id', 'a'), equal('collection', 'tasks')] }
  const where = liveSql(sqlContext({ catalog, dialect: sqlite }), catalog.system.get('revisions') as Resource, ofRecord)
  const { sql, values } = where
  const steps = database.prepare(`explain query plan select count(*) from revisions t where ${sql}`)
  assert.match(String(steps.get(...(values as string[]))?.['detail']), /COVERING INDEX revisions_by_record_id/)
  database.close()
})
