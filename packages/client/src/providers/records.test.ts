import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../index.ts'
import { changeAll } from './records.ts'

test('CON-7: where a collection requires conditions, each record is changed for itself', async () => {
  const conditions: unknown[] = []
  const client = createClient({
    url: 'https://api.test',
    async fetch(url, { headers }) {
      const { pathname } = new URL(url)
      if (pathname === '/drafts') return Response.json({ code: 'PRECONDITION_REQUIRED' }, { status: 428 })
      conditions.push((headers as Readonly<Record<string, string>>)['if-match'])
      if (pathname === '/drafts/b') return Response.json({ code: 'CONFLICT', detail: 'It is closed.' }, { status: 409 })
      return Response.json({ id: pathname.slice('/drafts/'.length) })
    },
  })
  const drafts = client['drafts']!
  assert.deepEqual(await changeAll(drafts, ['a', 'c'], { text: 'x' }), [{ id: 'a' }, { id: 'c' }])
  await assert.rejects(changeAll(drafts, ['a', 'b'], { text: 'x' }), {
    status: 409,
    detail: '1 of 2 records were not changed. It is closed.',
  })
  assert.deepEqual(conditions, ['*', '*', '*', '*'])
})
