import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatHttpDate } from 'resourced-contract/fields/header-fields'
import { Fault } from 'resourced-contract/spec/faults'
import type { FileBody, HttpResponse } from './message.ts'
import { applyRange, decideRange, type RangeVerdict } from './preconditions.ts'

const tag = { opaque: '7', weak: false }
const lastModified = 1000
const now = 2_000_000

const ranges: [range: string, length: number, RangeVerdict][] = [
  // The examples of section 14.1.2.
  ['bytes=0-499', 10_000, { start: 0, end: 499 }],
  ['bytes=500-999', 10_000, { start: 500, end: 999 }],
  ['bytes=-500', 10_000, { start: 9500, end: 9999 }],
  ['bytes=9500-', 10_000, { start: 9500, end: 9999 }],
  ['bytes=0-0,-1', 10_000, 'whole'],
  ['bytes=500-600,601-999', 10_000, 'whole'],
  // The ends.
  ['bytes=0-', 10, { start: 0, end: 9 }],
  ['bytes=9-', 10, { start: 9, end: 9 }],
  ['bytes=9-9', 10, { start: 9, end: 9 }],
  ['bytes=5-10', 10, { start: 5, end: 9 }],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=10-20', 10, 'unsatisfiable'],
  ['bytes=-10', 10, { start: 0, end: 9 }],
  ['bytes=-11', 10, { start: 0, end: 9 }],
  ['bytes=-0', 10, 'unsatisfiable'],
  [`bytes=0-${'9'.repeat(400)}`, 10, { start: 0, end: 9 }],
  [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
  [`bytes=-${'9'.repeat(400)}`, 10, { start: 0, end: 9 }],
  // Of several, those that lie outside do not count.
  ['bytes=10-20, 2-3', 10, { start: 2, end: 3 }],
  ['bytes=-0, 10-', 10, 'unsatisfiable'],
  // Ignored.
  ['bytes=5-2', 10, 'whole'],
  ['items=20-30', 10, 'whole'],
  ['bytes=20-30, ?', 10, 'whole'],
  // Nothing to take a part of: a first position is past the end, a suffix is all of it.
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=0-0', 0, 'unsatisfiable'],
  ['bytes=-1', 0, 'whole'],
  ['bytes=-0', 0, 'unsatisfiable'],
]
for (const [range, length, expected] of ranges) {
  test(`${range.slice(0, 40)} of ${length} bytes`, () =>
    assert.deepEqual(decideRange({ range }, { length, tag, lastModified }, now), expected))
}

test('without Range the whole representation is sent, with any If-Range', () => {
  assert.equal(decideRange({}, { length: 10 }, now), 'whole')
  assert.equal(decideRange({ 'if-range': '"7"' }, { length: 10, tag, lastModified }, now), 'whole')
})

const same = formatHttpDate(lastModified)
const ifRanges: [ifRange: string, matches: boolean][] = [
  ['"7"', true],
  ['"6"', false],
  ['W/"7"', false],
  ['"6", "7"', false],
  ['"7", "7"', false],
  ['"7",', false],
  ['*', false],
  ['7', false],
  ['"7', false],
  ['', false],
  [same, true],
  ['Thursday, 01-Jan-70 00:16:40 GMT', true],
  [formatHttpDate(lastModified - 1), false],
  [formatHttpDate(lastModified + 1), false],
  [`${same}, ${same}`, false],
  [`"${same}"`, false],
  ['1970-01-01T00:16:40Z', false],
]
for (const [ifRange, matches] of ifRanges) {
  test(`If-Range: ${ifRange} ${matches ? 'holds' : 'does not hold'}`, () => {
    const current = { length: 10, tag, lastModified }
    const decide = (range: string) => decideRange({ range, 'if-range': ifRange }, current, now)
    assert.deepEqual(decide('bytes=2-3'), matches ? { start: 2, end: 3 } : 'whole')
    assert.equal(decide('bytes=10-'), matches ? 'unsatisfiable' : 'whole')
  })
}

test('If-Range: a date is no strong validator before its second is over', () => {
  const at = (moment: number) =>
    decideRange({ range: 'bytes=2-3', 'if-range': same }, { length: 10, lastModified }, moment)
  assert.equal(at(1_000_000), 'whole')
  assert.equal(at(1_000_999), 'whole')
  assert.deepEqual(at(1_001_000), { start: 2, end: 3 })
  assert.equal(at(0), 'whole')
})

test('If-Range matches nothing where the representation has no strong validator', () => {
  const decide = (ifRange: string, current: Parameters<typeof decideRange>[1]) =>
    decideRange({ range: 'bytes=2-3', 'if-range': ifRange }, current, now)
  assert.equal(decide('"7"', { length: 10, lastModified }), 'whole')
  assert.equal(decide('W/"7"', { length: 10, tag: { opaque: '7', weak: true }, lastModified }), 'whole')
  assert.equal(decide('"7"', { length: 10, tag: { opaque: '7', weak: true }, lastModified }), 'whole')
  assert.equal(decide(same, { length: 10, tag }), 'whole')
})

test('the result equals the one found by marking each byte', () => {
  const small = fc.nat({ max: 12 })
  const spec = fc.oneof(
    fc.tuple(small, small).map(([first, more]) => ({ text: `${first}-${first + more}`, first, last: first + more })),
    small.map((first) => ({ text: `${first}-`, first, last: 1000 })),
    small.map((suffix) => ({ text: `-${suffix}`, suffix })),
  )
  fc.assert(
    fc.property(small, fc.array(spec, { minLength: 1, maxLength: 3 }), (length, specs) => {
      const bytes = Array.from({ length }, (_, index) => index)
      const marked = specs.flatMap((each) => {
        if ('suffix' in each) return each.suffix === 0 ? [] : [bytes.filter((index) => index + each.suffix >= length)]
        const within = bytes.filter((index) => each.first <= index && index <= each.last)
        return within.length === 0 ? [] : [within]
      })
      const verdict = decideRange({ range: `bytes=${specs.map((each) => each.text).join()}` }, { length }, now)
      const [only] = marked
      if (only === undefined) assert.equal(verdict, 'unsatisfiable')
      else if (marked.length > 1 || length === 0) assert.equal(verdict, 'whole')
      else assert.deepEqual(verdict, { start: only[0], end: only.at(-1) })
    }),
  )
})

const text = 'Käse – 5 €\n'
const ok: HttpResponse = {
  status: 200,
  headers: { 'Content-Type': 'text/plain', ETag: '"7"', 'Last-Modified': same, 'Cache-Control': 'private, no-cache' },
  body: text,
}
const get = (headers: Record<string, string>, response = ok, method = 'GET') =>
  applyRange({ method, headers }, response, () => now)
/** The response, or the header fields of the refusal. */
const answerTo = (...request: Parameters<typeof get>) => {
  try {
    return get(...request)
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === 'RANGE_NOT_SATISFIABLE')
    return { refused: error.details.headers }
  }
}

