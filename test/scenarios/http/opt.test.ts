/** OPT: OPTIONS and CORS. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { readCors } from '../../../packages/server/src/http/cors.ts'
import { studio } from '../../declarations.ts'
import { trialFor } from '../../harness.ts'
import { nowhere } from '../../steps.ts'

const page = 'https://app.example.com'
const cors = readCors([page, 'http://localhost:5173'], true)

it('OPT-1: OPTIONS lists the methods of a path, for any caller, and for a missing record too', async (context) => {
  const { send } = await trialFor(context, studio)
  const table: [path: string, allow: string][] = [
    ['/v1/projects', 'GET, HEAD, POST, PUT, PATCH, QUERY, OPTIONS'],
    [`/v1/projects/${nowhere}/tasks`, 'GET, HEAD, POST, QUERY, OPTIONS'],
    [`/v1/projects/${nowhere}`, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['/v1/openapi.json', 'GET, HEAD, OPTIONS'],
    ['/health/live', 'GET, HEAD, OPTIONS'],
  ]
  for (const [path, allow] of table) {
    for (const as of ['root', 'ann']) {
      const answer = await send({ method: 'OPTIONS', path, as })
      assert.deepEqual([answer.status, answer.headers.allow, answer.text], [204, allow, ''], path)
      assert.equal(answer.headers['cache-control'], 'no-store')
    }
  }
  const collection = await send({ method: 'OPTIONS', path: '/v1/tasks' })
  assert.equal(collection.headers['accept-post'], 'application/json')
  assert.equal(collection.headers['accept-query'], 'application/json')
  assert.equal(collection.headers['accept-patch'], 'application/json, application/merge-patch+json')
  const record = await send({ method: 'OPTIONS', path: `/v1/tasks/${nowhere}` })
  assert.equal(
    record.headers['accept-patch'],
    'application/json, application/merge-patch+json, application/json-patch+json',
  )
})

it('OPT-1: requires a credential, an existing path, and permission for some method', async (context) => {
  const closed = defineInterface({
    name: 'closed',
    resources: { files: { fields: { text: Type.String() }, access: { read: 'role:admin', create: 'role:admin' } } },
  })
  const { send } = await trialFor(context, closed)
  assert.equal((await send({ method: 'OPTIONS', path: '/v1/files', as: null })).status, 401)
  assert.equal((await send({ method: 'OPTIONS', path: '/v1/nothing' })).status, 404)
  assert.equal((await send({ method: 'OPTIONS', path: '/v1/files', as: 'ann' })).status, 403)
  assert.equal((await send({ method: 'OPTIONS', path: '/v1/files' })).status, 204)
  // An ordinary OPTIONS from a page is no preflight.
  const headers = { origin: page }
  assert.equal((await send({ method: 'OPTIONS', path: '/v1/files', as: null, headers })).status, 401)
})

it('OPT-2: OPTIONS * lists every method, with a credential', async (context) => {
  const { send } = await trialFor(context, studio)
  assert.equal((await send({ method: 'OPTIONS', path: '*', as: null })).status, 401)
  const answer = await send({ method: 'OPTIONS', path: '*' })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.allow, 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS')
})

it('OPT-3: a preflight gets its response before authentication, with the methods of the path', async (context) => {
  const { send } = await trialFor(context, studio, { cors })
  const headers = {
    origin: page,
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'if-match',
  }
  const answer = await send({ method: 'OPTIONS', path: `/v1/tasks/${nowhere}`, as: null, headers })
  assert.equal(answer.status, 204)
  assert.equal(answer.headers['access-control-allow-origin'], page)
  assert.equal(answer.headers['access-control-allow-credentials'], 'true')
  assert.match(String(answer.headers['access-control-allow-methods']), /\bPATCH\b/)
  assert.match(String(answer.headers['access-control-allow-headers']), /\bIf-Match\b/)
  assert.equal(answer.headers['access-control-max-age'], '7200')
  const plain = { ...headers, origin: 'https://evil.example' }
  const foreign = await send({ method: 'OPTIONS', path: '/v1/tasks', as: null, headers: plain })
  assert.equal(foreign.status, 204)
  assert.ok(Object.keys(foreign.headers).every((name) => !name.startsWith('access-control-')))
  assert.match(String(foreign.headers.vary), /Origin/)
})

it('OPT-3: without allowed origins there are no preflights', async (context) => {
  const { send } = await trialFor(context, studio)
  const headers = { origin: page, 'access-control-request-method': 'GET' }
  const answer = await send({ method: 'OPTIONS', path: '/v1/tasks', as: null, headers })
  assert.equal(answer.status, 401)
  assert.equal(answer.headers['access-control-allow-origin'], undefined)
})

it('OPT-4: only allowed origins are sent back, on errors too, and responses vary by Origin', async (context) => {
  const { send } = await trialFor(context, studio, { cors })
  for (const path of ['/v1/projects', '/v1/nothing']) {
    const own = await send({ path, headers: { origin: page } })
    assert.equal(own.headers['access-control-allow-origin'], page)
    for (const origin of ['https://evil.example', 'null', `${page}.evil.example`, `${page}:444`, page.toUpperCase()]) {
      const foreign = await send({ path, headers: { origin } })
      assert.equal(foreign.headers['access-control-allow-origin'], undefined, origin)
      assert.match(String(foreign.headers.vary), /\bOrigin\b/)
    }
    assert.match(String((await send({ path })).headers.vary), /\bOrigin\b/)
  }
})

it('OPT-5: a wildcard with credentials is refused', () => {
  assert.throws(() => readCors(['*'], true), /credentials/)
  assert.deepEqual(readCors(['*']), { origins: '*', credentials: false })
  assert.equal(readCors([]), undefined)
})

it('OPT-6: a page may read the header fields that it needs', async (context) => {
  const { send } = await trialFor(context, studio, { cors })
  const answer = await send({ path: '/v1/projects', headers: { origin: page } })
  const exposed = String(answer.headers['access-control-expose-headers']).split(', ')
  const needed = ['ETag', 'Location', 'Link', 'Retry-After', 'RateLimit', 'Deprecation', 'Sunset', 'X-Total-Count']
  for (const name of [...needed, 'Preference-Applied']) assert.ok(exposed.includes(name), name)
})
