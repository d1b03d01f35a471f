/** VER-1: how a request names its version. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readCors } from '../../../packages/server/src/http/cors.ts'
import { createApp } from '../../../packages/server/src/server/create-app.ts'
import { notebooks } from '../../declarations-versions.ts'
import { newDatabase } from '../../engine.ts'
import { places, trialFor } from '../../harness.ts'
import { nowhere } from '../../steps.ts'

const two = { v1: {}, v2: {} }
const vendor = (version: string) => `application/vnd.notebooks.${version}+json`

it('VER-1: the version is the first segment of the path, once', async (context) => {
  const { send, make } = await trialFor(context, notebooks(two))
  for (const version of ['v1', 'v2']) {
    const made = await send({ path: `/${version}/notes`, body: { text: 'a' } })
    assert.deepEqual([made.status, made.headers['api-version']], [201, version], made.text)
    assert.equal(made.headers.location, `/${version}/notes/${made.json.id}`)
    const list = await send({ path: `/${version}/notes` })
    assert.match(list.headers.link ?? '', new RegExp(`^</${version}/notes\\?`))
    assert.equal((await send({ path: `/${version}/openapi.json` })).json.info.version, version)
  }
  for (const path of ['/v1/v1/notes', '/v2/v1/notes', '/v3/notes', '/V1/notes', '/notes', '/v1', '/v1/', '/']) {
    assert.equal((await send({ path })).status, 404, path)
  }
  assert.equal((await send({ path: '/v3/notes' })).headers['api-version'], undefined)
  const { id } = await make('books', { name: 'a' })
  assert.equal((await send({ path: `/v1/books/${id}/pages` })).status, 200)
  assert.equal((await send({ path: `/v1/books/${id}/pages/more` })).status, 404)
  assert.equal((await send({ path: '/%761/notes' })).headers['api-version'], 'v1')
})

it('VER-1: carriers that are not declared do not select a version', async (context) => {
  const { send } = await trialFor(context, notebooks(two))
  const answer = await send({ path: '/v1/notes', headers: { 'api-version': 'v2' } })
  assert.deepEqual(
    [answer.status, answer.headers['api-version'], answer.headers.vary],
    [200, 'v1', 'Accept, Accept-Encoding'],
  )
  const parameter = await send({ path: '/v1/notes?version=v1' })
  assert.deepEqual([parameter.status, places(parameter)], [400, ['UNKNOWN_PARAMETER version']])
  assert.equal((await send({ path: '/v1/notes', headers: { accept: vendor('v1') } })).status, 406)
  const body = { path: '/v1/notes', body: { text: 'a' }, headers: { 'content-type': vendor('v1') } }
  assert.equal((await send(body)).status, 415)
})

it('VER-1: with the header API-Version, paths have no version', async (context) => {
  const { send, make, app } = await trialFor(context, notebooks(two, ['header']))
  const ask = (version: string | undefined, path = '/notes') =>
    send({ path, headers: version === undefined ? {} : { 'api-version': version } })
  assert.equal((await ask(undefined)).headers['api-version'], 'v2')
  const answer = await ask('v1')
  assert.deepEqual([answer.status, answer.headers['api-version']], [200, 'v1'])
  assert.match(answer.headers.link ?? '', /^<\/notes\?limit=20>/)
  assert.equal(answer.headers.vary, 'Accept, Accept-Encoding, API-Version')
  assert.equal((await ask('v1', '/v1/notes')).status, 404)
  const book = await make('books', { name: 'a' })
  assert.equal((await ask('v1', `/books/${book.id}/pages`)).status, 200)
  assert.equal((await ask('v1', `/books/${book.id}/pages/more`)).status, 404)
  const made = await send({ path: '/notes', body: { text: 'a' }, headers: { 'api-version': 'v1' } })
  assert.equal(made.headers.location, `/notes/${made.json.id}`)
  assert.equal((await ask('v1', made.headers.location)).status, 200)
  const job = await send({ path: made.headers.location ?? '', method: 'DELETE', headers: { prefer: 'respond-async' } })
  assert.deepEqual([job.status, job.json.status_url], [202, `/jobs/${job.json.job_id}`])
  await app.runner.idle()
  assert.equal((await ask(undefined, job.json.status_url)).json.status, 'succeeded')
  const document = await ask('v1', '/openapi.json')
  assert.deepEqual([document.json.info.version, document.json.servers], ['v1', [{ url: '/' }]])
  for (const unknown of ['v3', 'V1', '1', '', '*', 'x'.repeat(10_000)]) {
    const refused = await ask(unknown)
    assert.deepEqual([refused.status, refused.json.code], [400, 'UNKNOWN_VERSION'], unknown)
    assert.deepEqual(places(refused), ['UNKNOWN_VERSION API-Version'])
    assert.match(refused.json.detail, /v1 and v2/)
    assert.ok(refused.text.length < 1_000)
    assert.equal(refused.headers['api-version'], undefined)
  }
  const several = await ask('v1, v2')
  assert.deepEqual([several.status, places(several)], [400, ['VERSION_MISMATCH API-Version']])
})

it('VER-1: with a media type, Accept and Content-Type name the version', async (context) => {
  const { send } = await trialFor(context, notebooks(two, ['media-type']))
  const accepting = (accept: string) => send({ path: '/notes', headers: { accept } })
  for (const [accept, version, type] of [
    [vendor('v1'), 'v1', vendor('v1')],
    [vendor('V1').toUpperCase(), 'v1', vendor('v1')],
    [`text/html, ${vendor('v1')};q=0.5, */*;q=0.1`, 'v1', vendor('v1')],
    [`${vendor('v1')};q=0.2, ${vendor('v2')};q=0.9`, 'v2', vendor('v2')],
    [`${vendor('v1')};q=0, */*`, 'v2', 'application/json'],
    [`${vendor('v9')}, ${vendor('v1')};q=0.1`, 'v1', vendor('v1')],
    ['application/json', 'v2', 'application/json'],
    ['*/*', 'v2', 'application/json'],
  ] as const) {
    const answer = await accepting(accept)
    const said = [answer.status, answer.headers['api-version'], answer.headers['content-type']]
    assert.deepEqual(said, [200, version, type], accept)
    assert.equal(answer.headers.vary, 'Accept, Accept-Encoding')
  }
  const equal = await accepting(`${vendor('v1')}, ${vendor('v2')}`)
  assert.deepEqual([equal.status, places(equal)], [400, ['VERSION_MISMATCH Accept']])
  const unknown = await accepting(`${vendor('v9')}, */*;q=0.1`)
  assert.deepEqual([unknown.status, places(unknown)], [400, ['UNKNOWN_VERSION Accept']])
  assert.equal((await accepting(`${vendor('v1')};q=0`)).status, 406)
  const write = (type: string, accept?: string) =>
    send({
      path: '/notes',
      body: { text: 'a' },
      headers: { 'content-type': type, ...(accept !== undefined && { accept }) },
    })
  const made = await write(`${vendor('v1')}; charset=utf-8`)
  assert.deepEqual([made.status, made.headers['api-version']], [201, 'v1'])
  assert.equal(made.headers['content-type'], 'application/json')
  assert.equal((await write(vendor('v1'), vendor('v1'))).headers['content-type'], vendor('v1'))
  const disagreeing = await write(vendor('v1'), vendor('v2'))
  assert.deepEqual([disagreeing.status, disagreeing.json.code], [400, 'VERSION_MISMATCH'])
  const patch = { path: `/notes/${made.json.id}`, method: 'PATCH', body: { text: 'b' } }
  assert.equal((await send({ ...patch, headers: { 'content-type': vendor('v2') } })).json.text, 'b')
  const problem = await send({ path: `/notes/${nowhere}`, headers: { accept: vendor('v1') } })
  assert.equal(problem.headers['content-type'], 'application/problem+json')
  const options = await send({ method: 'OPTIONS', path: '/notes', headers: { accept: vendor('v1') } })
  assert.equal(options.headers['accept-post'], `application/json, ${vendor('v1')}`)
})

