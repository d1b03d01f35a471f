import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { limitDefaults } from 'resourced-contract/model/limits'
import { sentenceOf } from 'resourced-contract/spec/faults'
import { applyPatch, createPatch, type Operation, Pointer } from 'rfc6902'
import { jsonPatch, mostCopied } from './json-patch.ts'

const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const remove = (path: string) => ({ op: 'remove', path })
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value })
const move = (from: string, path: string) => ({ op: 'move', from, path })
const copy = (from: string, path: string) => ({ op: 'copy', from, path })
const expect = (path: string, value: unknown) => ({ op: 'test', path, value })

/** A record as it is represented. */
const task = () => ({
  title: 'Brew',
  note: null,
  labels: ['hot', 'green'],
  extra: { 'a/b': { '~': 1 }, constructor: { name: 'Lotus' } },
})

const applied: readonly (readonly [name: string, patch: object[], changes: object])[] = [
  ['nothing', [], {}],
  ['add sets what is there', [add('/title', 'Pour')], { title: 'Pour' }],
  ['add makes a member', [add('/due_on', '2026-11-21')], { due_on: '2026-11-21' }],
  ['add puts before an item', [add('/labels/1', 'new')], { labels: ['hot', 'new', 'green'] }],
  ['add at the end, by index', [add('/labels/2', 'new')], { labels: ['hot', 'green', 'new'] }],
  ['add at the end, by -', [add('/labels/-', ['new'])], { labels: ['hot', 'green', ['new']] }],
  ['add takes null', [add('/title', null)], { title: null }],
  ['remove takes an item', [remove('/labels/0')], { labels: ['green'] }],
  ['remove takes a member', [remove('/extra/a~1b')], { extra: { constructor: { name: 'Lotus' } } }],
  ['replace sets', [replace('/labels/1', 'black')], { labels: ['hot', 'black'] }],
  ['replace of null', [replace('/note', 'Fresh')], { note: 'Fresh' }],
  ['a step decodes ~1 before ~0', [add('/x', { '~1': 1 }), replace('/x/~01', 2)], { x: { '~1': 2 } }],
  ['a member named by the empty text', [add('/', 1), copy('/', '/two')], { '': 1, two: 1 }],
  ['a member named like an index, or -', [add('/extra', {}), add('/extra/-', 1), add('/extra/01', 2)], {
    extra: { '-': 1, '01': 2 },
  }],
  ['move renames', [move('/title', '/name'), add('/title', 'Pour')], { title: 'Pour', name: 'Brew' }],
  ['move within an array counts after the removal', [move('/labels/0', '/labels/1')], { labels: ['green', 'hot'] }],
  ['move onto itself', [move('/title', '/title'), move('', '')], {}],
  ['move to a name that only begins alike', [move('/title', '/titles'), move('/titles', '/title')], {}],
  ['copy is another value', [copy('/labels', '/tags'), add('/tags/-', 'x')], { tags: ['hot', 'green', 'x'] }],
  ['constructor is a key like any other', [
    expect('/extra/constructor/name', 'Lotus'), replace('/extra/constructor/name', 'Brabham'), remove('/extra/a~1b'),
  ], { extra: { constructor: { name: 'Brabham' } } }],
  ['test of a number by its value', [expect('/extra/a~1b/~0', 1.0)], {}],
  ['test in any order of members', [
    add('/x', { a: 1, b: [0, { c: null }] }), expect('/x', { b: [-0, { c: null }], a: 1 }), remove('/x'),
  ], {}],
  ['members that an operation does not define', [{ ...remove('/labels/0'), value: 1, from: 5, comment: '' }], {
    labels: ['green'],
  }],
] // biome-ignore format: one row a case
for (const [name, patch, changes] of applied) {
  test(`RFC 6902: ${name}`, () => {
    assert.deepEqual(jsonPatch(task(), patch), { kind: 'patched', value: { ...task(), ...changes } })
  })
}

test('RFC 6902 section 4.1: the empty pointer is the whole record', () => {
  assert.deepEqual(jsonPatch(task(), [replace('', { a: 1 }), copy('', '/b'), expect('', { b: { a: 1 }, a: 1 })]), {
    kind: 'patched',
    value: { a: 1, b: { a: 1 } },
  })
  assert.deepEqual(jsonPatch(task(), [move('/labels', '')]), { kind: 'patched', value: ['hot', 'green'] })
})

