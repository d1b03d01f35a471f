import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualNames } from '../profile/profile.ts'
import { totalOf } from './expect.ts'

test('a total may be in a header field: alone, behind a range, or in JSON', () => {
  const totals: readonly (readonly [total: string, field: string, value: string, told: number | undefined])[] = [
    ['header:X-Total-Count', 'X-Total-Count', '96', 96],
    ['header:Content-Range', 'Content-Range', 'items 0-9/96', 96],
    ['header:X-Pagination/total', 'X-Pagination', '{"total":96,"page":1}', 96],
    ['header:X-Pagination/total', 'X-Pagination', 'no JSON', undefined],
    ['header:X-Total-Count', 'X-Other', '96', undefined],
  ]
  for (const [total, field, value, told] of totals) {
    const answer = { status: 200, version: '1.1', fields: [[field, value] as const], body: '[]' }
    const profile = { base: 'http://x', open: [], collections: [], names: { ...usualNames, total } }
    assert.equal(totalOf(answer, { profile }), told, value)
  }
})
