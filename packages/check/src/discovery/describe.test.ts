import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeCollection } from './describe.ts'
import { type Candidate, candidatesIn } from './openapi.ts'

const parameter = (name: string) => ({ in: 'query', name, schema: { type: 'string' } })

/** Operations of a collection whose DELETE takes a parameter. */
function operationsBy(name: string): readonly string[] {
  const book = { type: 'object', properties: { title: { type: 'string' }, year: { type: 'integer' } } }
  const content = { 'application/json': { schema: book } }
  const root = {
    openapi: '3.1.0',
    paths: {
      '/books': {
        get: { parameters: [parameter('title'), parameter('year')], responses: { 200: {} } },
        post: { requestBody: { content }, responses: { 201: { content } } },
        delete: { parameters: [parameter(name)], responses: { 200: {} } },
      },
      '/books/{id}': { get: { responses: { 200: { content } } }, delete: { responses: { 204: {} } } },
    },
  }
  const candidates = candidatesIn(root)
  return candidates.flatMap((each) => describeCollection(each, candidates).collection.operations)
}

test("deletion by filter is used only with the filter that finds the checker's own records", () => {
  assert.ok(operationsBy('title').includes('delete-by-filter'))
  for (const name of ['confirm', 'force', 'year']) assert.ok(!operationsBy(name).includes('delete-by-filter'), name)
})

test('the size of pages by number has the name that the document gives it', () => {
  const sizes = (...names: readonly string[]) => {
    const get = { parameters: names.map(parameter), responses: { 200: {} } }
    const candidates = candidatesIn({ openapi: '3.1.0', paths: { '/books': { get }, '/books/{id}': { get } } })
    return candidates.map((each) => describeCollection(each, candidates).collection.query?.per_page)
  }
  assert.deepEqual(sizes('page', 'limit'), ['limit'])
  assert.deepEqual(sizes('page', 'per_page', 'limit'), [undefined])
  assert.deepEqual(sizes('offset', 'limit'), [undefined])
})

test('a boolean that may be left out is sent as true: most are false if they are left out', () => {
  const sent = { type: 'object', properties: { title: { type: 'string' }, sold: { type: 'boolean' } } }
  const content = { 'application/json': { schema: sent } }
  const post = { requestBody: { content }, responses: { 201: { content } } }
  const candidates = candidatesIn({ openapi: '3.1.0', paths: { '/books': { post }, '/books/{id}': {} } })
  assert.equal(describeCollection(candidates[0] as Candidate, candidates).collection.optional['sold'], true)
})

test('an optional member has a value that differs from that of a record without it', () => {
  const properties = { name: { type: 'string' }, tags: { type: 'array', items: {} }, born: { type: 'string' } }
  const content = { 'application/json': { schema: { type: 'object', properties, required: ['name'] } } }
  const root = {
    openapi: '3.1.0',
    paths: { '/authors': { post: { requestBody: { content }, responses: { 201: { content } } } }, '/authors/{id}': {} },
  }
  const candidates = candidatesIn(root)
  const optional = candidates.flatMap((each) => Object.keys(describeCollection(each, candidates).collection.optional))
  assert.deepEqual(optional, ['born'])
})

test('a text refers to the collection of its name if one of the listed records has it as its identifier', () => {
  const candidate = (name: string, shown: Readonly<Record<string, string>>): Candidate => ({
    ...(candidatesIn({
      openapi: '3.1.0',
      paths: { [`/${name}`]: { get: {}, post: {} }, [`/${name}/{id}`]: { get: {} } },
    })[0] as Candidate),
    creation: { type: 'object', properties: { venue: { type: 'string' } } },
    listed: {
      exchange: { step: '', asked: { method: 'GET', url: '', fields: [] }, milliseconds: 0 },
      first: shown,
      items: [shown],
    },
  })
  const venues = candidate('venues', { id: 'q7x' })
  const referencesOf = (venue: string) =>
    describeCollection(candidate('concerts', { id: 'k2m', venue }), [venues]).collection.references
  assert.deepEqual(referencesOf('q7x'), { venue: 'venues' })
  assert.deepEqual(referencesOf('Old Harbour'), {})
})
