import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Fault, type Issue } from 'resourced-contract/spec/faults'
import { Type } from 'typebox'
import { readListQuery } from './list-query.ts'
import { readParameters } from './parameters.ts'
import { mostValues, readQueryBody } from './query-body.ts'

const catalog = completeCatalog(
  defineInterface({
    name: 'shop',
    resources: {
      products: {
        fields: {
          name: Type.Optional(Type.String({ filter: true, sort: true, search: true })),
          price: Type.Optional(Type.Number({ filter: true, sort: true })),
          stock: Type.Optional(Type.Integer({ filter: true })),
          sold: Type.Optional(Type.Boolean()),
        },
      },
    },
  }),
)
const products = catalog.resources.get('products')!
const list = (parameters: Parameters<typeof readListQuery>[1]) => readListQuery(products, parameters, catalog)

/** The parameters of a body that has nothing wrong in itself. */
function parametersOf(body: unknown) {
  const issues: Issue[] = []
  const parameters = readQueryBody(body, issues)
  assert.deepEqual(issues, [])
  return parameters
}

const same: readonly (readonly [body: object, query: string])[] = [
  [{}, ''],
  [{ name: 'Tea' }, 'name=Tea'],
  [{ name: ['Tea', 'Oil'] }, 'name=Tea&name=Oil'],
  [{ name: ['Tea, green', 'Oil'] }, 'name=Tea%2C+green&name=Oil'],
  [{ stock: 5, sold: true }, 'stock=5&sold=true'],
  [{ price: [1, 2.5, '3'] }, 'price=1&price=2.5&price=3'],
  [{ 'price[gte]': 5, 'price[lt]': 1e21 }, 'price[gte]=5&price[lt]=1000000000000000000000'],
  [{ 'stock[in]': [1, 2] }, 'stock[in]=1,2'],
  [{ 'name[in]': 'Tea,Oil' }, 'name[in]=Tea,Oil'],
  [{ 'name[in]': ['Tea, green', 'Oil'] }, 'name=Tea%2C+green&name=Oil'],
  [{ 'name[in]': ['Tea', 'Oil'], name: ['Oil', 'Salt'] }, 'name[in]=Tea,Oil&name=Oil&name=Salt'],
  [{ 'name[not]': ['Tea, green', 'Oil'] }, 'name[not]=Tea%2C+green&name[not]=Oil'],
  [{ 'name[contains]': 'a,b' }, 'name[contains]=a%2Cb'],
  [{ name: null }, 'name[null]=true'],
  [{ 'name[null]': false }, 'name[null]=false'],
  [{ sort: ['-price', 'name'], fields: ['name', 'price'] }, 'sort=-price,name&fields=name,price'],
  [{ sort: '-price,name', q: 'green tea' }, 'sort=-price,name&q=green+tea'],
  [{ page: 2, per_page: 50, include_deleted: true }, 'page=2&per_page=50&include_deleted=true'],
  [{ limit: '10', cursor: 'abc' }, 'limit=10&cursor=abc'],
  [{ 'created_at[gte]': '2026-11-21T08:00:00+01:00' }, 'created_at[gte]=2026-11-21T08:00:00%2B01:00'],
]
for (const [body, query] of same) {
  test(`MET-10: ${JSON.stringify(body)} means ?${query}`, () => {
    assert.deepEqual(list(parametersOf(body)), list(readParameters(query)))
  })
}

const wrongLater: readonly (readonly [body: object, ...errors: string[]])[] = [
  [{ limit: 0.5 }, 'INVALID_PAGE limit'],
  [{ limit: [1, 2] }, 'DUPLICATE_PARAMETER limit'],
  [{ stock: 1e21 }, 'INVALID_VALUE stock'],
  [{ 'price[in]': ['cheap'] }, 'INVALID_VALUE price[in]'],
  [{ 'sort[in]': ['name,price'] }, 'UNKNOWN_PARAMETER sort[in]'],
  [{ colour: null, constructor: 'x' }, 'UNKNOWN_PARAMETER colour[null]', 'UNKNOWN_PARAMETER constructor'],
]
for (const [body, ...errors] of wrongLater) {
  test(`QRY-8: ${JSON.stringify(body)} is refused as in a query string`, () => {
    assert.throws(
      () => list(parametersOf(body)),
      (error) => {
        assert.ok(error instanceof Fault)
        assert.equal(error.code, 'INVALID_QUERY')
        assert.deepEqual(
          error.details.errors?.map((each) => `${each.code} ${each.parameter}`),
          errors,
        )
        return true
      },
    )
  })
}

