import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Condition, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { resolveCondition } from 'resourced-contract/model/resolve-condition'
import { studio } from 'resourced-contract/model/studio.fixture'
import { utc } from 'resourced-contract/model/time-zone'
import { countErrors, sentenceOf } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'
import { deepestCondition, mostExported as mostComparisons } from '../request/condition.ts'
import { readExportRequest } from './plan-export.ts'

const mostListed = queryLimits.values

const catalog = completeCatalog(studio() as unknown as InterfaceDeclaration)
const tasks = catalog.resources.get('tasks')!
const id = '019a8f3c-2b7e-7c41-9d52-6f0e8a1b4c3d'

/** The mistakes of a body, each with its code and place. */
function wrong(body: unknown): string[] {
  const read = readExportRequest(catalog, body)
  return 'issues' in read ? read.issues.map(({ code, pointer }) => `${code} ${pointer}`) : []
}

/** The mistakes of an export of tasks that is valid except for the given members. */
function wrongIn(more: object): string[] {
  return wrong({ collection: 'tasks', format: 'json', ...more })
}

/** A key as JSON has it: in a literal, `__proto__` would be no key. */
const keyed = (key: string, value: unknown): unknown => JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`)

describe('export requests', () => {
  test('a collection and a format are enough', () => {
    const read = readExportRequest(catalog, { collection: 'tasks', format: 'ndjson' })
    assert.deepEqual(read, { resource: tasks, where: {}, zone: utc, sort: [], fields: undefined, format: 'ndjson' })
  })

  test('sort and fields are texts as in an address, or arrays', () => {
    const expected = {
      resource: tasks,
      where: { status: 'open' },
      zone: utc,
      sort: [
        { field: 'created_at', descending: true },
        { field: 'title', descending: false },
      ],
      fields: ['status', 'title'],
      format: 'csv',
    }
    const body = { collection: 'tasks', filter: { status: 'open' }, format: 'csv' }
    const asTexts = { ...body, sort: '-created_at,title', fields: 'title,status' }
    const asArrays = { ...body, sort: ['-created_at', 'title'], fields: ['title', 'status'] }
    assert.deepEqual(readExportRequest(catalog, asTexts), expected)
    assert.deepEqual(readExportRequest(catalog, asArrays), expected)
  })

  test('a filter takes every readable field, and the whole condition language except the current record', () => {
    const filter = {
      and: [
        { estimate: { gte: 1, lt: 9, not: 3 } },
        { or: [{ title: { startsWith: 'a' } }, { labels: { null: true } }] },
      ],
      not: { status: { in: ['open', { caller: 'claims.team.status' }] } },
      assignee_id: { caller: 'id' },
      title: { in: [{ caller: 'roles' }] },
      due_on: { lte: '2026-11-21' },
      project_id: id,
      id: { not: id },
      created_at: { lt: '2026-11-21T08:30:00Z' },
      updated_at: { null: false },
    }
    assert.deepEqual(wrongIn({ filter }), [])
    assert.deepEqual(wrongIn({ filter: {} }), [])
  })
})

const cases: readonly (readonly [name: string, body: unknown, issues: readonly string[]])[] = [
  ['no object', ['tasks'], ['INVALID_TYPE ']],
  ['nothing', null, ['INVALID_TYPE ']],
  ['neither of what is needed', {}, ['REQUIRED /collection', 'REQUIRED /format']],
  ['null in their places', { collection: null, format: null }, ['REQUIRED /collection', 'REQUIRED /format']],
  ['no texts', { collection: 1, format: ['csv'] }, ['INVALID_TYPE /collection', 'INVALID_TYPE /format']],
  ['nothing known', { collection: 'taks', format: 'xlsx' }, ['NOT_IN_ENUM /collection', 'NOT_IN_ENUM /format']],
  ['names of prototypes', { collection: '__proto__', format: 'constructor' }, ['NOT_IN_ENUM /collection', 'NOT_IN_ENUM /format']],
  ['other members', { ...{ collection: 'tasks', format: 'csv', 'a/b~': 1 }, ...{ sorted: 1 } }, ['UNKNOWN_FIELD /a~1b~0', 'UNKNOWN_FIELD /sorted']],
  [
    'everything at once',
    { collection: 'tasks', filter: { titel: 'x' }, sort: 'estimate', fields: ['titel'], format: 'txt', to: 'me' },
    ['UNKNOWN_FIELD /to', 'NOT_IN_ENUM /format', 'UNKNOWN_FIELD /filter/titel', 'UNKNOWN_FIELD /sort', 'UNKNOWN_FIELD /fields/0'],
  ],
] // biome-ignore format: one row reads best

const filters: readonly (readonly [name: string, filter: unknown, issues: readonly string[]])[] = [
  ['no condition', 'open', ['INVALID_TYPE /filter']],
  ['null', null, ['INVALID_TYPE /filter']],
  ['a list', [{ status: 'open' }], ['INVALID_TYPE /filter']],
  ['an unknown field', { titel: 'x' }, ['UNKNOWN_FIELD /filter/titel']],
  ['a writeOnly field', { secret_note: { contains: 'x' } }, ['UNKNOWN_FIELD /filter/secret_note']],
  ['when records were deleted: exports hold live ones', { deleted_at: { null: true } }, ['UNKNOWN_FIELD /filter/deleted_at']],
  ['a name that every object has', { constructor: 'x' }, ['UNKNOWN_FIELD /filter/constructor']],
  ['the name of all prototypes', keyed('__proto__', { status: 'open' }), ['UNKNOWN_FIELD /filter/__proto__']],
  ['an operator that every object has', { title: { toString: 'x' } }, ['INVALID_OPERATOR /filter/title/toString']],
  ['a key of any kind', { 'a.b[0]/~"': 1 }, ['UNKNOWN_FIELD /filter/a.b[0]~1~0"']],
  ['a key longer than messages show', { ['k'.repeat(100)]: 1 }, [`UNKNOWN_FIELD /filter/${'k'.repeat(100)}`]],
  ['a value of a list', { status: { in: ['opne', 'open', 1] } }, ['NOT_IN_ENUM /filter/status/in/0', 'INVALID_TYPE /filter/status/in/2']],
  ['null, with which no comparison is true', { title: null, estimate: { gt: null }, due_on: { not: null }, status: { in: ['open', null] } }, ['INVALID_VALUE /filter/title', 'INVALID_VALUE /filter/estimate/gt', 'INVALID_VALUE /filter/due_on/not', 'INVALID_VALUE /filter/status/in/1']],
  ['an empty list', { status: { in: [] } }, ['TOO_FEW_ITEMS /filter/status/in']],
  ['no list', { or: { status: 'open' } }, ['INVALID_TYPE /filter/or']],
  ['deep inside', { or: [{ not: { and: [{}, { titel: 1 }] } }] }, ['UNKNOWN_FIELD /filter/or/0/not/and/1/titel']],
  ['an operator of addresses', { title: { starts_with: 'a' } }, ['INVALID_OPERATOR /filter/title/starts_with']],
  ['a text for a number', { estimate: { gt: '3' } }, ['INVALID_TYPE /filter/estimate/gt']],
  ['no day', { due_on: 'tomorrow' }, ['INVALID_FORMAT /filter/due_on']],
  ['a leap second, in which no record is stamped', { created_at: { gt: '2016-12-31T23:59:60Z' } }, ['INVALID_FORMAT /filter/created_at/gt']],
  ['no id', { project_id: { not: 'Ada' } }, ['INVALID_FORMAT /filter/project_id/not']],
  ['the record at hand', { title: { record: 'title' } }, ['INVALID_VALUE /filter/title/record']],
  ['nothing of the caller', { title: { caller: 'constructor' } }, ['INVALID_VALUE /filter/title/caller']],
  ['roles for one text', { title: { not: { caller: 'roles' } } }, ['INVALID_VALUE /filter/title/not/caller']],
] // biome-ignore format: one row reads best

const orders: readonly (readonly [name: string, more: object, issues: readonly string[]])[] = [
  ['a sort that no list has', { sort: '-estimate,id' }, ['UNKNOWN_FIELD /sort', 'UNKNOWN_FIELD /sort']],
  ['the same in an array', { sort: ['title', '-estimate', 1, '-title'] }, ['INVALID_TYPE /sort/2', 'UNKNOWN_FIELD /sort/1', 'INVALID_VALUE /sort/3']],
  ['a writeOnly field', { sort: ['secret_note'], fields: ['secret_note'] }, ['UNKNOWN_FIELD /sort/0', 'UNKNOWN_FIELD /fields/0']],
  ['names of prototypes', { sort: '__proto__', fields: 'constructor' }, ['UNKNOWN_FIELD /sort', 'UNKNOWN_FIELD /fields']],
  ['what lists nothing', { sort: [], fields: '' }, ['TOO_FEW_ITEMS /sort', 'TOO_FEW_ITEMS /fields']],
  ['what is no list', { sort: null, fields: { title: 1 } }, ['INVALID_TYPE /sort', 'INVALID_TYPE /fields']],
  ['a field twice', { fields: ['title', 'status', 'title'] }, ['INVALID_VALUE /fields/2']],
  ['several names in one item', { fields: ['title,status'] }, ['UNKNOWN_FIELD /fields/0']],
  ['when records were deleted', { fields: ['deleted_at'] }, ['UNKNOWN_FIELD /fields/0']],
  ['more than any resource has', { fields: 'a,'.repeat(200_000) }, ['TOO_MANY_ITEMS /fields']],
] // biome-ignore format: one row reads best

describe('every mistake is reported with its place', () => {
  for (const [name, body, issues] of cases) test(`the body: ${name}`, () => assert.deepEqual(wrong(body), issues))
  for (const [name, filter, issues] of filters) {
    test(`the filter: ${name}`, () => assert.deepEqual(wrongIn({ filter }), issues))
  }
  for (const [name, more, issues] of orders)
    test(`sort and fields: ${name}`, () => assert.deepEqual(wrongIn(more), issues))

  test('messages say what is wrong and what to write instead', () => {
    const filter = { status: { in: ['opne'] }, 'due on': 1 }
    const read = readExportRequest(catalog, { collection: 'taks', format: 'xls' })
    const other = readExportRequest(catalog, { collection: 'tasks', format: 'csv', filter })
    assert.ok('issues' in read && 'issues' in other)
    assert.deepEqual([...read.issues, ...other.issues].map(sentenceOf), [
      'collection must be the name of a collection. Did you mean "tasks"?',
      'format must be one of json, ndjson, csv.',
      'filter.status.in[0] is not one of the values of the field: "opne". Did you mean "open"?',
      'filter["due on"] is not a field of tasks. Did you mean "due_on"?',
    ]) // biome-ignore format: one list
  })

  test('so many errors are made, and all are counted', () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 1]))
    const read = readExportRequest(catalog, { ...many, collection: 'tasks', format: 'csv' })
    assert.ok('issues' in read)
    assert.deepEqual([read.issues.length, countErrors(read.issues)], [1_001, 50_000])
  })
})

describe('a filter has limits', () => {
  const open = { status: 'open' }
  const nested = (depth: number, wrap: (inner: object) => object): object =>
    depth === 1 ? open : wrap(nested(depth - 1, wrap))

  test('comparisons', () => {
    assert.deepEqual(wrongIn({ filter: { or: Array(mostComparisons).fill(open) } }), [])
    for (const each of [open, {}, 7, { estimate: { gt: 1, lt: 2 } }]) {
      const filter = { or: Array(mostComparisons + 1).fill(each) }
      assert.deepEqual(wrongIn({ filter }), ['TOO_MANY_ITEMS /filter'])
    }
  })

  test('values of all lists together', () => {
    const half = { in: Array(mostListed / 2).fill('open') }
    assert.deepEqual(wrongIn({ filter: { and: [{ status: half }, { status: half }] } }), [])
    assert.deepEqual(wrongIn({ filter: { and: [{ status: half }, { status: half }, { status: { in: ['open'] } }] } }), [
      'TOO_MANY_ITEMS /filter',
    ])
  })

  test('depth', () => {
    const negated = (inner: object) => ({ not: inner })
    const listed = (inner: object) => ({ and: [inner] })
    for (const wrap of [negated, listed]) assert.deepEqual(wrongIn({ filter: nested(deepestCondition, wrap) }), [])
    assert.deepEqual(wrongIn({ filter: nested(deepestCondition + 1, negated) }), [
      `TOO_DEEP /filter${'/not'.repeat(deepestCondition)}`,
    ])
    assert.deepEqual(wrongIn({ filter: nested(5_000, listed) }), [
      `TOO_DEEP /filter${'/and/0'.repeat(deepestCondition)}`,
    ])
  })

  test('an unknown collection does not hide other mistakes', () => {
    const filter = nested(deepestCondition + 1, (inner) => ({ not: inner }))
    assert.match(wrong({ collection: 'taks', format: 'csv', filter }).join(), /NOT_IN_ENUM \/collection,TOO_DEEP/)
  })
})

const text = fc.constantFrom(
  'open',
  'x',
  '',
  '2026-11-21',
  '2026-02-30',
  '2026-11-21T08:00:00Z',
  '2026-11-21T08:00:00.0005Z',
  '2016-12-31T23:59:60Z',
  id,
)
const scalar = fc.oneof(text, fc.constantFrom(0, 1.5, -3, 1e300, true, false, null))
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { caller: 'id' },
      { caller: 'roles' },
      { caller: 'sub' },
      { record: 'id' },
      { caller: 'id', record: 'id' },
      {},
    ),
  },
)
const operator = fc.constantFrom('gt', 'gte', 'lt', 'lte', 'not', 'contains', 'startsWith', 'null', 'in', 'eq')
const operand = fc.oneof(
  value,
  fc.array(value, { maxLength: 3 }),
  fc.dictionary(operator, fc.oneof(value, fc.array(value, { maxLength: 3 })), { maxKeys: 2 }),
)
const field = fc.constantFrom(
  'title',
  'status',
  'project_id',
  'due_on',
  'estimate',
  'labels',
  'secret_note',
  'id',
  'created_at',
  'deleted_at',
  'constructor',
)
const { condition } = fc.letrec<{ condition: unknown }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small' },
    { weight: 6, arbitrary: fc.dictionary(field, operand, { maxKeys: 1 }) },
    { weight: 1, arbitrary: fc.record({ and: fc.array(tie('condition'), { maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ or: fc.array(tie('condition'), { maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ not: tie('condition') }) },
  ),
})) // biome-ignore format: lists

test('every accepted filter can be resolved for every caller', () => {
  const caller = { id: 'ada', roles: ['open'], claims: {} }
  let accepted = 0
  fc.assert(
    fc.property(condition, (filter) => {
      const read = readExportRequest(catalog, { collection: 'tasks', format: 'json', filter })
      if ('issues' in read) return
      accepted++
      // What cannot be decided is never true, and neither is its opposite.
      const resolved = [read.where, { not: read.where }].map((where) =>
        resolveCondition(tasks, where as Condition, { caller, zone: read.zone }),
      )
      assert.notDeepEqual(
        resolved.map(({ kind }) => kind),
        ['never', 'never'],
      )
    }),
    { numRuns: 5_000 },
  )
  assert.ok(accepted > 500, `${accepted} were accepted`)
})

test('a claim that the caller lacks matches nothing', () => {
  const read = readExportRequest(catalog, {
    collection: 'tasks',
    format: 'json',
    filter: { title: { caller: 'claims.team' } },
  })
  assert.ok(!('issues' in read))
  const caller = { id: 'ada', roles: [], claims: {} }
  assert.deepEqual(resolveCondition(tasks, read.where, { caller }), { kind: 'never' })
})
