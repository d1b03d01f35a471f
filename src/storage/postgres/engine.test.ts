import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import sql, { raw } from 'sql-template-tag'
import { databaseFor } from '../../../test/postgres/database.ts'
import { oddNumbers } from '../sql/numbers.fixture.ts'
import { numberText } from '../sql/values.ts'
import { postgres } from './engine.ts'

test('MET-3: PostgreSQL writes a number as JavaScript does', async (context) => {
  const client = new pg.Client(await databaseFor(context))
  await client.connect()
  try {
    const numbers = oddNumbers()
    const text = postgres.jsonText(raw('n'), 'real')
    const { rows } = await client.query(
      sql`select ${text} as text from unnest(cast(${numbers} as double precision[])) with ordinality as numbers (n, place) order by place`,
    )
    assert.deepEqual(
      rows.map((row) => row.text),
      numbers.map(numberText),
    )
  } finally {
    await client.end()
  }
})
