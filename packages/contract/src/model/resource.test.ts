import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from './catalog.ts'
import { operatorsFor, sortableNames } from './resource.ts'

const { resources } = completeCatalog({
  name: 'atlas',
  resources: {
    countries: { fields: {} },
    cities: {
      fields: {
        name: { type: 'string', filter: true, sort: true },
        founded_on: { type: 'string', format: 'date', filter: true },
        kind: { enum: ['town', 'city'] },
        country_id: { reference: 'countries' },
        population: { type: 'integer', filter: true },
        capital: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string' } },
        motto: { type: 'string' },
      },
    },
  },
})
const cities = resources.get('cities')!

test('each filter has the operators that make sense for it (QRY-2, QRY-7)', () => {
  const found = cities.filterables.map((filterable) => [filterable.name, operatorsFor(filterable).join(' ')])
  const order = 'gt gte lt lte not in'
  assert.deepEqual(Object.fromEntries(found), {
    id: 'not in',
    name: `${order} contains starts_with null`,
    founded_on: `${order} null`,
    kind: 'not in null',
    country_id: 'not in null',
    population: `${order} null`,
    capital: 'not in null',
    created_at: `${order} null`,
    updated_at: `${order} null`,
  })
})

test('declared sorts and the timestamps can be sorted by', () => {
  assert.deepEqual(sortableNames(cities), ['name', 'created_at', 'updated_at'])
})
