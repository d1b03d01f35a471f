/** Every combination of method, state and the four conditions, against the oracle of `preconditions.fixture.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHttpDate } from 'resourced-contract/fields/header-fields'
import { Fault } from 'resourced-contract/spec/faults'
import {
  type Answer,
  dateForms,
  expected,
  type Row,
  type State,
  type TagForm,
  tagForms,
} from './preconditions.fixture.ts'
import { type CurrentState, decidePreconditions, readConditions } from './preconditions.ts'

// The client has read "7", last modified in second 1000.
const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST']
const tags = tagForms('7')
const dates = dateForms(1000)
const states: Readonly<Record<string, State | undefined>> = {
  unchanged: { tag: '7', date: 1000 },
  changed: { tag: '8', date: 1001 },
  'changed within the second': { tag: '8', date: 1000 },
  'without a date': { tag: '7' },
  gone: undefined,
}

function actual(
  method: string,
  headers: Record<string, string | undefined>,
  current: CurrentState | undefined,
): Answer {
  try {
    return decidePreconditions({ method, conditions: readConditions(headers), current })
  } catch (error) {
    if (error instanceof Fault && error.code === 'MALFORMED_CONDITION') return error.code
    throw error
  }
}

/** All rows of a method and a form of If-None-Match, each with its name. */
function* rowsOf(method: string, ifNoneMatch: TagForm): Generator<[name: string, row: Row]> {
  for (const [stateName, state] of Object.entries(states))
    for (const [match, ifMatch] of Object.entries(tags))
      for (const [modified, ifModifiedSince] of Object.entries(dates))
        for (const [unmodified, ifUnmodifiedSince] of Object.entries(dates)) {
          const name = `${stateName}; If-Match ${match}, If-Modified-Since ${modified}, If-Unmodified-Since ${unmodified}`
          yield [name, { method, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, state }]
        }
}

for (const method of methods) {
  for (const [form, ifNoneMatch] of Object.entries(tags)) {
    test(`${method} with If-None-Match ${form}: as RFC 9110 requires, for every state and all other conditions`, () => {
      const disagreements: [name: string, Answer, 'expected', Answer][] = []
      for (const [name, row] of rowsOf(method, ifNoneMatch)) {
        const headers = {
          'if-match': row.ifMatch.text,
          'if-none-match': row.ifNoneMatch.text,
          'if-modified-since': row.ifModifiedSince.text,
          'if-unmodified-since': row.ifUnmodifiedSince.text,
        }
        const current = row.state && { tag: { opaque: row.state.tag, weak: false }, lastModified: row.state.date }
        const [is, should] = [actual(method, headers, current), expected(row)]
        if (JSON.stringify(is) !== JSON.stringify(should)) disagreements.push([name, is, 'expected', should])
      }
      assert.deepEqual(disagreements.slice(0, 4), [], `${disagreements.length} rows disagree`)
    })
  }
}

test('the table covers every result for every method that can have it', () => {
  const counts = new Map<string, number>()
  for (const method of methods) {
    for (const ifNoneMatch of Object.values(tags)) {
      for (const [, row] of rowsOf(method, ifNoneMatch)) {
        const answer = expected(row)
        const key = `${method} ${typeof answer === 'string' ? answer : answer.failed}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    }
  }
  const each = ['proceed', 'MALFORMED_CONDITION', 'If-Match', 'If-Unmodified-Since']
  const reads = ['GET', 'HEAD'].flatMap((method) => [...each, 'not-modified'].map((answer) => `${method} ${answer}`))
  const writes = methods.slice(2).flatMap((method) => [...each, 'If-None-Match'].map((answer) => `${method} ${answer}`))
  assert.deepEqual([...counts.keys()].sort(), [...reads, ...writes].sort())
  for (const [key, count] of counts) assert.ok(count >= 60, `${key}: ${count}`)
})

// Written out by hand, against the state "7" of second 1000, or nothing where it is gone.
const same = formatHttpDate(1000)
const earlier = formatHttpDate(999)
const there: CurrentState = { tag: { opaque: '7', weak: false }, lastModified: 1000 }
const hand: [
  name: string,
  method: string,
  headers: Record<string, string>,
  current: CurrentState | undefined,
  Answer,
][] = [
  ['a lost update is refused', 'PUT', { 'if-match': '"6"' }, there, { failed: 'If-Match' }],
  ['a record is made only where there is none', 'PUT', { 'if-none-match': '*' }, undefined, 'proceed'],
  ['and not over another', 'PUT', { 'if-none-match': '*' }, there, { failed: 'If-None-Match' }],
  ['a record is changed only where there is one', 'PATCH', { 'if-match': '*' }, undefined, { failed: 'If-Match' }],
  ['a weak tag of the state, made by a proxy, guards a write', 'DELETE', { 'if-match': 'W/"7"' }, there, 'proceed'],
  ['a weak tag of another state guards it too', 'DELETE', { 'if-match': 'W/"6"' }, there, { failed: 'If-Match' }],
  ['the tag of a compressed response guards a write', 'PUT', { 'if-match': '"7-br"' }, there, 'proceed'],
  ['one of another state too', 'PUT', { 'if-match': '"6-br"' }, there, { failed: 'If-Match' }],
  ['a star in a list is malformed', 'DELETE', { 'if-match': '"7", *' }, there, 'MALFORMED_CONDITION'],
  ['an empty If-Match guards nothing', 'POST', { 'if-match': '' }, there, 'MALFORMED_CONDITION'],
  ['not even what is gone', 'DELETE', { 'if-match': ' , ' }, undefined, 'MALFORMED_CONDITION'],
  ['nor a read', 'GET', { 'if-match': '7', 'if-none-match': '"7"' }, there, 'MALFORMED_CONDITION'],
  ['a write after a change', 'PATCH', { 'if-unmodified-since': earlier }, there, { failed: 'If-Unmodified-Since' }],
  ['two dates are no date', 'PATCH', { 'if-unmodified-since': `${earlier}, ${earlier}` }, there, 'proceed'],
  ['412 before 304', 'GET', { 'if-match': '"6"', 'if-none-match': '"7"' }, there, { failed: 'If-Match' }],
  [
    '412 of a date before 304 of a tag',
    'HEAD',
    { 'if-unmodified-since': earlier, 'if-none-match': '"7"' },
    there,
    { failed: 'If-Unmodified-Since' },
  ],
  ['304 after If-Match holds', 'HEAD', { 'if-match': '*', 'if-modified-since': same }, there, 'not-modified'],
  ['a weak tag is good enough to read by', 'GET', { 'if-none-match': 'W/"7"' }, there, 'not-modified'],
  ['a new tag outweighs an old date', 'GET', { 'if-none-match': '"6"', 'if-modified-since': same }, there, 'proceed'],
  // Section 13.1.3: a request that contains If-None-Match, readable or not, has no If-Modified-Since.
  ['so does one that cannot be read', 'GET', { 'if-none-match': '7', 'if-modified-since': same }, there, 'proceed'],
  ['a date says nothing to a write', 'POST', { 'if-modified-since': same }, there, 'proceed'],
]
for (const [name, method, headers, current, answer] of hand) {
  test(`by hand: ${name}`, () => assert.deepEqual(actual(method, headers, current), answer))
}
