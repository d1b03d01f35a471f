import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
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

const namesFor = (collections: readonly string[]) =>
  namesOf(
    completeCatalog({
      name: 'clash',
      resources: Object.fromEntries(collections.map((name) => [name, { fields: {} }])),
    }),
  )

test('a collection keeps its name where others call their schemas so', () => {
  const names = namesFor(['issues', 'problems', 'pages', 'deletions', 'json-patches'])
  const found = [...names.values()].map(({ one }) => one)
  for (const one of ['Issue', 'Problem', 'Page', 'Deletion', 'JsonPatch']) assert.ok(found.includes(one), one)
})

test('no collection gets the name of a shared schema, in upper or lower case', () => {
  const names = namesFor(['api-problems', 'api-problem-errors', 'api-json-patches', 'api-paginations'])
  const ours = Object.keys(sharedSchemas).map((name) => name.toLowerCase())
  for (const { one } of names.values()) assert.ok(!ours.includes(one.toLowerCase()), one)
  assert.equal(names.get('api-json-patches')?.one, 'ApiJsonPatches')
})

test('no collection gets the name of a type that generated clients use', () => {
  const names = namesFor(['records', 'arrays', 'promises', 'dates', 'responses'])
  assert.deepEqual(
    [...names.values()].slice(2).map(({ one }) => one),
    ['Records', 'Arrays', 'Promises', 'Dates', 'Responses'],
  )
})

test('a name that is taken is replaced by the plural', () => {
  const resources = Object.fromEntries(['tasks', 'task-pages', 'api-problems'].map((name) => [name, { fields: {} }]))
  const names = namesOf(completeCatalog({ name: 'clash', resources }))
  assert.deepEqual(Object.fromEntries(names), {
    jobs: { one: 'Job', many: 'Jobs' },
    'api-keys': { one: 'ApiKey', many: 'ApiKeys' },
    tasks: { one: 'Task', many: 'Tasks' },
    'task-pages': { one: 'TaskPages', many: 'TaskPages' },
    'api-problems': { one: 'ApiProblems', many: 'ApiProblems' },
  })
})