it('VER-1: with the parameter version, links keep it', async (context) => {
  const { send, make } = await trialFor(context, notebooks(two, ['query']))
  const { id } = await make('notes', { text: 'a' })
  const list = await send({ path: '/notes?version=v1&limit=1&sort=text' })
  assert.deepEqual([list.status, list.headers['api-version']], [200, 'v1'])
  assert.equal(list.headers.link, '</notes?version=v1&sort=text&limit=1>; rel="first"')
  const patch = { path: `/notes/${id}?version=v1`, method: 'PATCH', body: { text: 'b' } }
  assert.equal((await send(patch)).headers['api-version'], 'v1')
  assert.equal((await send({ path: `/notes/${id}?%76ersion=v1&fields=text` })).headers['api-version'], 'v1')
  for (const query of ['version=v1&version=v2', 'version=v1&version=v1']) {
    const answer = await send({ path: `/notes?${query}` })
    assert.deepEqual([answer.status, places(answer)], [400, ['VERSION_MISMATCH version']])
  }
  for (const query of ['version=v3', 'version=', 'version', 'version=%zz']) {
    const answer = await send({ path: `/notes?${query}` })
    assert.deepEqual([answer.status, places(answer)], [400, ['UNKNOWN_VERSION version']], query)
  }
  const body = await send({ path: '/notes?version=v1', method: 'QUERY', body: { version: 'v1' } })
  assert.deepEqual(places(body), ['UNKNOWN_PARAMETER version'])
})

