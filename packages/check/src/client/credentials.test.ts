/** Variants of credentials, and their removal from reports. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CaseResult, redactor } from '../run/check.ts'
import { altered, keyOf } from './credentials.ts'

const credential = [['Authorization', 'Bearer key-0123456789']] as const

test('AUT-1: an altered credential differs in one character of its middle', () => {
  assert.equal(keyOf(credential), 'key-0123456789')
  assert.equal(altered('key-0123456789'), 'key-012A456789')
  assert.equal(altered('AAA'), 'ABA')
})

test('SEC-3: reports contain neither the credential nor the altered one', () => {
  const asked = {
    method: 'GET',
    url: 'https://api.example.com/v1/cities',
    fields: [
      ['Authorization', 'Bearer key-0123456789'],
      ['Cookie', 'key-012A456789'],
    ],
  } as const
  const result = {
    ...{
      id: 'AUT-1/altered',
      title: '',
      tier: 'safety',
      section: '',
      level: 'must',
      mend: '',
      verdict: 'fails',
      why: '',
      collection: 'cities',
    },
    ...{ findings: [], exchanges: [{ step: 'list', asked, milliseconds: 1 }], milliseconds: 1 },
  } as const satisfies CaseResult
  const text = JSON.stringify(redactor({ KEY: credential })(result))
  assert.doesNotMatch(text, /key-/)
  assert.match(text, /Bearer \$KEY"/)
})
