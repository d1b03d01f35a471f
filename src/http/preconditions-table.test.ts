/**
 * Every combination of method, state and the four conditions, against an oracle written from the words of RFC 9110
 * sections 13.1 and 13.2.2. The oracle knows what each field value means from the table; it reads no header.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../spec/faults.ts'
import { formatHttpDate } from './fields/http-date.ts'
import { type CurrentState, decidePreconditions, readConditions, type Verdict } from './preconditions.ts'

type Answer = Verdict | 'MALFORMED_CONDITION'

/** A value of If-Match or If-None-Match, and what it means. Without `text` the request has no such field. */
interface TagForm {
  readonly text?: string
  readonly means?: 'any' | { readonly strong: readonly string[]; readonly weak: readonly string[] }
}

/** A value of If-Modified-Since or If-Unmodified-Since, and the second it means. */
interface DateForm {
  readonly text?: string
  readonly means?: number
}

interface State {
  readonly tag: string
  readonly date?: number
}

interface Row {
  readonly method: string
  readonly ifMatch: TagForm
  readonly ifNoneMatch: TagForm
  readonly ifModifiedSince: DateForm
  readonly ifUnmodifiedSince: DateForm
  readonly state: State | undefined
}

// The client has read "7", last modified in second 1000.
const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST']
const tagForms: Readonly<Record<string, TagForm>> = {
  absent: {},
  exact: { text: '"7"', means: { strong: ['7'], weak: [] } },
  'in a list': { text: '"5", W/"6" , "7"', means: { strong: ['5', '7'], weak: ['6'] } },
  weak: { text: 'W/"7"', means: { strong: [], weak: ['7'] } },
  '*': { text: '*', means: 'any' },
  malformed: { text: '"7', means: undefined },
  empty: { text: '', means: undefined },
}
const dateForms: Readonly<Record<string, DateForm>> = {
  absent: {},
  before: { text: formatHttpDate(999), means: 999 },
  same: { text: formatHttpDate(1000), means: 1000 },
  after: { text: formatHttpDate(1001), means: 1001 },
  malformed: { text: '1970-01-01T00:16:40Z', means: undefined },
}
const states: Readonly<Record<string, State | undefined>> = {
  unchanged: { tag: '7', date: 1000 },
  changed: { tag: '8', date: 1001 },
  'changed within the second': { tag: '8', date: 1000 },
  'without a date': { tag: '7' },
  gone: undefined,
}

/** RFC 9110 section 13.2.2, step by step; before it our rule on If-Match (docs/interface.md, malformed conditions). */
function expected({ method, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, state }: Row): Answer {
  const isGetOrHead = method === 'GET' || method === 'HEAD'
  const exists = state !== undefined
  const date = state?.date

  const ifMatchIsPresent = ifMatch.text !== undefined
  if (ifMatchIsPresent && ifMatch.means === undefined) return 'MALFORMED_CONDITION'
  // 13.1.1: "*" is true where there is a current representation, a list where one tag matches by strong comparison.
  let ifMatchIsTrue = false
  if (exists && ifMatch.means === 'any') ifMatchIsTrue = true
  else if (exists && ifMatch.means !== 'any') ifMatchIsTrue = ifMatch.means?.strong.includes(state.tag) ?? false

  // 13.1.2: "*" is false where there is a current representation, a list where one tag matches by weak comparison.
  const ifNoneMatchIsPresent = ifNoneMatch.text !== undefined
  let ifNoneMatchIsTrue = true
  if (exists && ifNoneMatch.means === 'any') ifNoneMatchIsTrue = false
  else if (exists && ifNoneMatch.means !== undefined && ifNoneMatch.means !== 'any') {
    const { strong, weak } = ifNoneMatch.means
    if (strong.includes(state.tag) || weak.includes(state.tag)) ifNoneMatchIsTrue = false
  }

  // 13.1.3: ignored where it is no date, where there is no date to compare with, for any other method, and where the
  // request contains If-None-Match: contains, whether or not that can be read.
  const ifModifiedSinceCounts =
    ifModifiedSince.means !== undefined && date !== undefined && isGetOrHead && !ifNoneMatchIsPresent
  const ifModifiedSinceIsTrue = !(Number(date) <= Number(ifModifiedSince.means))

  // 13.1.4: ignored where it is no date, where there is no date to compare with, and where If-Match is present.
  const ifUnmodifiedSinceCounts = ifUnmodifiedSince.means !== undefined && date !== undefined && !ifMatchIsPresent
  const ifUnmodifiedSinceIsTrue = Number(date) <= Number(ifUnmodifiedSince.means)

  // Steps 1 to 4; step 5 is of If-Range, step 6 performs the method.
  if (ifMatchIsPresent && !ifMatchIsTrue) return { failed: 'If-Match' }
  if (ifUnmodifiedSinceCounts && !ifUnmodifiedSinceIsTrue) return { failed: 'If-Unmodified-Since' }
  if (ifNoneMatchIsPresent && !ifNoneMatchIsTrue) return isGetOrHead ? 'not-modified' : { failed: 'If-None-Match' }
  if (ifModifiedSinceCounts && !ifModifiedSinceIsTrue) return 'not-modified'
  return 'proceed'
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
    for (const [match, ifMatch] of Object.entries(tagForms))
      for (const [modified, ifModifiedSince] of Object.entries(dateForms))
        for (const [unmodified, ifUnmodifiedSince] of Object.entries(dateForms)) {
          const name = `${stateName}; If-Match ${match}, If-Modified-Since ${modified}, If-Unmodified-Since ${unmodified}`
          yield [name, { method, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, state }]
        }
}

for (const method of methods) {
  for (const [form, ifNoneMatch] of Object.entries(tagForms)) {
    test(`${method} with If-None-Match ${form}: as RFC 9110 says, whatever the state and the other conditions`, () => {
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

test('the table reaches every answer by every method that can have it', () => {
  const counts = new Map<string, number>()
  for (const method of methods) {
    for (const ifNoneMatch of Object.values(tagForms)) {
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
  ['a weak tag guards no write', 'DELETE', { 'if-match': 'W/"7"' }, there, { failed: 'If-Match' }],
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
