/** QRY-2 to QRY-9: invalid queries, for which one response names all mistakes. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { library } from '../../declarations-library.ts'
import { places, type Trial, trial } from '../../harness.ts'
import { nowhere } from '../../steps.ts'

describe('invalid queries', () => {
  let current: Trial
  before(async () => {
    current = await trial(library, { memory: true })
    await current.make('books', { title: 'Alpha' })
  })
  after(() => current.close())
  const get = (query: string, path = '/v1/books') => current.send({ path: `${path}?${query}`, as: 'bob' })

  const refused: readonly (readonly [rule: string, query: string, errors: readonly string[], path?: string])[] = [
    ['QRY-8', 'colour=red', ['UNKNOWN_PARAMETER colour']],
    ['QRY-8', 'year=abc', ['INVALID_VALUE year']],
    ['QRY-8', 'year=1.5', ['INVALID_VALUE year']],
    ['QRY-8', 'year=', ['INVALID_VALUE year']],
    ['QRY-8', 'year=9007199254740993', ['INVALID_VALUE year']],
    ['QRY-8', 'year=0x10&year=1', ['INVALID_VALUE year']],
    ['QRY-8', 'price=1e999', ['INVALID_VALUE price']],
    ['QRY-8', 'price=NaN', ['INVALID_VALUE price']],
    ['QRY-8', 'printed=yes', ['INVALID_VALUE printed']],
    ['QRY-8', 'kind=essay', ['INVALID_VALUE kind']],
    ['QRY-8', 'kind[in]=novel,essay', ['INVALID_VALUE kind[in]']],
    ['QRY-8', 'acquired=2020-02-30', ['INVALID_VALUE acquired']],
    ['QRY-8', 'released[gt]=2020-01-01', ['INVALID_VALUE released[gt]']],
    ['QRY-8', 'author_id=1', ['INVALID_VALUE author_id']],
    ['QRY-8', 'created_at[gt]=today', ['INVALID_VALUE created_at[gt]']],
    ['QRY-8', 'year[null]=maybe', ['INVALID_VALUE year[null]']],
    ['QRY-2', 'year[like]=1', ['INVALID_OPERATOR year[like]']],
    ['QRY-2', 'year[]=1', ['INVALID_OPERATOR year[]']],
    ['QRY-2', 'year[constructor]=1', ['INVALID_OPERATOR year[constructor]']],
    ['QRY-2', 'year[contains]=1', ['INVALID_OPERATOR year[contains]']],
    ['QRY-2', 'printed[gt]=false', ['INVALID_OPERATOR printed[gt]']],
    ['QRY-2', 'kind[starts_with]=n', ['INVALID_OPERATOR kind[starts_with]']],
    [
      'QRY-2',
      Array.from({ length: 101 }, (_, n) => `title[starts_with]=${n}`).join('&'),
      ['INVALID_VALUE title[starts_with]'],
    ],
    ['QRY-2', 'acquired[contains]=2020', ['INVALID_OPERATOR acquired[contains]']],
    ['QRY-8', 'title[contains=1', ['UNKNOWN_PARAMETER title[contains']],
    ['QRY-7', 'shelf=A', ['UNKNOWN_PARAMETER shelf']],
    ['QRY-7', 'tags=a', ['UNKNOWN_PARAMETER tags']],
    ['QRY-7', 'pin=x', ['UNKNOWN_PARAMETER pin']],
    ['WHR-5', 'id=1', ['INVALID_VALUE id']],
    ['WHR-5', 'id=', ['INVALID_VALUE id']],
    ['WHR-5', 'id=01A1FDE6-F89D-7507-9D1C-CDFF0F8D7C07', ['INVALID_VALUE id']],
    ['WHR-5', `id[in]=${nowhere},x,y`, ['INVALID_VALUE id[in]', 'INVALID_VALUE id[in]']],
    ['WHR-5', 'id[not]=null', ['INVALID_VALUE id[not]']],
    ['WHR-5', `id[gt]=${nowhere}`, ['INVALID_OPERATOR id[gt]']],
    ['WHR-5', 'id[starts_with]=01', ['INVALID_OPERATOR id[starts_with]']],
    ['WHR-5', 'id[null]=false', ['INVALID_OPERATOR id[null]']],
    ['WHR-5', 'id=1', ['INVALID_VALUE id'], '/v1/jobs'],
    ['WHR-5', 'id=1', ['INVALID_VALUE id'], '/v1/api-keys'],
    ['QRY-7', '_revision=1', ['UNKNOWN_PARAMETER _revision']],
    ['QRY-7', 'sort=shelf', ['UNKNOWN_FIELD sort']],
    ['QRY-3', 'sort=', ['UNKNOWN_FIELD sort']],
    ['QRY-3', 'sort=title,', ['UNKNOWN_FIELD sort']],
    ['QRY-3', 'sort=%2Btitle', ['UNKNOWN_FIELD sort']],
    ['QRY-3', 'sort=title,-title', ['INVALID_VALUE sort']],
    ['QRY-3', 'sort=title&sort=year', ['DUPLICATE_PARAMETER sort']],
    ['QRY-4', 'fields=', ['UNKNOWN_FIELD fields']],
    ['QRY-4', 'fields=title,colour,pin', ['UNKNOWN_FIELD fields', 'UNKNOWN_FIELD fields']],
    ['QRY-4', '__proto__=1&constructor=1', ['UNKNOWN_PARAMETER __proto__', 'UNKNOWN_PARAMETER constructor']],
    ['QRY-5', 'q=a&q=b', ['DUPLICATE_PARAMETER q']],
    ['QRY-5', 'q=a', ['UNKNOWN_PARAMETER q'], '/v1/notes'],
    ['QRY-5', 'q=a%00b', ['INVALID_TEXT q']],
    ['QRY-6', 'include_deleted=1', ['INVALID_VALUE include_deleted']],
    [
      'QRY-8',
      'colour=red&year=x&sort=shelf&fields=nope&limit=0&year[like]=1',
      [
        ...['UNKNOWN_PARAMETER colour', 'INVALID_VALUE year', 'INVALID_OPERATOR year[like]'],
        ...['UNKNOWN_FIELD sort', 'UNKNOWN_FIELD fields', 'INVALID_PAGE limit'],
      ],
    ],
  ]
  for (const [rule, query, errors, path] of refused) {
    it(`${rule}: ?${query} is refused`, async () => {
      const answer = await get(query, path)
      assert.equal(answer.status, 400, answer.text)
      assert.equal(answer.json.code, 'INVALID_QUERY')
      assert.deepEqual(places(answer), errors)
    })
  }

  it('QRY-8: paths without parameters refuse every parameter, and a record accepts fields only', async () => {
    const [book] = (await get('limit=1')).json.data
    const record = await get('fields=title&title=Alpha', `/v1/books/${book.id}`)
    assert.deepEqual([record.status, ...places(record)], [400, 'UNKNOWN_PARAMETER title'])
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
      const path = `${method === 'POST' ? '/v1/books' : `/v1/books/${book.id}`}?dry_run=true`
      const answer = await current.send({ method, path, ...(method !== 'DELETE' && { body: {} }) })
      assert.deepEqual([answer.status, ...places(answer)], [400, 'UNKNOWN_PARAMETER dry_run'], method)
    }
    assert.equal((await get('%zz=1')).json.code, 'MALFORMED_URL')
    assert.equal((await get('title=%FF')).json.code, 'MALFORMED_URL')
  })

  for (const name of ['access_token', 'api_key', 'token', 'password', 'secret', 'API_KEY', 'to%6ben', 'token[eq]']) {
    it(`QRY-9: ${name} in the query is refused and never repeated`, async () => {
      const from = current.seen.length
      for (const as of ['bob', null]) {
        const answer = await current.send({ path: `/v1/books?title=a&${name}=hunter2`, as })
        assert.equal(answer.status, 400)
        assert.equal(answer.json.code, 'CREDENTIAL_IN_QUERY')
        assert.ok(!answer.text.includes('hunter2'))
      }
      assert.ok(!JSON.stringify(current.seen.slice(from)).includes('hunter2'))
      assert.ok(current.seen.length > from)
    })
  }
})