const malformed: readonly (readonly [patch: unknown, ...errors: string[]])[] = [
  ...[null, {}, remove('/title'), 'remove', 5].map((patch) => [patch, 'INVALID_TYPE '] as const),
  [[null, [], 'remove'], 'INVALID_TYPE /0', 'INVALID_TYPE /1', 'INVALID_TYPE /2'],
  [[{}], 'REQUIRED /0/op', 'REQUIRED /0/path'],
  [[{ op: 'set', path: '/title' }], 'NOT_IN_ENUM /0/op'],
  [[{ op: ['add'], path: '/title' }, { op: 'toString', path: '' }], 'NOT_IN_ENUM /0/op', 'NOT_IN_ENUM /1/op'],
  [[{ op: 'add', path: '/a' }, { op: 'replace', path: '/a' }, { op: 'test', path: '/missing' }],
    'REQUIRED /0/value', 'REQUIRED /1/value', 'REQUIRED /2/value'],
  [[{ op: 'move', path: '/a' }, { op: 'copy', path: '/a', from: 5 }], 'REQUIRED /0/from', 'INVALID_TYPE /1/from'],
  [[remove('title'), add('/a~2', 1), add('/~', 1), move('~', '/a')],
    'INVALID_FORMAT /0/path', 'INVALID_FORMAT /1/path', 'INVALID_FORMAT /2/path', 'INVALID_FORMAT /3/from'],
  [[add('/__proto__/x', 1), add('/extra/__proto__', {}), copy('/__proto__', '/a')],
    'UNSAFE_KEY /0/path', 'UNSAFE_KEY /1/path', 'UNSAFE_KEY /2/from'],
  [[remove('')], 'INVALID_VALUE /0/path'],
  [[move('/extra', '/extra/a~1b'), move('', '/all')], 'INVALID_VALUE /0/path', 'INVALID_VALUE /1/path'],
  [[expect('/title', 'Pour'), { op: 'remove' }], 'REQUIRED /1/path'],
  [Array(limitDefaults.patchOperations + 1).fill(expect('/title', 'Brew')), 'TOO_MANY_ITEMS '],
] // biome-ignore format: one row a case
for (const [patch, ...errors] of malformed) {
  test(`MET-4: not a JSON Patch: ${JSON.stringify(patch).slice(0, 80)}`, () => {
    const outcome = jsonPatch(task(), patch)
    assert.ok(outcome.kind === 'invalid')
    assert.deepEqual(
      outcome.issues.map((each) => `${each.code} ${each.pointer}`),
      errors,
    )
  })
}

/** The kind of a refusal, and its issues in words. */
function refusal(target: unknown, patch: unknown): string[] {
  const outcome = jsonPatch(target, patch)
  if (outcome.kind === 'patched') return []
  return [outcome.kind, ...outcome.issues.map((each) => `${each.code} ${each.pointer} ${sentenceOf(each)}`)]
}

const inapplicable: readonly (readonly [operation: object, pointer: string, words: string])[] = [
  [remove('/due_on'), '/path', 'the record has no "due_on"'],
  [replace('/due_on', 1), '/path', 'the record has no "due_on"'],
  [replace('/toString', 1), '/path', 'the record has no "toString"'],
  [copy('/constructor', '/x'), '/from', 'the record has no "constructor"'],
  [add('/extra/x/y', 1), '/path', 'the value at "/extra" has no "x"'],
  [add('/title/0', 1), '/path', 'the value at "/title" has no "0"'],
  [copy('/title/length', '/x'), '/from', 'the value at "/title" has no "length"'],
  [add('/note/x', 1), '/path', 'the value at "/note" has no "x"'],
  ...['-', '2', '01', '-1', '1.0', ' 1', '1e0', 'length', ''].flatMap((step) => {
    const words = `the value at "/labels" has no "${step}"`
    const path = `/labels/${step}`
    return [
      [remove(path), '/path', words] as const,
      [replace(path, 1), '/path', words] as const,
      [copy(path, '/x'), '/from', words] as const,
    ]
  }),
  ...['3', '01', '-1', '99999999999999999999', 'length'].flatMap((step) => {
    const words = `the value at "/labels" has no "${step}"`
    return [add(`/labels/${step}`, 1), copy('/title', `/labels/${step}`), move('/title', `/labels/${step}`)].map(
      (operation) => [operation, '/path', words] as const,
    )
  }),
  [move('/labels/0', '/labels/2'), '/path', 'the value at "/labels" has no "2"'],
]
for (const [operation, pointer, words] of inapplicable) {
  test(`MET-4: ${JSON.stringify(operation)} cannot be applied: 400, and the record stays`, () => {
    const target = task()
    const { op } = operation as { op: string }
    const said = `Operation 1 (${op}): ${pointer.slice(1)} leads nowhere: ${words}.`
    assert.deepEqual(refusal(target, [replace('/note', 'x'), operation, remove('/never')]), [
      'invalid',
      `PATH_NOT_FOUND /1${pointer} ${said}`,
    ])
    assert.deepEqual(target, task())
  })
}

