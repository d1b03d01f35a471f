/** OpenAPI documents of 3.0 and 3.1, in JSON and YAML: which collections they describe, and how. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeCollection } from './describe.ts'
import { pathPrefixes, placed } from './open-server.ts'
import { candidatesIn, expandSchema, readDocument, resolve } from './openapi.ts'
import { namesInListSchema } from './response-names.ts'

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

const root = readDocument(yaml) ?? {}
const candidates = candidatesIn(root)
const described = (name: string) => {
  const candidate = candidates.find((each) => each.name === name)
  assert.ok(candidate !== undefined, name)
  return describeCollection(candidate, candidates).collection
}

test('paths with a path of single records below are collections', () => {
  assert.deepEqual(
    candidates.map(({ name }) => name),
    ['authors', 'books', 'shelves'],
  )
})

test('methods and paths show the operations of a collection', () => {
  assert.deepEqual(described('authors').operations, ['list', 'create', 'read', 'replace', 'delete'])
  assert.deepEqual(described('books').operations, ['list', 'create', 'read', 'update', 'delete', 'restore'])
  assert.deepEqual([described('books').deletion, described('authors').deletion], ['soft', 'hard'])
  assert.deepEqual([described('books').conditional, described('authors').conditional], [true, false])
  assert.deepEqual(described('authors').children, { books: 'books' })
})

test('parameters of paths and methods show pages, filters and orders', () => {
  const { pages, filters, sorts, marker } = described('authors')
  assert.deepEqual([pages, filters, sorts, marker], [['offset'], ['name'], ['born', 'name'], 'name'])
})

test('bodies are generated from joined schemas, without members that the server sets', () => {
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

test('names and types of members show references', () => {
  assert.deepEqual(described('books').references, { authorId: 'authors', shelf: 'shelves' })
})

test('the schema of a list shows where records, total and cursor are', () => {
  const { list = {} } = candidates[0] ?? {}
  assert.deepEqual(namesInListSchema(list), { items: '/items', total: '/meta/totalItems', next: '/meta/nextCursor' })
})

test('the servers of the document and the given address show the base', () => {
  assert.deepEqual(pathPrefixes({ root, url: 'http://127.0.0.1:3000/openapi.yaml' }, 'http://127.0.0.1:3000'), [
    '/api/v1',
    '',
  ])
  const at = placed(candidates, '/api/v1', 'http://127.0.0.1:3000')
  assert.deepEqual([at.base, at.candidates[0]?.path], ['http://127.0.0.1:3000/api/v1', '/authors'])
})

test('references in a circle end, and references without a target are empty', () => {
  const circle = {
    a: { $ref: '#/b' },
    b: { $ref: '#/a' },
    tree: { properties: { left: { $ref: '#/tree' }, right: { $ref: '#/tree' } } },
  }
  assert.deepEqual(resolve(circle, { $ref: '#/a' }), {})
  assert.deepEqual(resolve(circle, { $ref: 'https://example.com/x.json' }), {})
  const began = process.cpuUsage()
  expandSchema(circle, { $ref: '#/tree' })
  assert.ok(process.cpuUsage(began).user < 500_000)
})

test('other texts are no document', () => {
  assert.equal(readDocument('{"name":"x"}'), undefined)
  assert.equal(readDocument('<html>openapi: x</html>'), undefined)
  assert.equal(readDocument('{"swagger":"1.2","paths":{}}'), undefined)
})

test('Swagger 2.0 is read like OpenAPI: base path, definitions, bodies, forms, and slashes as written', () => {
  const swagger = readDocument(
    JSON.stringify({
      swagger: '2.0',
      basePath: '/api/v1',
      paths: {
        '/projects/': {
          get: { responses: { 200: { schema: { type: 'array', items: { $ref: '#/definitions/Project' } } } } },
          post: { parameters: [{ name: 'payload', in: 'body', schema: { $ref: '#/definitions/Project' } }] },
        },
        '/projects/{id}': {
          parameters: [{ name: 'id', in: 'path', required: true, type: 'integer' }],
          get: { responses: { 200: { schema: { $ref: '#/definitions/Project' } } } },
          put: {
            parameters: [{ name: 'name', in: 'formData', required: true, type: 'string', maxLength: 9 }],
          },
          delete: { responses: { 204: { description: 'Gone' } } },
        },
      },
      definitions: {
        Project: {
          required: ['name'],
          properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string', minLength: 2 } },
        },
      },
    }),
  )
  assert.ok(swagger !== undefined)
  assert.deepEqual(pathPrefixes({ root: swagger, url: 'http://a.example/swagger.json' }, 'http://a.example'), [
    '/api/v1',
    '',
  ])
  const [candidate, ...others] = candidatesIn(swagger)
  assert.ok(candidate !== undefined && others.length === 0)
  const { operations, example, required, path, slashes } = describeCollection(candidate, [candidate]).collection
  assert.deepEqual(operations, ['list', 'create', 'read', 'replace', 'delete'])
  assert.deepEqual([example, required, path, slashes], [{ name: 'Some name' }, ['name'], '/projects', ['collection']])
  assert.deepEqual(candidate.changing?.['properties'], { name: { type: 'string', maxLength: 9 } })
})

test('alternatives that are single values are an enumeration', () => {
  const anyOf = [{ const: 'title' }, { type: 'string', enum: ['-title'] }, { type: 'null' }]
  assert.deepEqual(expandSchema({}, { anyOf })['enum'], ['title', '-title'])
  assert.equal(expandSchema({}, { anyOf: [{ const: 'a' }, { type: 'object', properties: {} }] })['enum'], undefined)
})

test('bodies of any media type are read, and schemas that are defined inside others', () => {
  const inner = { type: 'string', enum: ['alpine', 'valley'] }
  const schema = {
    type: 'object',
    properties: { kind: { $ref: '#/components/schemas/Kind' }, name: { type: 'string' } },
    $defs: { Kind: inner },
  }
  const root = readDocument(
    JSON.stringify({
      openapi: '3.1.0',
      paths: {
        '/huts': {
          get: {
            responses: { '200': { content: { 'application/json': { schema: { type: 'array', items: schema } } } } },
          },
          post: { requestBody: { content: { '*/*': { schema } } } },
        },
        '/huts/{id}': { get: {}, delete: {} },
        // A search is no collection.
        '/huts/search/byName': {
          get: {
            parameters: [{ name: 'name', in: 'query', required: true, schema: { type: 'string' } }],
            responses: { '200': { content: { 'application/json': { schema: { type: 'array', items: schema } } } } },
          },
        },
      },
    }),
  )
  assert.ok(root !== undefined)
  const [candidate, ...others] = candidatesIn(root)
  assert.equal(others.length, 0)
  assert.deepEqual(candidate?.creation?.['properties'], { kind: inner, name: { type: 'string' } })
})

test('a document of JSON:API is described by the attributes and relationships of its resource', () => {
  const attributes = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  const harbor = { type: 'object', properties: { data: { properties: { type: { enum: ['harbors'] } } } } }
  const relationships = { properties: { harbor, visits: { properties: { data: { type: 'array' } } } } }
  const data = { type: 'object', properties: { type: {}, attributes, relationships } }
  const schema = { type: 'object', properties: { data } }
  const root = readDocument(
    JSON.stringify({
      openapi: '3.0.0',
      paths: {
        '/ships': {
          get: {},
          post: {
            requestBody: {
              content: {
                'application/vnd.api+json': { schema, example: { data: { type: 'ships', attributes: { name: 'A' } } } },
              },
            },
          },
        },
        '/ships/{id}': { get: {}, delete: {} },
      },
    }),
  )
  assert.ok(root !== undefined)
  const [{ creation, example } = {}] = candidatesIn(root)
  assert.deepEqual(creation?.['properties'], {
    name: { type: 'string' },
    harbor: { type: 'string', description: 'id of a harbors' },
  })
  assert.deepEqual([creation?.['required'], example], [['name'], { name: 'A' }])
})
