import assert from 'node:assert/strict'
import { test } from 'node:test'
import { finderQuery, inQueryStyle, type QueryStyle } from './query-style.ts'

test('a query of a case is written as the server has it', () => {
  const all: readonly (readonly [to: string, query: QueryStyle, written: string])[] = [
    ['«collection»?page=2&«page-size»=5', { page: 'p', firstPage: 0 }, '«collection»?p=1&«page-size»=5'],
    ['«collection»?page=0', { firstPage: 0 }, '«collection»?page=-1'],
    ['«collection»?page=first', { page: '_page', firstPage: 0 }, '«collection»?_page=first'],
    ['«collection»?offset=1&limit=3', { offset: '$skip', limit: '$limit' }, '«collection»?$skip=1&$limit=3'],
    ['«collection»?limit=3', { limit: 'per_page', per_page: 'size' }, '«collection»?per_page=3'],
    ['«collection»?sort=-a,b', { ascending: 'ordering={}', descending: 'ordering=-{}' }, '«collection»?ordering=-a,b'],
    [
      '«collection»?sort=-a,b',
      { ascending: 'sort={},asc', descending: 'sort={},desc' },
      '«collection»?sort=a,desc&sort=b,asc',
    ],
    [
      '«collection»?sort=-a',
      { ascending: '_sort={}&_order=asc', descending: '_sort={}&_order=desc' },
      '«collection»?_sort=a&_order=desc',
    ],
    [
      '«collection»?«member:marker»=x&q=y',
      { filter: 'filter[{}]', q: 'search' },
      '«collection»?filter[«member:marker»]=x&search=y',
    ],
    [
      '«collection»?«member:measured»%5Bgt%5D=1',
      { filter: 'filter[{}]' },
      '«collection»?filter[«member:measured»]%5Bgt%5D=1',
    ],
    [
      '«collection»?«member:marker»=x&«member:measured»%5Bnot%5D=1',
      { filter: 'filters[{}][$eq]' },
      '«collection»?filters[«member:marker»][$eq]=x&filters[«member:measured»][$ne]=1',
    ],
    [
      '«collection»?«member:marker»=x%20y&«member:measured»%5Bgte%5D=1',
      { filter: '{}=eq.{value}' },
      '«collection»?«member:marker»=eq.x%20y&«member:measured»=gte.1',
    ],
    ['«pages|link:next»', { page: 'p' }, '«pages|link:next»'],
    ['/things?page=2', { page: 'p', firstPage: 0 }, '/things?page=2'],
  ]
  for (const [to, query, written] of all) assert.equal(inQueryStyle(to, { query }), written)
})

test('a finder has the values of its names, or is none', () => {
  const valueFor = (name: string) => ({ mark: 'a b', teams: '7' })[name]
  assert.equal(finderQuery('q={mark}', valueFor), 'q=a%20b')
  assert.equal(finderQuery('filter={"where":{"name":"{mark}"}}', valueFor), 'filter={"where":{"name":"a%20b"}}')
  assert.equal(finderQuery('team_id={teams}', valueFor), 'team_id=7')
  assert.equal(finderQuery('owner={people}', valueFor), undefined)
})