for (const operation of [
  expect('/title', 'brew'),
  expect('/title', null),
  expect('/due_on', null),
  expect('/labels/2', 'hot'),
  expect('/labels/-', 'green'),
  expect('/labels/length', 2),
  expect('/labels', ['green', 'hot']),
  expect('/labels', { 0: 'hot', 1: 'green' }),
  expect('/extra/a~1b/~0', '1'),
  expect('/extra/a~1b/~0', true),
  expect('/extra/constructor', { name: 'Lotus', more: 1 }),
  expect('/extra/constructor', { toString: 'Lotus' }),
  expect('/extra/constructor', []),
]) {
  test(`MET-4: a failed test is a conflict, whatever operations precede it: ${JSON.stringify(operation)}`, () => {
    const target = task()
    const said = `Operation 1 (test) expects another value at ${JSON.stringify(operation.path)}.`
    assert.deepEqual(refusal(target, [replace('/note', 'x'), operation, remove('/never')]), [
      'conflict',
      `CONFLICT /1 ${said}`,
    ])
    assert.deepEqual(target, task())
  })
}

test('values of the patch are copied: a later operation does not change the patch', () => {
  const patch = [add('/tags', ['a']), add('/tags/-', 'b'), replace('/extra', { x: {} }), add('/extra/x/y', 1)]
  const before = structuredClone(patch)
  jsonPatch(task(), patch)
  assert.deepEqual(patch, before)
})

test('copies that double the record again and again are refused once they are as large as a body', () => {
  const doubling = [add('/big', ['x'.repeat(100)]), ...Array.from({ length: 900 }, () => copy('/big', '/big/-'))]
  const outcome = jsonPatch({}, doubling)
  assert.ok(outcome.kind === 'invalid')
  assert.equal(outcome.issues[0]?.code, 'TOO_LARGE')
})

test('all copies together may have 1 MiB of JSON text, counted in bytes', () => {
  const text = '"é'.repeat(1000) // 4,002 bytes as JSON text
  const copies = Array.from({ length: Math.floor(mostCopied / 4_002) }, () => copy('/text', '/other'))
  assert.equal(jsonPatch({ text }, copies).kind, 'patched')
  const said = `all copies together may have ${mostCopied} bytes and 20000 members`
  assert.deepEqual(refusal({ text }, [...copies, copy('/text', '/other')]), [
    'invalid',
    `TOO_LARGE /${copies.length} Operation ${copies.length} (copy) copies too much: ${said}.`,
  ])
})

const codes = (target: unknown, patch: unknown) => {
  const outcome = jsonPatch(target, patch)
  return outcome.kind === 'patched' ? [] : outcome.issues.map((each) => `${each.code} ${each.pointer}`)
}

test('LIM-3: no patch nests a record deeper than a body may be nested, except between its operations', () => {
  const nest = (levels: number) => Array.from({ length: levels }, (_, index) => add('/a'.repeat(index + 1), {}))
  assert.deepEqual(codes({}, nest(31)), [])
  assert.deepEqual(codes({}, nest(32)), ['TOO_DEEP '])
  assert.deepEqual(codes({}, nest(limitDefaults.patchOperations)), ['TOO_DEEP '])
  assert.deepEqual(codes({}, [...nest(32), remove('/a')]), [])
  assert.deepEqual(codes({}, [...nest(32), copy('', '/b'), remove('/a')]), ['TOO_DEEP /32/from'])
})

