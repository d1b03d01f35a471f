import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Collection, Field, Schema } from '../interface/catalog.ts'
import { conditionOf, filterInput, filtersOf, listQuery, offeredOperators, operatorLabel } from './filters.ts'

function field(name: string, schema: Schema, filter: readonly string[], reference?: string): Field {
  return { name, schema, input: schema, required: false, filter, ...(reference && { reference }) }
}

const order = ['eq', 'gt', 'gte', 'lt', 'lte', 'not', 'in', 'null']
const fields = [
  field('status', { enum: ['open', 'done', null] }, ['eq', 'not', 'in', 'null']),
  field('count', { type: ['integer', 'null'] }, order),
  field('price', { type: ['string', 'null'], format: 'decimal' }, order),
  field('flag', { type: 'boolean' }, ['eq', 'not', 'in', 'null']),
  { ...field('title', { type: 'string' }, [...order, 'contains', 'starts_with']), sort: true },
  field('due_on', { type: 'string', format: 'date' }, order),
  field('created_at', { type: 'string', format: 'date-time' }, order),
  field('project_id', { type: 'string' }, ['eq', 'not', 'in', 'null'], 'projects'),
  field('labels', { type: 'array' }, ['has', 'has_any', 'null']),
  field('project.due_on', { type: 'string', format: 'date' }, order),
]
const collection = { field: new Map(fields.map((each) => [each.name, each])), fields } as unknown as Collection
const sortable = { ...collection, field: new Map(collection.field).set('title', { ...fields[4], sort: true } as Field) }
const named = (name: string) => collection.field.get(name) as Field

test('the filters of an address, with all values of a parameter together', () => {
  const view = new URLSearchParams(
    'status=open&sort=-title,status&status=done&due_on[lt]=2027-01-01&secret=1&count[contains]=1',
  )
  assert.deepEqual(filtersOf(collection, view), [
    { field: 'status', operator: 'eq', values: ['open', 'done'] },
    { field: 'due_on', operator: 'lt', values: ['2027-01-01'] },
  ])
  assert.equal(
    listQuery(sortable, view).toString(),
    new URLSearchParams('status=open&status=done&due_on[lt]=2027-01-01&sort=-title').toString(),
  )
})

test('each operator has an input that suits it', () => {
  const inputs = (name: string) =>
    offeredOperators(named(name)).map((operator) => `${operator}: ${filterInput(operator, named(name))}`)
  assert.deepEqual(inputs('status'), ['eq: choices', 'not: choices', 'null: yes-no'])
  assert.deepEqual(inputs('flag'), ['eq: yes-no', 'not: yes-no', 'null: yes-no'])
  assert.deepEqual(inputs('project_id'), ['eq: reference', 'not: reference', 'in: text', 'null: yes-no'])
  assert.equal(filterInput('gte', named('due_on')), 'date')
  assert.equal(filterInput('gte', named('created_at')), 'datetime-local')
  assert.equal(operatorLabel('gte', named('created_at')), 'is on or after')
})

test('the condition of an export means what the list shows', () => {
  const of = (query: string) => conditionOf(collection, new URLSearchParams(query))
  assert.equal(of('sort=title'), undefined)
  assert.deepEqual(of('status=open'), { status: 'open' })
  assert.deepEqual(of('status=open&status=done'), { status: { in: ['open', 'done'] } })
  assert.deepEqual(of('status[not]=open&status[not]=done'), {
    and: [{ status: { not: 'open' } }, { status: { not: 'done' } }],
  })
  assert.deepEqual(of('count[in]=1,2&price[gte]=1.50'), {
    and: [{ count: { in: [1, 2] } }, { price: { gte: '1.50' } }],
  })
  assert.deepEqual(of('title[starts_with]=a&title[starts_with]=b'), {
    or: [{ title: { startsWith: 'a' } }, { title: { startsWith: 'b' } }],
  })
  assert.deepEqual(of('labels[has_any]=a,b'), { labels: { hasAny: ['a', 'b'] } })
  assert.deepEqual(of('project.due_on[lt]=2027-01-01'), { project: { due_on: { lt: '2027-01-01' } } })
  assert.deepEqual(of('flag=true&due_on[null]=false'), { and: [{ flag: true }, { due_on: { null: false } }] })
})
