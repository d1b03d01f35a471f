/** What is read from OpenAPI documents: of 3.0 and 3.1, in JSON and YAML, however they say it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expanded, followed, readDocument } from './document.ts'
import { draftsOf } from './drafts.ts'
import { describe } from './members.ts'
import { namesOfList } from './names.ts'
import { beginnings, placed } from './places.ts'

const yaml = `
openapi: 3.0.3
info: { title: Library, version: '1' }
servers: [{ url: 'https://{host}/api/v1', variables: { host: { default: api.example.com } } }]
components:
  parameters:
    Limit: { name: limit, in: query, schema: { type: integer } }
  schemas:
    Base: { type: object, required: [name], properties: { name: { type: string, minLength: 2 } } }
    Author:
      allOf:
        - $ref: '#/components/schemas/Base'
        - type: object
          properties: { id: { type: integer, readOnly: true }, born: { type: integer, nullable: true } }
    Book:
      type: object
      required: [title, authorId]
      properties:
        id: { type: integer, readOnly: true }
        title: { type: string }
        authorId: { type: integer }
        genre: { type: string, enum: [novel, poems] }
        isbn: { type: string, pattern: '^\\d{9}[\\dX]$' }
        shelf: { type: string, format: uuid }
        createdAt: { type: string, format: date-time }
    Shelf: { type: object, properties: { id: { type: string, format: uuid }, label: { type: string } } }
paths:
  /authors:
    parameters: [{ $ref: '#/components/parameters/Limit' }]
    get:
      parameters:
        - { name: offset, in: query, schema: { type: integer } }
        - { name: name, in: query, schema: { type: string } }
        - { name: sort, in: query, schema: { type: string, enum: [name, -name, born] } }
      responses:
        '200':
          content:
            application/json:
              schema:
                type: object
                properties:
                  items: { type: array, items: { $ref: '#/components/schemas/Author' } }
                  meta: { type: object, properties: { totalItems: { type: integer }, nextCursor: { type: string } } }
    post: { requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Author' } } } } }
  /authors/{authorId}:
    get: { responses: { '200': { content: { application/json: { schema: { $ref: '#/components/schemas/Author' } } } } } }
    put: { requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Author' } } } } }
    delete: { responses: { '204': { description: Gone } } }
  /authors/{authorId}/books:
    get: { responses: { '200': { content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Book' } } } } } } }
  /books:
    get: { responses: { '200': { content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Book' } } } } } } }
    post: { requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } } }
  /books/{id}: { get: {}, patch: {}, delete: { responses: { '204': {}, '428': {} } } }
  /books/{id}/restore: { post: {} }
  /shelves:
    post: { requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Shelf' } } } } }
  /shelves/{id}:
    get: { responses: { '200': { content: { application/json: { schema: { $ref: '#/components/schemas/Shelf' } } } } } }
    delete: {}
  /health: { get: {} }
`

const root = readDocument(yaml, 'here') ?? {}
const drafts = draftsOf({ root })
const described = (name: string) => {
  const draft = drafts.find((each) => each.name === name)
  assert.ok(draft !== undefined, name)
  return describe(draft, drafts).collection
}

test('collections are paths beside paths of records', () => {
  assert.deepEqual(
    drafts.map(({ name }) => name),
    ['authors', 'books', 'shelves'],
  )
})

test('what can be done is read from methods and paths', () => {
  assert.deepEqual(described('authors').operations, ['list', 'create', 'read', 'replace', 'delete'])
  assert.deepEqual(described('books').operations, ['list', 'create', 'read', 'update', 'delete', 'restore'])
  assert.deepEqual([described('books').deletion, described('authors').deletion], ['soft', 'hard'])
  assert.deepEqual([described('books').conditional, described('authors').conditional], [true, false])
  assert.deepEqual(described('authors').children, { books: 'books' })
})

test('parameters of the path count as those of the method, and say pages, filters and orders', () => {
  const { pages, filters, sorts, marker } = described('authors')
  assert.deepEqual([pages, filters, sorts, marker], [['offset'], ['name'], ['born', 'name'], 'name'])
})

test('bodies are made from joined schemas, without what the server sets', () => {
  const { example, required, optional, id } = described('authors')
  assert.deepEqual(
    [Object.keys(example ?? {}), required, Object.keys(optional), id],
    [['name', 'born'], ['name'], ['born'], 'id'],
  )
  const book = described('books')
  assert.deepEqual(Object.keys(book.example ?? {}), ['title', 'authorId', 'genre', 'isbn', 'shelf'])
  assert.match(String(book.example?.['isbn']), /^\d{9}[\dX]$/)
  assert.deepEqual(book.unique, ['isbn'])
})

test('references are found by names and types', () => {
  assert.deepEqual(described('books').references, { authorId: 'authors', shelf: 'shelves' })
})

test('names are found in the schema of a list', () => {
  const { list = {} } = drafts[0] ?? {}
  assert.deepEqual(namesOfList(list), { items: '/items', total: '/meta/totalItems', next: '/meta/nextCursor' })
})

test('the base is where the servers of the document say, as far as it is where was asked', () => {
  assert.deepEqual(beginnings({ root, url: 'http://127.0.0.1:3000/openapi.yaml' }, 'http://127.0.0.1:3000'), [
    '/api/v1',
    '',
  ])
  const at = placed(drafts, '/api/v1', 'http://127.0.0.1:3000')
  assert.deepEqual([at.base, at.drafts[0]?.path], ['http://127.0.0.1:3000/api/v1', '/authors'])
})

test('circles end, and references that lead nowhere are empty', () => {
  const circle = {
    a: { $ref: '#/b' },
    b: { $ref: '#/a' },
    tree: { properties: { left: { $ref: '#/tree' }, right: { $ref: '#/tree' } } },
  }
  assert.deepEqual(followed(circle, { $ref: '#/a' }), {})
  assert.deepEqual(followed(circle, { $ref: 'https://example.com/x.json' }), {})
  const began = performance.now()
  expanded(circle, { $ref: '#/tree' })
  assert.ok(performance.now() - began < 500)
})

test('what is no document is none, and Swagger 2 says so', () => {
  assert.equal(readDocument('{"name":"x"}', 'here'), undefined)
  assert.equal(readDocument('<html>openapi: x</html>', 'here'), undefined)
  assert.throws(() => readDocument('{"swagger":"2.0","paths":{}}', 'here'), /Swagger 2\.0/)
})
