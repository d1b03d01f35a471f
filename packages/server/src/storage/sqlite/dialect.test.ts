import assert from 'node:assert/strict'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { numberText } from 'resourced-contract/model/json/json-text'
import sql, { raw } from 'sql-template-tag'
import { oddNumbers } from '../sql/numbers.fixture.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'

test('MET-3: SQLite writes a number as JavaScript does', () => {
  const connection = new Connection(':memory:')
  try {
    connection.execute('create table numbers (n real) strict')
    const { jsonText, jsonObject, jsonValue } = sqlite
    const column = raw('n')
    const json = jsonObject([['n', jsonValue(column, 'real')]])
    for (const number of oddNumbers()) {
      connection.all(sql`insert into numbers values (${number})`)
      const rows = connection.all(sql`select ${jsonText(column, 'real')} as text, ${json} as json from numbers`)
      const text = numberText(number)
      assert.deepEqual({ ...rows[0] }, { text, json: `{"n":${text}}` })
      connection.all(sql`delete from numbers`)
    }
  } finally {
    connection.close()
  }
})

test('a limit does not make SQLite compile a statement anew when it runs again', (context) => {
  const database = new DatabaseSync(':memory:')
  context.after(() => database.close())
  database.exec('create table words (word text)')
  const { sql: text } = sql`select word from words order by word ${sqlite.limit(1)}`
  const statement = database.prepare(text) as StatementSync & { stat(counter: 'reprepare'): number }
  for (const limit of [1, 2, 3]) statement.all(limit)
  assert.equal(statement.stat('reprepare'), 0)
})
