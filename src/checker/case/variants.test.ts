import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgedCursor, wordOf } from './variants.ts'

test('a forged cursor that can be read once decoded stays readable, and says something else', () => {
  const cursor = Buffer.from('{"id":"a7","at":12}').toString('base64url')
  const forged = Buffer.from(forgedCursor(cursor), 'base64url').toString()
  assert.notEqual(forgedCursor(cursor), cursor)
  assert.deepEqual(Object.keys(JSON.parse(forged)), ['id', 'at'])
})

test('a forged cursor that cannot be read differs in one character', () => {
  for (const cursor of ['Ab-9_zQ77y1kX', '8d1f-44', '17', 'b', '1']) {
    const forged = forgedCursor(cursor)
    assert.equal(forged.length, cursor.length)
    assert.equal([...forged].filter((letter, index) => letter !== cursor[index]).length, 1, cursor)
  }
})

test('the word of a mark has letters alone, and another for each mark', () => {
  assert.match(wordOf('checked-0a1b2c3d4e'), /^[a-z]{12}$/)
  assert.notEqual(wordOf('checked-0a1b2c3d4e'), wordOf('checked-0a1b2c3d4f'))
})
