import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../client/exchange.ts'
import { complaintsIn, schemaFromText } from './repair-body.ts'

function answer(status: number, body: unknown): Answer {
  return { status, version: '1.1', fields: [], body: typeof body === 'string' ? body : JSON.stringify(body) }
}

const responses: readonly {
  make: string
  status?: number
  body: unknown
  expect: readonly (readonly [unknown, string])[]
}[] = [
  {
    make: 'PocketBase',
    body: {
      data: { title: { code: 'validation_not_unique', message: 'Value must be unique.' } },
      message: 'Failed to create record.',
      status: 400,
    },
    expect: [['title', 'taken']],
  },
  {
    make: 'problem details with pointers',
    body: { title: 'x', status: 400, errors: [{ code: 'REQUIRED', message: 'name is required.', pointer: '/name' }] },
    expect: [['name', 'missing']],
  },
  {
    make: 'FastAPI',
    status: 422,
    body: {
      detail: [
        { type: 'missing', loc: ['body', 'title'], msg: 'Field required', input: {} },
        { type: 'int_parsing', loc: ['body', 'pages'], msg: 'Input should be a valid integer' },
      ],
    },
    expect: [
      ['title', 'missing'],
      ['pages', 'invalid'],
    ],
  },
  {
    make: 'Django REST framework',
    body: { title: ['This field is required.'], isbn: ['book with this isbn already exists.'] },
    expect: [
      ['title', 'missing'],
      ['isbn', 'taken'],
    ],
  },
  {
    make: 'Rails',
    status: 422,
    body: { errors: { title: ["can't be blank"], isbn: ['has already been taken'] } },
    expect: [
      ['title', 'missing'],
      ['isbn', 'taken'],
    ],
  },
  {
    make: 'Fastify',
    body: {
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'Bad Request',
      message: "body must have required property 'title'",
    },
    expect: [['title', 'missing']],
  },
  {
    make: 'class-validator',
    body: {
      statusCode: 400,
      message: ['pages must be an integer number', 'property colour should not exist'],
      error: 'Bad Request',
    },
    expect: [
      ['pages', 'invalid'],
      ['colour', 'unknown'],
    ],
  },
  {
    make: 'JSON:API',
    status: 422,
    body: { errors: [{ status: '422', title: 'is invalid', source: { pointer: '/data/attributes/pages' } }] },
    expect: [['pages', 'invalid']],
  },
  {
    make: 'express-validator',
    body: { errors: [{ type: 'field', msg: 'Invalid value', path: 'pages', location: 'body' }] },
    expect: [['pages', 'invalid']],
  },
  {
    make: 'zod',
    body: { issues: [{ code: 'invalid_type', expected: 'string', path: ['title'], message: 'Required' }] },
    expect: [['title', 'missing']],
  },
  {
    make: 'Spring',
    body: {
      status: 400,
      error: 'Bad Request',
      errors: [{ field: 'pages', defaultMessage: 'must be positive', code: 'Positive' }],
    },
    expect: [['pages', 'invalid']],
  },
  { make: 'a sentence of text', body: 'The title is required', expect: [['title', 'missing']] },
  {
    make: 'a database error',
    status: 409,
    body: {
      code: '23505',
      details: 'Key (isbn)=(3) already exists.',
      message: 'duplicate key value violates unique constraint',
    },
    expect: [['isbn', 'taken']],
  },
  { make: 'a conflict without details', status: 409, body: { message: 'Conflict' }, expect: [[undefined, 'taken']] },
]

for (const { make, status = 400, body, expect } of responses) {
  test(`complaints about a body are read from ${make}`, () => {
    const found = complaintsIn(answer(status, body), ['title', 'isbn', 'pages', 'colour'])
    assert.deepEqual(
      found.map(({ member, kind }) => [member, kind]),
      expect,
    )
  })
}

test('schemas of valid values are read from sentences', () => {
  assert.deepEqual(schemaFromText('must be a valid e-mail address'), { type: 'string', format: 'email' })
  assert.deepEqual(schemaFromText('Input should be a valid integer'), { type: 'integer' })
  assert.deepEqual(schemaFromText('must be one of: red, green, blue'), {
    type: 'string',
    enum: ['red', 'green', 'blue'],
  })
  for (const text of [
    'Invalid string: must match pattern /^[A-Z]{2}$/',
    'must match "^[A-Z]{2}$"',
    "String should match pattern '^[A-Z]{2}$'",
    'sku must match /^[A-Z]{2}$/ regular expression',
  ]) {
    assert.deepEqual(schemaFromText(text), { type: 'string', pattern: '^[A-Z]{2}$' })
  }
  assert.deepEqual(schemaFromText('must be at least 18'), { type: 'number', minimum: 18 })
  assert.deepEqual(schemaFromText('must be at most 5 characters'), { type: 'string', maxLength: 5 })
})
