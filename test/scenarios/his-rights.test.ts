/** HIS-2: a state is shown only to those who may read the record as it is and as the state shows it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { type Trial, trial } from '../harness.ts'

const all = 'anyone' as const
const everything = { read: all, create: all, update: all, delete: all, restore: all, readDeleted: all } as const

const office = defineInterface({
  name: 'office',
  versions: { v1: {}, v2: {} },
  changes: [
    { version: 'v2', resource: 'notes', was: 'memos' },
    { version: 'v2', resource: 'notes', rename: { text: 'words' } },
    {
      ...{ version: 'v2', resource: 'notes' },
      convert: {
        level: {
          schema: { type: 'string' },
          older: (value) => `L${value}`,
          newer: (value) => Number(String(value).slice(1)),
        },
      },
    },
  ],
  resources: {
    notes: {
      fields: {
        words: { type: 'string', optional: true },
        level: { type: 'integer', optional: true },
        open: { type: 'boolean', optional: true },
        salary: { type: 'integer', optional: true },
        owner_id: { type: 'string', optional: true },
      },
      owner: 'owner_id',
      access: {
        ...everything,
        read: ['role:admin', 'owner', { where: { open: true } }],
        readHistory: ['role:admin', 'owner', { where: { level: { gte: 0 } } }],
        fields: { salary: { read: ['role:admin', { where: { level: 1 } }] } },
      },
      history: true,
    },
    closed: { fields: { name: { type: 'string' } }, access: everything, history: true },
    plain: { fields: { name: { type: 'string' } }, access: everything },
  },
})

const listed = async ({ send }: Trial, id: string, as: string, version = 'v2', query = '') => {
  const collection = version === 'v1' ? 'memos' : 'notes'
  return await send({ path: `/${version}/${collection}/${id}/revisions${query}`, as })
}

describe('HIS-2: rights', () => {
  test('HIS-2: states that rules of records and fields hide are absent, uncounted and not found', async () => {
    const trial_ = await trial(office)
    const { send } = trial_
    const note = await trial_.make('notes', { words: 'a', level: 1, open: true, salary: 5 })
    const path = `/v2/notes/${note.id}`
    const patch = (body: unknown) => send({ method: 'PATCH', path, body, as: 'root' })
    await patch({ open: false, words: 'hidden' })
    await patch({ open: true, level: 2, salary: 6, words: 'b' })
    await patch({ level: -1 })
    // Nobody but administrators and owners may read the history of the record as it is.
    assert.equal((await listed(trial_, note.id, 'ann')).status, 403)
    await patch({ level: 1, salary: 7 })
    const everyone = await listed(trial_, note.id, 'root')
    assert.equal(everyone.json.pagination.total_count, 5)
    const seen = await listed(trial_, note.id, 'ann')
    assert.deepEqual(
      seen.json.data.map(({ record }: never) => [record['words'], record['level'], record['salary']]),
      [
        ['b', 1, 7],
        ['b', 2, null],
        ['a', 1, 5],
      ],
    )
    assert.equal(seen.json.pagination.total_count, 3)
    assert.equal(seen.text.includes('hidden'), false)
    for (const [index, { id }] of everyone.json.data.entries()) {
      const one = await send({ path: `/v2/revisions/${id}`, as: 'ann' })
      assert.equal(one.status, [200, 404, 200, 404, 200][index])
    }
    // Its tag says nothing of what is hidden.
    const tag = seen.headers['etag']
    assert.equal((await listed(trial_, note.id, 'ann')).headers['etag'], tag)
    await patch({ level: 0 })
    await patch({ level: 1 })
    assert.notEqual((await listed(trial_, note.id, 'ann')).headers['etag'], tag)
    await trial_.close()
  })

  test('HIS-2: older versions have their names and values', async () => {
    const trial_ = await trial(office)
    const note = await trial_.make('notes', { words: 'a', level: 3, open: true })
    const list = await listed(trial_, note.id, 'root', 'v1')
    const [revision] = list.json.data
    assert.deepEqual([revision.record.text, revision.record.level, revision.version], ['a', 'L3', 'v2'])
    const one = await trial_.send({ path: `/v1/revisions/${revision.id}` })
    assert.deepEqual(one.json, revision)
    const at = { 'accept-datetime': new Date(Date.now() + 5_000).toUTCString() }
    const former = await trial_.send({ path: `/v1/memos/${note.id}`, headers: at })
    assert.deepEqual([former.status, former.json.text, former.json.level], [200, 'a', 'L3'])
    assert.match(String(former.headers['link']), /<\/v1\/memos\/[^>]+>; rel="original timegate"/)
    assert.equal((await trial_.send({ path: `/v1/notes/${note.id}/revisions` })).status, 404)
    // On SQLite another thread reads a list of so many revisions.
    await trial_.send({ method: 'POST', path: '/v2/notes', body: Array(1_000).fill({}) })
    assert.deepEqual((await listed(trial_, note.id, 'root', 'v1')).json, list.json)
    await trial_.close()
  })

  test('HIS-2: without readHistory only administrators; without a history there is no address', async () => {
    const trial_ = await trial(office)
    const { id } = await trial_.make('closed', { name: 'a' })
    const path = `/v2/closed/${id}`
    assert.equal((await trial_.send({ path: `${path}/revisions`, as: 'ann' })).status, 403)
    const at = { 'accept-datetime': new Date().toUTCString() }
    assert.equal((await trial_.send({ path, headers: at, as: 'ann' })).status, 403)
    const { json } = await trial_.send({ path: `${path}/revisions` })
    assert.equal(json.pagination.total_count, 1)
    assert.equal((await trial_.send({ path: `/v2/revisions/${json.data[0].id}`, as: 'ann' })).status, 404)
    assert.equal((await trial_.send({ path: '/v2/revisions' })).status, 404)
    const plain = await trial_.make('plain', { name: 'a' })
    assert.equal((await trial_.send({ path: `/v2/plain/${plain.id}/revisions` })).status, 404)
    const present = await trial_.send({ path: `/v2/plain/${plain.id}`, headers: at })
    assert.equal(present.status, 200)
    assert.equal(present.headers['vary']?.includes('Datetime'), false)
    await trial_.close()
  })

  test('HIS-2: the history of a deleted record needs include_deleted and readDeleted', async () => {
    const trial_ = await trial(office)
    const { send } = trial_
    const { id } = await trial_.make('closed', { name: 'a' })
    const path = `/v2/closed/${id}`
    const { json } = await send({ path: `${path}/revisions` })
    assert.equal((await send({ method: 'DELETE', path })).status, 204)
    assert.equal((await send({ path: `${path}/revisions` })).status, 404)
    const list = await send({ path: `${path}/revisions?include_deleted=true` })
    assert.deepEqual([list.status, list.json.pagination.total_count], [200, 2])
    const one = `/v2/revisions/${json.data[0].id}`
    assert.equal((await send({ path: one })).status, 404)
    assert.equal((await send({ path: `${one}?include_deleted=true` })).status, 200)
    // Its grace period is over.
    trial_.clock.ahead = 40 * 86_400_000
    assert.equal((await send({ path: `${path}/revisions?include_deleted=true` })).status, 404)
    assert.equal((await send({ path: `${one}?include_deleted=true` })).status, 404)
    await trial_.close()
  })

  test('HIS-2: a list is paged, sorted and selected as others are, and answers HEAD and QUERY', async () => {
    const trial_ = await trial(office)
    const { send } = trial_
    const { id } = await trial_.make('closed', { name: 'n0' })
    const path = `/v2/closed/${id}`
    for (let number = 1; number < 7; number++) await send({ method: 'PATCH', path, body: { name: `n${number}` } })
    const names = (json: { data: { record: { name: string } }[] }) => json.data.map(({ record }) => record.name)
    const first = await send({ path: `${path}/revisions?limit=3` })
    assert.deepEqual([names(first.json), first.json.pagination.total_count], [['n6', 'n5', 'n4'], 7])
    const next = await send({ path: `${path}/revisions?limit=3&cursor=${first.json.pagination.next_cursor}` })
    assert.deepEqual(names(next.json), ['n3', 'n2', 'n1'])
    const page = await send({ path: `${path}/revisions?page=3&per_page=3` })
    assert.deepEqual(names(page.json), ['n0'])
    const oldest = await send({ path: `${path}/revisions?sort=created_at&limit=2` })
    assert.deepEqual(names(oldest.json), ['n0', 'n1'])
    const few = await send({ path: `${path}/revisions?fields=kind&limit=1` })
    assert.deepEqual(Object.keys(few.json.data[0]), ['id', 'kind'])
    const head = await send({ method: 'HEAD', path: `${path}/revisions` })
    assert.deepEqual([head.status, head.headers['x-total-count']], [200, '7'])
    const headers = { 'if-none-match': String(first.headers['etag']) }
    assert.equal((await send({ path: `${path}/revisions?limit=3`, headers })).status, 304)
    const query = await send({
      ...{ method: 'QUERY', path: `${path}/revisions`, body: { limit: 1 } },
      headers: { 'content-type': 'application/json' },
    })
    assert.deepEqual(names(query.json), ['n6'])
    const allowed = await send({ method: 'OPTIONS', path: `${path}/revisions` })
    assert.equal(allowed.headers['allow'], 'GET, HEAD, DELETE, QUERY, OPTIONS')
    await trial_.close()
  })
})
