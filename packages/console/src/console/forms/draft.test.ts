import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyPatch } from 'rfc6902'
import type { JsonValue, RecordData } from '../interface/records.ts'
import {
  emptyDraft,
  isChanged,
  messagesAt,
  onlyFields,
  patchOf,
  sameJson,
  withoutSaved,
  withText,
  withValue,
} from './draft.ts'
import { isObject } from './input-kind.ts'

// The interface refuses the key `__proto__`.
const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__')) as fc.Arbitrary<JsonValue>
const record = (values: Readonly<Record<string, JsonValue>>) => ({
  record: { id: '1', ...values } as RecordData,
  etag: '"1"',
})

test('a value that is set back is no change', () => {
  fc.assert(
    fc.property(json, json, (before, other) => {
      const changed = withValue(emptyDraft, 'a', other, before)
      assert.equal(isChanged(changed), !sameJson(other, before))
      assert.deepEqual(withValue(changed, 'a', structuredClone(before), before).values, {})
    }),
  )
})

test('the members of an object have no order', () => {
  assert.ok(sameJson({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }))
  assert.ok(!sameJson([1, 2], [2, 1]))
  assert.ok(!sameJson(null, undefined))
})

test('a patch gives each changed field exactly its value, and touches no other (MET-4)', () => {
  const values = fc.dictionary(fc.constantFrom('a', 'b', 'c/d', '~e'), json)
  fc.assert(
    fc.property(values, values, (before, changes) => {
      const { headers, body } = patchOf(changes)
      const stored = structuredClone(before)
      if ('Content-Type' in headers) {
        assert.deepEqual(
          applyPatch(stored, body as never).filter((error) => error !== null),
          [],
        )
      } else {
        // RFC 7396 for values that are no objects.
        for (const [name, value] of Object.entries(body as Record<string, JsonValue>)) stored[name] = value
      }
      assert.deepEqual(stored, { ...before, ...changes })
      assert.equal('Content-Type' in headers, Object.values(changes).some(isObject))
    }),
  )
})

test('an emptied field is null in a patch', () => {
  assert.deepEqual(patchOf({ a: undefined }), { headers: {}, body: { a: null } })
})

test('what is typed while a record is saved stays a change, of the saved record', () => {
  const saved = record({ a: 1, b: 2 })
  const typed = { values: { a: 1, b: 3 }, texts: { '/a': { text: '1.0' }, '/b': { text: '3.' } } }
  const after = withoutSaved(typed, { a: 1, b: 2 }, saved)
  assert.deepEqual(after, { values: { b: 3 }, texts: { '/b': { text: '3.' } }, begun: saved })
  assert.ok(!isChanged(withoutSaved({ values: { a: 1 }, texts: {} }, { a: 1 }, saved)))
})

test('texts belong to their place', () => {
  const list = withText(withText(emptyDraft, '/a/1', { text: 'x', wrong: 'No.' }), '/ab', { text: '1.' })
  assert.deepEqual(withText(list, '/a', undefined).texts, { '/ab': { text: '1.' } })
  assert.deepEqual(onlyFields(list).texts, { '/a/1': { text: 'x', wrong: 'No.' } })
})

test('every error of a place is shown there, or at an input inside it', () => {
  const error = (pointer: string) => ({ code: 'X', message: pointer, pointer })
  const errors = ['/a', '/a/b', '/a/c/d', '/a/e~1f', '/ab'].map(error)
  assert.deepEqual(messagesAt(errors, '/a'), ['/a', '/a/b', '/a/c/d', '/a/e~1f'])
  assert.deepEqual(messagesAt(errors, '/a', ['b', 'e/f']), ['/a', '/a/c/d'])
  assert.deepEqual(messagesAt([{ code: 'X', message: 'elsewhere' }], '/a'), [])
})
