import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../client/exchange.ts'
import { complaintsIn, schemaIn } from './complaint.ts'

function answer(status: number, body: unknown): Answer {
  return { status, version: '1.1', fields: [], body: typeof body === 'string' ? body : JSON.stringify(body) }
}

const told: readonly {
  make: string
  status?: number
  body: unknown
  expect: readonly (readonly [unknown, string])[]
}[] = [
  {
    make: 'problem details with pointers',
    body: { title: 'x', status: 400, errors: [{ code: 'REQUIRED', message: 'name is required.', pointer: '/name' }] },
    expect: [['name', 'lacking']],
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
      ['title', 'lacking'],
      ['pages', 'bad'],
    ],
  },
  {
    make: 'Django REST framework',
    body: { title: ['This field is required.'], isbn: ['book with this isbn already exists.'] },
    expect: [
      ['title', 'lacking'],
      ['isbn', 'taken'],
    ],
  },
  {
    make: 'Rails',
    status: 422,
    body: { errors: { title: ["can't be blank"], isbn: ['has already been taken'] } },
    expect: [
      ['title', 'lacking'],
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
    expect: [['title', 'lacking']],
  },
  {
    make: 'class-validator',
    body: {
      statusCode: 400,
      message: ['pages must be an integer number', 'property colour should not exist'],
      error: 'Bad Request',
    },
    expect: [
      ['pages', 'bad'],
      ['colour', 'unknown'],
    ],
  },
  {
    make: 'JSON:API',
    status: 422,
    body: { errors: [{ status: '422', title: 'is invalid', source: { pointer: '/data/attributes/pages' } }] },
    expect: [['pages', 'bad']],
  },
  {
    make: 'express-validator',
    body: { errors: [{ type: 'field', msg: 'Invalid value', path: 'pages', location: 'body' }] },
    expect: [['pages', 'bad']],
  },
  {
    make: 'zod',
    body: { issues: [{ code: 'invalid_type', expected: 'string', path: ['title'], message: 'Required' }] },
    expect: [['title', 'lacking']],
  },
  {
    make: 'Spring',
    body: {
      status: 400,
      error: 'Bad Request',
      errors: [{ field: 'pages', defaultMessage: 'must be positive', code: 'Positive' }],
    },
    expect: [['pages', 'bad']],
  },
  { make: 'a sentence of text', body: 'The title is required', expect: [['title', 'lacking']] },
  {
    make: 'a database that speaks',
    status: 409,
    body: {
      code: '23505',
      details: 'Key (isbn)=(3) already exists.',
      message: 'duplicate key value violates unique constraint',
    },
    expect: [['isbn', 'taken']],
  },
  { make: 'one that says nothing', status: 409, body: { message: 'Conflict' }, expect: [[undefined, 'taken']] },
]

for (const { make, status = 400, body, expect } of told) {
  test(`what is wrong with a body is read from ${make}`, () => {
    const found = complaintsIn(answer(status, body), ['title', 'isbn', 'pages', 'colour'])
    assert.deepEqual(
      found.map(({ member, kind }) => [member, kind]),
      expect,
    )
  })
}

test('what a value has to be is read from sentences', () => {
  assert.deepEqual(schemaIn('must be a valid e-mail address'), { type: 'string', format: 'email' })
  assert.deepEqual(schemaIn('Input should be a valid integer'), { type: 'integer' })
  assert.deepEqual(schemaIn('must be one of: red, green, blue'), { type: 'string', enum: ['red', 'green', 'blue'] })
  assert.deepEqual(schemaIn('must be at least 18'), { type: 'number', minimum: 18 })
  assert.deepEqual(schemaIn('must be at most 5 characters'), { type: 'string', maxLength: 5 })
})
