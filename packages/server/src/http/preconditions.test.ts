import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHttpDate } from 'resourced-contract/fields/header-fields'
import { Fault } from 'resourced-contract/spec/faults'
import { decidePreconditions, readConditions, type Verdict } from './preconditions.ts'

const current = { tag: { opaque: '7', weak: false }, lastModified: 1000 }
const before = formatHttpDate(999)
const exactly = formatHttpDate(1000)
const matchFails: Verdict = { failed: 'If-Match' }
const noneMatchFails: Verdict = { failed: 'If-None-Match' }
const unmodifiedFails: Verdict = { failed: 'If-Unmodified-Since' }

const rows: [string, string, Record<string, string>, Verdict][] = [
  ['no condition', 'GET', {}, 'proceed'],
  ['the current tag', 'PUT', { 'if-match': '"7"' }, 'proceed'],
  ['one of several', 'PUT', { 'if-match': '"6", "7"' }, 'proceed'],
  ['any tag', 'DELETE', { 'if-match': '*' }, 'proceed'],
  ['another tag', 'DELETE', { 'if-match': '"6"' }, matchFails],
  ['the current tag in its weak form', 'PUT', { 'if-match': 'W/"7"' }, 'proceed'],
  ['another tag in its weak form', 'PUT', { 'if-match': 'W/"6"' }, matchFails],
  ['If-Match guards GET too', 'GET', { 'if-match': '"6"' }, matchFails],
  ['If-Match outweighs If-Unmodified-Since', 'PUT', { 'if-match': '"7"', 'if-unmodified-since': before }, 'proceed'],
  ['unmodified since', 'PUT', { 'if-unmodified-since': exactly }, 'proceed'],
  ['modified since', 'PUT', { 'if-unmodified-since': before }, unmodifiedFails],
  ['a date that cannot be read is ignored', 'PUT', { 'if-unmodified-since': 'soon' }, 'proceed'],
  ['a known tag', 'GET', { 'if-none-match': '"7"' }, 'not-modified'],
  ['a known tag by HEAD', 'HEAD', { 'if-none-match': '"7"' }, 'not-modified'],
  ['If-None-Match compares weakly', 'GET', { 'if-none-match': '"1", W/"7"' }, 'not-modified'],
  ['an unknown tag', 'GET', { 'if-none-match': '"6"' }, 'proceed'],
  ['If-None-Match on a write', 'PUT', { 'if-none-match': '*' }, noneMatchFails],
  ['a malformed If-None-Match is ignored', 'GET', { 'if-none-match': '7' }, 'proceed'],
  ['not modified since', 'GET', { 'if-modified-since': exactly }, 'not-modified'],
  ['modified since then', 'GET', { 'if-modified-since': before }, 'proceed'],
  ['If-Modified-Since is for reads', 'PUT', { 'if-modified-since': exactly }, 'proceed'],
  ['If-None-Match outweighs it', 'GET', { 'if-none-match': '"6"', 'if-modified-since': exactly }, 'proceed'],
  ['both families', 'GET', { 'if-match': '"7"', 'if-none-match': '"7"' }, 'not-modified'],
  [
    'after If-Unmodified-Since',
    'GET',
    { 'if-unmodified-since': exactly, 'if-modified-since': exactly },
    'not-modified',
  ],
]
for (const [name, method, headers, expected] of rows) {
  test(name, () =>
    assert.deepEqual(decidePreconditions({ method, conditions: readConditions(headers), current }), expected),
  )
}

test('without a current state If-Match fails, and the other conditions are true', () => {
  const decide = (headers: Record<string, string>) =>
    decidePreconditions({ method: 'PUT', conditions: readConditions(headers), current: undefined })
  assert.deepEqual(decide({ 'if-match': '*' }), matchFails)
  assert.deepEqual(decide({ 'if-match': '"7"' }), matchFails)
  assert.equal(decide({ 'if-none-match': '*' }), 'proceed')
  assert.equal(decide({ 'if-unmodified-since': before }), 'proceed')
})

test('If-Match may name any of the acceptable tags', () => {
  const conditions = readConditions({ 'if-match': '"7-older"' })
  const state = { ...current, matchTags: ['7', '7-older'] }
  assert.equal(decidePreconditions({ method: 'PUT', conditions, current: state }), 'proceed')
  assert.deepEqual(decidePreconditions({ method: 'PUT', conditions, current }), matchFails)
})

for (const value of ['', '  ', '7', '"7', '"7" "8"', ',']) {
  test(`If-Match: ${JSON.stringify(value)} is a malformed condition, never no condition`, () => {
    assert.throws(
      () => readConditions({ 'if-match': value }),
      (error) =>
        error instanceof Fault &&
        error.code === 'MALFORMED_CONDITION' &&
        error.details.errors?.[0]?.header === 'If-Match',
    )
  })
}
