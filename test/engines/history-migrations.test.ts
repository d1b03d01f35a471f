/** HIS-1: former states follow a migration, and a collection that goes takes its history with it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { newDatabase } from '../engine.ts'
import { trial } from '../harness.ts'

const all = 'anyone' as const
const access = { read: all, create: all, update: all, readHistory: all } as const

const before = defineInterface({
  name: 'office',
  resources: {
    memos: {
      fields: { text: { type: 'string' }, level: { type: 'integer' }, open: { type: 'boolean', optional: true } },
      access,
      history: true,
    },
    drafts: { fields: { text: { type: 'string' } }, access, history: true },
  },
})

const after = defineInterface({
  name: 'office',
  versions: { v1: {}, v2: {} },
  changes: [
    { version: 'v2', resource: 'notes', was: 'memos' },
    { version: 'v2', resource: 'notes', rename: { text: 'words' } },
    {
      ...{ version: 'v2', resource: 'notes' },
      convert: {
        level: {
          schema: { type: 'integer' },
          older: (value) => Number(String(value).slice(1)),
          newer: (value) => `L${value}`,
        },
      },
    },
  ],
  resources: {
    notes: {
      fields: { words: { type: 'string' }, level: { type: 'string' }, open: { type: 'boolean', optional: true } },
      access,
      history: true,
    },
  },
})

test('HIS-1: states have the names and values of the newest version, and are shown in each', async () => {
  const database = await newDatabase()
  const first = await trial(before, { database })
  const memo = await first.make('memos', { text: 'a', level: 1, open: true })
  const draft = await first.make('drafts', { text: 'gone' })
  await first.send({ method: 'PATCH', path: `/v1/memos/${memo.id}`, body: { text: 'b', level: 2, open: false } })
  const { stored } = completeVersions(after)
  const migrated = await database.open(stored, { migrate: 'all' })
  await migrated.close()
  const second = await trial(after, { database })
  const newer = await second.send({ path: `/v2/notes/${memo.id}/revisions` })
  const values = (json: { data: { record: Record<string, unknown> }[] }, ...names: string[]) =>
    json.data.map(({ record }) => names.map((name) => record[name]))
  assert.deepEqual(values(newer.json, 'words', 'level', 'open'), [
    ['b', 'L2', false],
    ['a', 'L1', true],
  ])
  const older = await second.send({ path: `/v1/memos/${memo.id}/revisions` })
  assert.deepEqual(values(older.json, 'text', 'level'), [
    ['b', 2],
    ['a', 1],
  ])
  const left = await database.rows('select record_id from revisions')
  assert.equal(
    left.some((row) => row['record_id'] === draft.id),
    false,
  )
  await second.send({ method: 'PATCH', path: `/v2/notes/${memo.id}`, body: { words: 'c' } })
  assert.equal((await second.send({ path: `/v2/notes/${memo.id}/revisions` })).json.pagination.total_count, 3)
  for (const each of [first, second]) await each.close()
})
