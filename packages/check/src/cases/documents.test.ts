/** Answers are compared with documents of others, too: of 3.0, in YAML, with servers and references of all kinds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '../client/exchange.ts'
import { documentedPath, mismatchWith, parseDocument, unresolvedReferences } from './documents.ts'

const yaml = `
openapi: 3.0.3
servers:
  - url: 'https://{region}.example.com/api/v2/'
    variables: { region: { default: eu } }
paths:
  /cities:
    get:
      responses:
        '200': { $ref: '#/components/responses/Cities' }
        4XX: { description: Refused. }
  /cities/{id}:
    get: { responses: { default: { description: Anything. } } }
  /cities/capital:
    get: { responses: { '200': { description: One. } } }
components:
  responses:
    Cities:
      description: All.
      content:
        application/json; charset=utf-8:
          schema: { type: array, items: { $ref: '#/components/schemas/City' } }
  schemas:
    City:
      type: object
      required: [name]
      properties:
        name: { type: string }
        mayor: { type: string, nullable: true }
        area: { type: number, minimum: 0, exclusiveMinimum: true }
        country: { nullable: true, allOf: [{ $ref: '#/components/schemas/Country' }] }
    Country: { type: object, properties: { code: { type: string, format: unheard-of } } }
`

function exchange(url: string, status: number, body: string, type = 'application/json', method = 'GET'): Exchange {
  const answer = { status, version: '1.1', fields: [['Content-Type', type] as const], body }
  return { step: 'one', asked: { method, url, fields: [] }, answer, milliseconds: 1 }
}

function documentOf(text: string) {
  const described = parseDocument(exchange('https://eu.example.com/openapi.yaml', 200, text, 'application/yaml'))
  assert.ok(described)
  return described
}

const cities = 'https://eu.example.com/api/v2/cities'

function misfit({ asked, answer }: Exchange, text = yaml): string | undefined {
  assert.ok(answer)
  return mismatchWith(documentOf(text), asked, answer, '')?.message
}

for (const [what, body, expected] of [
  ['what fits', [{ name: 'Bern', mayor: null, area: 51.6, country: { code: 'CH' } }], undefined],
  ['null where 3.0 says nullable, beside a reference', [{ name: 'Bern', country: null }], undefined],
  ['null where it is not', [{ name: null }], '/0/name must be string'],
  ['an exclusive bound of 3.0', [{ name: 'Bern', area: 0 }], '/0/area must be > 0'],
  ['a member that is missing', [{}], "/0 must have required property 'name'"],
  ['another type', {}, 'the body must be array'],
] as const) {
  test(`DOC-1: ${what}`, () => {
    assert.equal(misfit(exchange(`${cities}?page=2`, 200, JSON.stringify(body))), expected)
  })
}

test('DOC-1: responses match by status, by class, or as the default', () => {
  assert.equal(misfit(exchange(cities, 404, '')), undefined)
  assert.equal(misfit(exchange(cities, 202, '')), 'the document has no response 202 to GET of /api/v2/cities')
  assert.equal(misfit(exchange(`${cities}/5`, 418, '')), undefined)
})

test('DOC-1: paths, methods and media types that the document lacks', () => {
  assert.match(misfit(exchange(`${cities}/5/parks`, 200, '[]')) ?? '', /has no path/)
  assert.match(misfit(exchange(cities, 201, '{}', 'application/json', 'POST')) ?? '', /has no POST/)
  assert.match(misfit(exchange(cities, 200, '[]', 'text/html')) ?? '', /text\/html is not among/)
})

test('DOC-1: the path with the fewest parameters wins, below any of the servers', () => {
  assert.equal(documentedPath(documentOf(yaml), '/api/v2/cities/capital', ''), '/paths/~1cities~1capital')
  assert.equal(documentedPath(documentOf(yaml), '/api/v2/cities/5', ''), '/paths/~1cities~1{id}')
  assert.equal(documentedPath(documentOf(yaml), '/other/cities', ''), undefined)
  assert.equal(documentedPath(documentOf(yaml), '/other/cities', '/other'), '/paths/~1cities')
})

test('DOC-1: schemas of 3.1 are JSON Schemas', () => {
  const text = JSON.stringify({
    openapi: '3.1.0',
    paths: {
      '/cities': {
        get: {
          responses: { 200: { content: { '*/*': { schema: { type: ['string', 'null'], const: 'nullable' } } } } },
        },
      },
    },
  })
  assert.equal(misfit(exchange('https://eu.example.com/cities', 200, '"nullable"'), text), undefined)
  assert.match(misfit(exchange('https://eu.example.com/cities', 200, '5'), text) ?? '', /must be string,null/)
})

test('DOC-1: unresolved references are found at any depth', () => {
  const text = yaml.replace('schemas/Country', 'schemas/Nowhere')
  assert.deepEqual(unresolvedReferences(documentOf(text)), ['#/components/schemas/Nowhere'])
  assert.deepEqual(unresolvedReferences(documentOf(yaml)), [])
})

test('DOC-1: other responses hold no document', () => {
  for (const text of ['', 'text', '[', '5', '"openapi"']) {
    assert.equal(parseDocument(exchange('https://eu.example.com/', 200, text)), undefined, text)
  }
  assert.equal(parseDocument(exchange('https://eu.example.com/', 404, '{}')), undefined)
})