const refused: readonly (readonly [body: unknown, ...errors: string[]])[] = [
  ...[null, [], [{ name: 'Tea' }], 'name=Tea', 5, true].map((body) => [body, 'INVALID_TYPE  undefined'] as const),
  [{ price: { gte: 5 } }, 'INVALID_TYPE /price price'],
  [{ 'a/b~': {} }, 'INVALID_TYPE /a~1b~0 a/b~'],
  [{ name: ['Tea', null] }, 'INVALID_TYPE /name/1 name'],
  [{ name: [['Tea']] }, 'INVALID_TYPE /name/0 name'],
  [{ name: [], sort: [] }, 'TOO_FEW_ITEMS /name name', 'TOO_FEW_ITEMS /sort sort'],
  [{ sort: null, 'name[not]': null }, 'INVALID_TYPE /sort sort', 'INVALID_TYPE /name[not] name[not]'],
  [{ name: null, 'name[null]': false }, 'INVALID_VALUE /name name'],
  [{ 'name[in]': ['a,b'], name: 'c' }, 'INVALID_VALUE /name[in] name[in]'],
]
for (const [body, ...errors] of refused) {
  test(`MET-10: ${JSON.stringify(body)} is refused`, () => {
    const issues: Issue[] = []
    readQueryBody(body, issues)
    assert.deepEqual(
      issues.map((each) => `${each.code} ${each.pointer} ${each.parameter}`),
      errors,
    )
  })
}

test('valid parameters are kept beside wrong ones, so that one response can name every mistake', () => {
  const issues: Issue[] = []
  assert.deepEqual(readQueryBody({ price: {}, stock: 'many' }, issues), [{ name: 'stock', value: 'many' }])
  assert.equal(issues.length, 1)
})

const many = (count: number) => Array.from({ length: count }, (_, index) => index)
for (const [name, fitting, beyond] of [
  ['an array', { stock: many(mostValues) }, { stock: many(mostValues + 1) }],
  ['[in]', { 'stock[in]': many(mostValues) }, { 'stock[in]': many(mostValues + 1).join(',') }],
  [
    '[in] with commas',
    { 'name[in]': many(mostValues).map((each) => `${each},`) },
    { 'name[in]': ','.repeat(mostValues) },
  ],
  ['sort', { sort: many(mostValues).join(',') }, { sort: [many(mostValues + 1).join(',')] }],
  ['q', { q: many(mostValues).join(' ') }, { q: [many(mostValues + 1).join('.')] }],
  ['two parameters', { price: many(mostValues - 1), name: 'Tea' }, { name: 'Tea', price: many(mostValues) }],
] as const) {
  test(`${mostValues} values are the most, in ${name}`, () => {
    assert.ok(parametersOf(fitting).length > 0)
    const issues: Issue[] = []
    assert.deepEqual(readQueryBody(beyond, issues), [])
    assert.deepEqual(
      issues.map((each) => `${each.code} ${each.parameter}`),
      [`TOO_MANY_ITEMS ${Object.keys(beyond).at(-1)}`],
    )
  })
}

const soughtValue = (body: object) => {
  const { filter } = list(parametersOf(body))
  assert.ok(filter.kind === 'compare')
  return filter.value
}

test('property: every number keeps its value', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
  // The reader of bodies makes 0 of -0.
  fc.assert(fc.property(finite, (price) => assert.equal(soughtValue({ price }), price === 0 ? 0 : price)))
  fc.assert(fc.property(fc.maxSafeInteger(), (stock) => assert.equal(soughtValue({ stock }), stock === 0 ? 0 : stock)))
})

test('property: the texts of an array are the values of the filter, with or without [in]', () => {
  const texts = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', ',', ' ', '&', '=', '%', '+') }), {
    minLength: 1,
  })
  fc.assert(
    fc.property(texts, fc.constantFrom('name', 'name[in]'), (values, name) => {
      const { filter } = list(parametersOf({ [name]: values }))
      assert.deepEqual(filter.kind === 'in' ? filter.values : filter.kind === 'compare' && [filter.value], values)
    }),
  )
})
