import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linksOf } from './exchange.ts'

function linksIn(...values: string[]): Record<string, string> {
  const fields = values.map((value) => ['link', value] as const)
  const answer = { status: 200, version: '1.1', fields, body: '' }
  return Object.fromEntries(linksOf(answer, 'https://api.example.com/v1/cities?page=1'))
}

test('links are found by relation type, on one line or several, with commas in addresses', () => {
  assert.deepEqual(linksIn('</v1/cities?sort=a,b&page=2>; title="x, y"; rel="next"', '<?page=9>; rel=last'), {
    next: '/v1/cities?sort=a,b&page=2',
    last: '/v1/cities?page=9',
  })
  assert.deepEqual(linksIn('</a>; rel="first prev", </b>; REL="NEXT"'), { first: '/a', prev: '/a', next: '/b' })
})

test('a link to another server is read as a path on the checked one', () => {
  assert.deepEqual(linksIn('<https://elsewhere.example/v1/cities?page=2>; rel="next"'), {
    next: '/v1/cities?page=2',
  })
})

test('invalid links are ignored', () => {
  assert.deepEqual(linksIn('next', '<http://[>; rel="next"', '</a>'), {})
})