test('moves that would pile up thousands of levels are refused without overflowing', () => {
  const chain = (levels: number): unknown => (levels === 0 ? {} : { x: chain(levels - 1) })
  const into = '/x'.repeat(27)
  const pile = Array.from({ length: 300 }, () => [
    add('/b', chain(26)), move('/a', `/b${into}`), move('/b', '/a'),
  ]).flat() // biome-ignore format: one round a row
  assert.deepEqual(codes({ a: {} }, pile), ['TOO_DEEP '])
  assert.deepEqual(codes({ a: {} }, [...pile, copy('/a', '/c')]), ['TOO_DEEP /900/from'])
  assert.deepEqual(codes({ a: {} }, [...pile, expect('/a', {})]), ['CONFLICT /900'])
})

test('a thousand operations on a record as large as a body take no more than a second of processor time', () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 0]))
  const target = { wide, long: Array(500_000).fill(0) }
  const worst = [
    add('/long/0', 1), add('/wide/k', 1), remove('/wide/k0'), add('/wide/k0', 1), remove('/long/0'), copy('/wide/k', '/wide/l'),
    move('/wide', '/other'), move('/other', '/wide'),
  ] // biome-ignore format: a list
  const started = process.cpuUsage()
  assert.deepEqual(
    codes(
      target,
      Array(limitDefaults.patchOperations / worst.length)
        .fill(worst)
        .flat(),
    ),
    [],
  )
  assert.ok(process.cpuUsage(started).user < 1_000_000)
})

const name = fc.constantFrom('a', 'b', 'constructor', 'x/y', 'm~n', '~1', '0', '-', '', 'é')
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, 0, 1, 'a', ''), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

test('property: the patch that rfc6902 creates from two values turns one into the other', () => {
  fc.assert(
    fc.property(json.map(plain), json.map(plain), (from, to) => {
      const patch = createPatch(from, to)
      assert.deepEqual(jsonPatch(from, patch), { kind: 'patched', value: to })
      assert.deepEqual(jsonPatch(from, [...patch, expect('', to)]).kind, 'patched')
    }),
    { numRuns: 500 },
  )
})

const pointer = fc
  .array(fc.constantFrom('a', 'b', '0', '1', '-', 'x~1y'), { maxLength: 3 })
  .map((steps) => steps.map((step) => `/${step}`).join(''))
const operation = fc.oneof(
  fc
    .tuple(pointer, json)
    .chain(([path, value]) => fc.constantFrom(add(path, value), replace(path, value), expect(path, value))),
  pointer.map(remove),
  fc.tuple(pointer, pointer).chain(([from, path]) => fc.constantFrom(move(from, path), copy(from, path))),
)

/** A move as what it means (RFC 6902 section 4.4): rfc6902 finds its target before it removes the value. */
function stepsOf(target: object, each: Operation): Operation[] {
  if (each.op !== 'move') return [each]
  const value: unknown = Pointer.fromJSON(each.from).get(target)
  return [remove(each.from), add(each.path, value)] as Operation[]
}

test('property: an operation that we apply does what rfc6902 does, and neither argument changes', () => {
  const base = fc.record({ a: json, b: fc.array(json, { minLength: 1, maxLength: 3 }), 'x/y': json }).map(plain)
  let compared = 0
  fc.assert(
    fc.property(base, operation.map(plain), (target, each) => {
      const before = plain([target, each])
      const outcome = jsonPatch(target, [each])
      assert.deepEqual([target, each], before)
      // It cannot set the whole document.
      if (outcome.kind !== 'patched' || each.path === '') return
      const theirs = plain(target)
      for (const one of stepsOf(target, each)) assert.deepEqual(applyPatch(theirs, [one]), [null])
      assert.deepEqual(outcome.value, theirs)
      compared++
    }),
    { numRuns: 2000 },
  )
  assert.ok(compared > 100, `${compared} compared`)
})
