import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newRequestId } from './finish-request.ts'

test('ids are UUIDs of version 4, and all different, over several batches', () => {
  const ids = Array.from({ length: 2_000 }, newRequestId)
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(new Set(ids).size, ids.length)
})