test('text is cut at positions of its UTF-8 bytes', () => {
  const { status, headers, body } = get({ range: 'bytes=1-2' })
  assert.equal(status, 206)
  assert.deepEqual(headers, { ...ok.headers, 'Accept-Ranges': 'bytes', 'Content-Range': 'bytes 1-2/16' })
  assert.deepEqual([...(body as Uint8Array)], [0xc3, 0xa4])
})

test('bytes are cut at their positions, in a view of a larger buffer too', () => {
  const bytes = Uint8Array.of(9, 0, 1, 2, 3, 4, 9).subarray(1, 6)
  const { headers, body } = get({ range: 'bytes=-2' }, { ...ok, body: bytes })
  assert.equal(headers['Content-Range'], 'bytes 3-4/5')
  assert.deepEqual([...(body as Uint8Array)], [3, 4])
})

const film: FileBody = { kind: 'file', path: '/none/film', start: 10, length: 6_000_000_000 }
const filed: HttpResponse = { ...ok, body: film }

const stretches: [range: string, contentRange: string, start: number, length: number][] = [
  ['bytes=0-0', 'bytes 0-0/6000000000', 10, 1],
  ['bytes=5000000000-5000000009', 'bytes 5000000000-5000000009/6000000000', 5_000_000_010, 10],
  ['bytes=5000000000-', 'bytes 5000000000-5999999999/6000000000', 5_000_000_010, 1_000_000_000],
  ['bytes=-1', 'bytes 5999999999-5999999999/6000000000', 6_000_000_009, 1],
  ['bytes=1-99999999999999999999', 'bytes 1-5999999999/6000000000', 11, 5_999_999_999],
]
for (const [range, contentRange, start, length] of stretches) {
  test(`${range} of a body that is a range of a file becomes a smaller range of that file, without reading it`, () => {
    const { status, headers, body } = get({ range, 'if-range': '"7"' }, filed)
    assert.equal(status, 206)
    assert.equal(headers['Content-Range'], contentRange)
    assert.deepEqual(body, { ...film, start, length })
  })
}

