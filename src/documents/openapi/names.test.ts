import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from '../../model/catalog.ts'
import { sharedSchemas } from './components.ts'
import { namesOf, singularOf } from './schemas.ts'

const singulars = {
  tasks: 'task',
  cities: 'city',
  addresses: 'address',
  boxes: 'box',
  branches: 'branch',
  courses: 'course',
  houses: 'house',
  people: 'person',
  'line-items': 'line-item',
  analyses: 'analysis',
  news: 'news',
  caches: 'cache',
  data: 'data',
}
for (const [plural, singular] of Object.entries(singulars)) {
  test(`one of the ${plural} is a ${singular}`, () => assert.equal(singularOf(plural), singular))
}

test('no collection gets the name of a shared schema', () => {
  const collections = ['problems', 'issues', 'json-patches', 'page-by-numbers', 'healths', 'accepteds', 'deletions']
  const resources = Object.fromEntries(collections.map((name) => [name, { fields: {} }]))
  const names = namesOf(completeCatalog({ name: 'clash', resources }))
  const ours = Object.keys(sharedSchemas)
  assert.deepEqual(
    [...names.values()].filter(({ one }) => ours.includes(one)),
    [],
  )
  assert.equal(names.get('json-patches')?.one, 'JsonPatches')
})

test('a name that is taken is replaced by the plural', () => {
  const resources = Object.fromEntries(['tasks', 'task-pages', 'problems'].map((name) => [name, { fields: {} }]))
  const names = namesOf(completeCatalog({ name: 'clash', resources }))
  assert.deepEqual(Object.fromEntries(names), {
    jobs: { one: 'Job', many: 'Jobs' },
    'api-keys': { one: 'ApiKey', many: 'ApiKeys' },
    tasks: { one: 'Task', many: 'Tasks' },
    'task-pages': { one: 'TaskPages', many: 'TaskPages' },
    problems: { one: 'Problems', many: 'Problems' },
  })
})
