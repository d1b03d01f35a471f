import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namesOf } from './response-names.ts'

const answer = (status: number, body: unknown) => ({ status, version: '1.1', fields: [], body: JSON.stringify(body) })

test('the error of an unknown record shows the code that the error of an unknown path lacks', () => {
  const unknownPath = answer(404, { error: { statusCode: 404, name: 'NotFoundError', message: 'No such endpoint.' } })
  const unknownRecord = answer(404, { error: { code: 'ENTITY_NOT_FOUND', message: 'No such thing.' } })
  const { code, message } = namesOf([], undefined, [unknownPath, unknownRecord])
  assert.deepEqual([code, message], ['/error/code', '/error/message'])
  // A response that is no error shows nothing.
  assert.equal(namesOf([], undefined, [unknownPath, answer(200, { type: 'book' })]).code, '/code')
})
