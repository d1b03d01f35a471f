import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseFor, emptyDatabase, whyNoDatabase } from './database.ts'
import { query } from './query.ts'

const skip = whyNoDatabase ?? false

test('an ordinary role owns its database and has no other rights', { skip }, async (context) => {
  const url = await databaseFor(context)
  await query(url, 'create table mine (id int)')
  await assert.rejects(query(url, 'create role other'), { code: '42501' })
  // As in a real one, text sorts by a language unless a column says otherwise.
  assert.deepEqual(await query(url, "select 'a' < 'B' as language, 'a' < 'B' collate \"C\" as bytes"), [
    { language: true, bytes: false },
  ])
})

test('each test has its own database, which is dropped even with open connections', { skip }, async () => {
  const [one, two] = await Promise.all([emptyDatabase(), emptyDatabase()])
  await query(one.url, 'create table mine (id int)')
  await assert.rejects(query(two.url, 'table mine'), { code: '42P01' })
  const asleep = assert.rejects(query(one.url, 'select pg_sleep(60)'))
  await query(one.url, 'select 1')
  await Promise.all([one.remove(), two.remove()])
  await asleep
  await assert.rejects(query(one.url, 'select 1'), { code: '3D000' })
})
