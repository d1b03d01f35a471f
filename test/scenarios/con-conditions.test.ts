/** CON: conditions of writes. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { places, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

/** What a guarded write answers, by its condition. `tag`, `date` stand for the record's own. */
const conditions: readonly [string, Record<string, string>, boolean][] = [
  ['the tag', { 'if-match': 'tag' }, true],
  ['a star', { 'if-match': '*' }, true],
  ['a list that has it', { 'if-match': '"a", tag, "b"' }, true],
  ['a list with empty elements', { 'if-match': ', tag,,' }, true],
  ['another tag', { 'if-match': '"other"' }, false],
  ['a list without it', { 'if-match': '"a", "b"' }, false],
  ['the tag, weak', { 'if-match': 'W/tag' }, true],
  ['the tag of a compressed response', { 'if-match': 'zipped' }, true],
  ['the weak tag of a compressed response', { 'if-match': 'W/zipped' }, true],
  ['the tag of a compression that is unknown', { 'if-match': 'deflated' }, false],
  ['the tag without its last character', { 'if-match': 'short' }, false],
  ['the tag in a list of weak ones', { 'if-match': 'W/"a", W/tag' }, true],
  ['another tag, weak', { 'if-match': 'W/"other"' }, false],
  ['the tag without its last character, weak', { 'if-match': 'W/short' }, false],
  ['its date', { 'if-unmodified-since': 'date' }, true],
  ['a later date', { 'if-unmodified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }, true],
  ['an earlier date', { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' }, false],
  ['an earlier date of an old form', { 'if-unmodified-since': 'Sat Jan  1 00:00:00 2000' }, false],
  ['a date that is none is ignored', { 'if-unmodified-since': 'yesterday' }, true],
  [
    'the tag beside an earlier date',
    { 'if-match': 'tag', 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' },
    true,
  ],
  ['another tag beside its date', { 'if-match': '"other"', 'if-unmodified-since': 'date' }, false],
  ['If-None-Match with a star', { 'if-none-match': '*' }, false],
  ['If-None-Match with the tag', { 'if-none-match': 'tag' }, false],
  ['If-None-Match with the tag, weak', { 'if-none-match': 'W/tag' }, false],
  ['If-None-Match with another tag', { 'if-none-match': '"other"' }, true],
  ['a malformed If-None-Match is ignored', { 'if-none-match': 'other' }, true],
  ['If-Modified-Since does not concern writes', { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }, true],
]

for (const method of ['PUT', 'PATCH', 'DELETE']) {
  for (const [name, given, passes] of conditions) {
    it(`CON-3: ${method} with ${name} ${passes ? 'succeeds' : 'is a 412 that changes nothing'}`, async (context) => {
      const { send, make } = await trialFor(context, studio)
      const { id } = await make('projects', { name: 'One' })
      const path = `/v1/projects/${id}`
      const before = await send({ path })
      const tag = String(before.headers.etag)
      const put = (text: string) =>
        text
          .replace('tag', tag)
          .replace('zipped', `${tag.slice(0, -1)}-gzip"`)
          .replace('deflated', `${tag.slice(0, -1)}-deflate"`)
          .replace('short', `${tag.slice(0, -2)}"`)
          .replace('date', String(before.headers['last-modified']))
      const headers = Object.fromEntries(Object.entries(given).map(([field, value]) => [field, put(value)]))
      const body = method === 'DELETE' ? undefined : { name: 'Two' }
      const answer = await send({ method, path, headers, body })
      const after = await send({ path })
      if (passes) {
        assert.equal(answer.status, method === 'DELETE' ? 204 : 200, answer.text)
        if (method === 'DELETE') assert.equal(after.status, 404)
        else assert.equal(after.json.name, 'Two')
        return
      }
      assert.deepEqual([answer.status, answer.json.code], [412, 'PRECONDITION_FAILED'])
      assert.deepEqual([after.text, after.headers.etag], [before.text, before.headers.etag])
    })
  }
}

const malformed = [
  '',
  ' ',
  ',',
  'x',
  '"x',
  'x"',
  '"a" "b"',
  '*, "a"',
  'w/"a"',
  '"a", b',
  "'a'",
  '"a"b',
  '"a\u0007"',
  '**',
]

for (const value of malformed) {
  it(`CON-3: If-Match ${JSON.stringify(value)} is a malformed condition, and is not ignored`, async (context) => {
    const { send, make } = await trialFor(context, studio)
    const { id } = await make('projects', { name: 'One' })
    const path = `/v1/projects/${id}`
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body = method === 'PUT' || method === 'PATCH' ? { name: 'Two' } : undefined
      const answer = await send({ method, path, body, headers: { 'if-match': value } })
      assert.deepEqual([answer.status, answer.json.code], [400, 'MALFORMED_CONDITION'], method)
      assert.deepEqual(places(answer), ['MALFORMED_CONDITION If-Match'])
    }
    assert.equal((await send({ path })).json.name, 'One')
  })
}

it('CON-3: a condition on a missing record is a 404', async (context) => {
  const { send } = await trialFor(context, studio)
  for (const headers of [{ 'if-match': '*' }, { 'if-match': '"x"' }, { 'if-none-match': '*' }] as Record<
    string,
    string
  >[]) {
    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? { name: 'x' } : undefined
      assert.equal((await send({ method, path: `/v1/projects/${nowhere}`, headers, body })).status, 404)
    }
  }
})

it('CON-7: if conditions are required, a change without one is 428 and changes nothing', async (context) => {
  const projects = { ...studio.resources.projects, preconditions: 'required' } as const
  const { send, make } = await trialFor(context, { ...studio, resources: { ...studio.resources, projects } })
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  const etag = String((await send({ path })).headers.etag)
  const changes = [
    { method: 'PUT', path, body: { name: 'Two' } },
    { method: 'PATCH', path, body: { name: 'Two' } },
    { method: 'DELETE', path },
  ]
  for (const change of changes) {
    const answer = await send(change)
    assert.deepEqual([answer.status, answer.json.code], [428, 'PRECONDITION_REQUIRED'], change.method)
    // What says nothing of the state that was read is no condition on it.
    const none = await send({ ...change, headers: { 'if-none-match': '"x"' } })
    assert.equal(none.status, 428, change.method)
    assert.equal((await send({ ...change, as: 'bob' })).status, 403)
  }
  assert.equal((await send({ method: 'DELETE', path: `/v1/projects/${nowhere}` })).status, 404)
  assert.equal((await send({ path })).headers.etag, etag)
  const patched = await send({ ...changes[1], path, headers: { 'if-match': etag } })
  assert.deepEqual([patched.status, patched.json.name], [200, 'Two'])
  const date = String(patched.headers['last-modified'])
  assert.equal((await send({ method: 'DELETE', path, headers: { 'if-unmodified-since': date } })).status, 204)
})