it('VER-1: in addition to the path, other carriers may repeat the version, and must agree', async (context) => {
  const { send } = await trialFor(context, notebooks(two, ['path', 'header', 'media-type', 'query']))
  const all = { path: '/v1/notes?version=v1', headers: { 'api-version': 'v1', accept: vendor('v1') } }
  const agreed = await send(all)
  assert.deepEqual([agreed.status, agreed.headers['api-version']], [200, 'v1'])
  assert.equal((await send({ path: '/v1/notes' })).headers['api-version'], 'v1')
  for (const sent of [
    { ...all, path: '/v2/notes?version=v1' },
    { ...all, path: '/v1/notes?version=v2' },
    { ...all, headers: { ...all.headers, 'api-version': 'v2' } },
    { ...all, headers: { ...all.headers, accept: vendor('v2') } },
  ]) {
    const answer = await send(sent)
    assert.deepEqual([answer.status, answer.json.code], [400, 'VERSION_MISMATCH'])
    assert.match(answer.json.detail, /says v1/)
    assert.match(answer.json.detail, /says v2/)
    assert.equal(answer.headers['api-version'], undefined)
  }
  // Without a version in the path there is no such address, whatever else names one.
  assert.equal((await send({ path: '/notes', headers: { 'api-version': 'v1' } })).status, 404)
  assert.equal((await send({ path: '/v3/notes' })).status, 404)
})

it('VER-1: contradicting carriers are refused after 401 and 429, before 404 and 405', async (context) => {
  const declared = notebooks(two, ['path', 'header'])
  const { send } = await trialFor(context, { ...declared, limits: { rate: { caller: '3/hour' } } }, { rates: {} })
  const headers = { 'api-version': 'v2' }
  assert.equal((await send({ path: '/v1/notes', headers, as: null })).status, 401)
  assert.equal((await send({ path: '/v1/nothing', headers })).json.code, 'VERSION_MISMATCH')
  assert.equal((await send({ path: '/v9/notes', headers })).json.code, 'VERSION_MISMATCH')
  assert.equal((await send({ path: '/v1/notes', method: 'PUT', headers })).json.code, 'VERSION_MISMATCH')
  const limited = await send({ path: '/v1/notes', headers })
  assert.equal(limited.status, 429)
})

it('VER-1: unauthenticated callers learn of no version; health has none', async (context) => {
  const { send } = await trialFor(context, notebooks(two, ['header']))
  const tries: Record<string, string>[] = [{}, { 'api-version': 'v1' }, { 'api-version': 'v3' }]
  for (const headers of tries) {
    const stranger = await send({ path: '/notes', as: null, headers })
    assert.deepEqual(
      [stranger.status, stranger.headers['api-version'], stranger.headers.vary],
      [401, undefined, undefined],
    )
    const health = await send({ path: '/health/live', as: null, headers })
    assert.deepEqual([health.status, health.headers['api-version']], [200, undefined])
  }
  assert.equal((await send({ path: `/notes/${nowhere}` })).headers['api-version'], 'v2')
})