test('a file is whole, or too short for the range, as any other body', () => {
  assert.equal(get({ range: 'bytes=0-1,3-4' }, filed).body, film)
  assert.equal(get({ range: 'bytes=0-1', 'if-range': '"6"' }, filed).body, film)
  const headers = { 'Content-Range': 'bytes */6000000000', 'Accept-Ranges': 'bytes' }
  assert.deepEqual(answerTo({ range: 'bytes=6000000000-' }, filed), { refused: headers })
  const empty = { ...filed, body: { ...film, length: 0 } }
  assert.ok('refused' in answerTo({ range: 'bytes=0-' }, empty))
  assert.equal(get({ range: 'bytes=-1' }, empty).status, 200)
})

test('HEAD gets the same response as GET', () => {
  const requests: Record<string, string>[] = [{}, { range: 'bytes=3-' }, { range: 'bytes=99-' }]
  for (const headers of requests) {
    for (const response of [ok, filed]) {
      assert.deepEqual(answerTo(headers, response, 'HEAD'), answerTo(headers, response))
    }
  }
})

test('an unsatisfiable range is refused with the header fields of the 416', () => {
  const headers = { 'Content-Range': 'bytes */16', 'Accept-Ranges': 'bytes' }
  assert.deepEqual(answerTo({ range: 'bytes=16-' }), { refused: headers })
})

test('a whole response keeps its body and gets Accept-Ranges', () => {
  const whole = { ...ok, headers: { ...ok.headers, 'Accept-Ranges': 'bytes' } }
  const wholes: Record<string, string>[] = [
    {},
    { range: 'bytes=0-1,3-4' },
    { range: 'lines=0-1' },
    { range: 'bytes=0-1', 'if-range': '"6"' },
    { range: 'bytes=99-', 'if-range': 'W/"7"' },
  ]
  for (const headers of wholes) assert.deepEqual(get(headers), whole)
})

test('If-Range is compared with the ETag and the Last-Modified of the response', () => {
  const status = (ifRange: string, headers = ok.headers) =>
    get({ range: 'bytes=0-1', 'if-range': ifRange }, { ...ok, headers }).status
  assert.deepEqual([status('"7"'), status('"6"'), status(same)], [206, 200, 206])
  assert.deepEqual([status('"7"', { ETag: 'W/"7"' }), status('"7"', {}), status(same, {})], [200, 200, 200])
})

test('responses other than a 200 to GET or HEAD are unchanged', () => {
  const range = { range: 'bytes=0-1' }
  assert.equal(get(range, ok, 'POST'), ok)
  const others: HttpResponse[] = [
    { ...ok, status: 404 },
    { ...ok, status: 201 },
    { ...ok, status: 304, body: undefined },
    { ...ok, body: undefined },
  ]
  for (const other of others) assert.equal(get(range, other), other)
})

test('the given response is not changed', () => {
  const before = structuredClone(ok)
  get({ range: 'bytes=0-1' })
  get({})
  assert.deepEqual(ok, before)
})

test('an interrupted download can be resumed anywhere', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), fc.nat({ max: 6 }), (body, more) => {
      const pieces: Uint8Array[] = []
      for (let first = 0; ; first += more + 1) {
        const answer = answerTo({ range: `bytes=${first}-${first + more}`, 'if-range': '"7"' }, { ...ok, body })
        if ('refused' in answer) break
        assert.equal(answer.status, 206)
        pieces.push(answer.body as Uint8Array)
      }
      assert.equal(Buffer.concat(pieces).toString(), body)
    }),
  )
})
