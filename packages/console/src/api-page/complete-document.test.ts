import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeDocument } from './complete-document.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is walked here as the JSON that it is
type Any = any

const errors = { '4XX': { $ref: '#/components/responses/Api4XX' } }
const document: Any = {
  paths: {
    '/notes': {
      get: {
        parameters: [{ name: 'sort', in: 'query' }],
        responses: { 200: { description: 'A page.' }, ...errors },
        'x-parameters': [{ name: 'fields', in: 'query' }],
        'x-problems': ['NOT_FOUND'],
      },
    },
    '/file': { get: { responses: errors, 'x-responses': { 206: { description: 'Of a file.' } } } },
    '/health/live': { get: { security: [], responses: errors, 'x-problems': ['URL_TOO_LONG'] } },
  },
  'x-ranges': { parameters: [{ name: 'Range', in: 'header' }], responses: { 206: { description: 'Bytes.' } } },
  'x-problems': {
    everywhere: ['UNAUTHENTICATED'],
    methods: { get: ['STORAGE_FAILED'], post: ['URL_TOO_LONG'] },
    codes: {
      NOT_FOUND: { status: 404, title: 'There is no such record' },
      STORAGE_FAILED: { status: 502, title: 'The database failed' },
      UNAUTHENTICATED: { status: 401, title: 'The credential is missing' },
      URL_TOO_LONG: { status: 414, title: 'The address is too long' },
    },
  },
  components: { responses: { Api4XX: { description: 'An error.', content: {} } } },
}
const shown: Any = completeDocument(document)

const { get } = shown.paths['/notes']

test('people see the parameters and responses that generators do not', () => {
  assert.deepEqual(
    get.parameters.map(({ name }: Any) => name),
    ['sort', 'fields', 'Range'],
  )
  assert.deepEqual(get.responses[206], { description: 'Bytes.' })
  assert.deepEqual(shown.paths['/file'].get.responses[206], { description: 'Of a file.' })
})

test('people see each code of an operation, with its status', () => {
  const description = '- 404 `NOT_FOUND`: There is no such record.\n- 401 `UNAUTHENTICATED`: The credential is missing.'
  assert.deepEqual(get.responses['4XX'], { description, content: {} })
  const { responses } = shown.paths['/health/live'].get
  assert.equal(responses['4XX'].description, '- 414 `URL_TOO_LONG`: The address is too long.')
})

test('the document itself stays as it is', () => assert.ok(document.paths['/notes'].get['x-problems']))