it('VER-1: two clients in different versions work at once, each with its own cursors and keys', async (context) => {
  const { send, make } = await trialFor(context, notebooks(two))
  for (const text of ['a', 'b', 'c']) await make('notes', { text })
  const walk = async (version: string) => {
    const texts: string[] = []
    let next = `/${version}/notes?sort=text&limit=1`
    while (next !== '') {
      const page = await send({ path: next })
      assert.deepEqual([page.status, page.headers['api-version']], [200, version])
      texts.push(page.json.data[0].text)
      next = /<([^>]*)>; rel="next"/.exec(page.headers.link ?? '')?.[1] ?? ''
    }
    return texts
  }
  assert.deepEqual(await Promise.all([walk('v1'), walk('v2')]), [
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ])
  const { next_cursor } = (await send({ path: '/v1/notes?limit=1' })).json.pagination
  const elsewhere = await send({ path: `/v2/notes?limit=1&cursor=${next_cursor}` })
  assert.deepEqual([elsewhere.status, elsewhere.json.code], [400, 'INVALID_CURSOR'])

  const headers = { 'idempotency-key': '"one"' }
  const post = (version: string) => send({ path: `/${version}/notes`, body: { text: 'd' }, headers })
  const [first, second, repeat] = [await post('v1'), await post('v2'), await post('v1')]
  assert.deepEqual([first.status, second.status, repeat.status], [201, 201, 201])
  assert.notEqual(first.json.id, second.json.id)
  assert.deepEqual([repeat.json.id, repeat.headers.location], [first.json.id, first.headers.location])
})

it('VER-1: pages of other origins may send the version and read it', async (context) => {
  const origin = 'https://app.example.com'
  const { send } = await trialFor(context, notebooks(two, ['header']), { cors: readCors([origin])! })
  const asked = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'api-version' }
  const preflight = await send({ method: 'OPTIONS', path: '/notes', as: null, headers: asked })
  assert.match(preflight.headers['access-control-allow-headers'] ?? '', /API-Version/)
  const answer = await send({ path: '/notes', headers: { origin, 'api-version': 'v1' } })
  const exposed = (answer.headers['access-control-expose-headers'] ?? '').split(', ')
  for (const name of ['API-Version', 'Deprecation', 'Sunset', 'Link']) assert.ok(exposed.includes(name), name)
  assert.equal(answer.headers.vary, 'Accept, Accept-Encoding, API-Version, Origin')
})

it('VER-1: the file of an export has its own media type, even if a media type names the version', async (context) => {
  const { send, make, app } = await trialFor(context, notebooks(two, ['media-type']))
  await make('notes', { text: 'a' })
  const accept = `${vendor('v1')}, application/json;q=0.5`
  const body = { collection: 'notes', format: 'json' }
  const asked = await send({ path: '/exports', body, headers: { accept } })
  assert.deepEqual([asked.status, asked.headers['content-type']], [202, vendor('v1')])
  await app.runner.idle()
  const file = await send({ path: `/exports/${asked.json.job_id}/content`, headers: { accept } })
  const said = [file.status, file.headers['api-version'], file.headers['content-type']]
  assert.deepEqual(said, [200, 'v1', 'application/json'])
})

it('VER-1: createApp() serves the versions and carriers of a declaration', async () => {
  const seen: unknown[] = []
  const app = createApp(notebooks(two, ['query']), {
    database: (await newDatabase({ memory: true })).address,
    observe: (each) => void (each.kind === 'request' && seen.push(each.version?.name, each.route)),
  })
  const readBody = async () => new Uint8Array()
  await app.respond({ method: 'GET', target: '/notes?version=v1', headers: {}, secure: true, address: '', readBody })
  assert.deepEqual(seen, ['v1', '/notes'])
  await app.close()
})
