/** VER-3, VER-4: deprecation and sunset of versions, with a clock that the tests move. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { collectMetrics } from '../../../packages/server/src/server/observe/metrics.ts'
import { day, dayFromNow, notebooks } from '../../declarations-versions.ts'
import { type Received, trialFor } from '../../harness.ts'
import { nowhere } from '../../steps.ts'

const guide = 'https://example.org/v2'
const deprecated = dayFromNow(10)
const sunset = dayFromNow(20)
const ending = { deprecated, sunset, guide }
const sunsetField = new Date(`${sunset}T00:00:00Z`).toUTCString()
const deprecationField = `@${Date.parse(`${deprecated}T00:00:00Z`) / 1000}`
const vendor = (version: string) => `application/vnd.notebooks.${version}+json`

/** What an answer says of the end of its version. */
function endOf({ headers }: Received): unknown[] {
  return [headers['api-version'], headers['deprecation'], headers['sunset']]
}

it('VER-3: a version works before and after its deprecation, and announces it', async (context) => {
  const { send, make, clock } = await trialFor(context, notebooks({ v1: ending, v2: {} }))
  const { id } = await make('notes', { text: 'a' })
  const ask = () => send({ path: `/v1/notes/${id}` })
  // A sunset is said as soon as it is known: that is what the field is for.
  const before = await ask()
  assert.deepEqual([before.status, ...endOf(before)], [200, 'v1', undefined, sunsetField])
  const successor = `</v2/notes/${id}>; rel="successor-version"`
  assert.equal(before.headers.link, `<${guide}>; rel="sunset", ${successor}`)
  clock.ahead = 11 * day
  const after = await ask()
  assert.deepEqual([after.status, ...endOf(after)], [200, 'v1', deprecationField, sunsetField])
  assert.equal(after.headers.link, `<${guide}>; rel="deprecation", <${guide}>; rel="sunset", ${successor}`)
  assert.deepEqual(after.json, before.json)
  const current = await send({ path: `/v2/notes/${id}` })
  assert.deepEqual([...endOf(current), current.headers.link], ['v2', undefined, undefined, undefined])
})

it('VER-3: every response of a deprecated version announces the deprecation, errors too', async (context) => {
  const { send, make, clock } = await trialFor(context, notebooks({ v1: ending, v2: {} }))
  clock.ahead = 11 * day
  const { id } = await make('notes', { text: 'a' })
  const etag = (await send({ path: `/v1/notes/${id}` })).headers.etag ?? ''
  for (const [sent, status] of [
    [{ path: '/v1/notes', body: { text: 'b' } }, 201],
    [{ path: '/v1/notes', body: {} }, 400],
    [{ path: `/v1/notes/${nowhere}` }, 404],
    [{ path: '/v1/nothing' }, 404],
    [{ path: '/v1/notes', method: 'PUT', body: {} }, 405],
    [{ path: '/v1/notes', method: 'OPTIONS' }, 204],
    [{ path: `/v1/notes/${id}`, headers: { 'if-none-match': etag } }, 304],
    [{ path: `/v1/notes/${id}`, headers: { range: 'bytes=0-3' } }, 206],
    [{ path: '/v1/openapi.json' }, 200],
    [{ path: '/v1/jobs' }, 200],
    [{ path: `/v1/notes/${id}`, method: 'DELETE', headers: { prefer: 'respond-async' } }, 202],
  ] as const) {
    const answer = await send(sent)
    assert.deepEqual([answer.status, ...endOf(answer)], [status, 'v1', deprecationField, sunsetField], sent.path)
  }
  const list = await send({ path: '/v1/notes?sort=text' })
  assert.match(list.headers.link ?? '', /^<\/v1\/notes\?sort=text&limit=20>; rel="first", .*<\/v2\/notes>; rel="succ/)
  const stranger = await send({ path: '/v1/notes', as: null })
  assert.deepEqual([stranger.status, ...endOf(stranger)], [401, undefined, undefined, undefined])
})

it('VER-3: the OpenAPI document announces the deprecation from its date on, with another tag', async (context) => {
  const { send, clock } = await trialFor(context, notebooks({ v1: ending, v2: {} }))
  const before = await send({ path: '/v1/openapi.json' })
  assert.equal(before.json.paths['/notes'].get.deprecated, undefined)
  clock.ahead = 11 * day
  const headers = { 'if-none-match': before.headers.etag ?? '' }
  const after = await send({ path: '/v1/openapi.json', headers })
  assert.deepEqual([after.status, after.json.paths['/notes'].get.deprecated], [200, true])
  const current = await send({ path: '/v2/openapi.json' })
  assert.equal(current.json.paths['/notes'].get.deprecated, undefined)
})

it('VER-3: a deprecated version without a sunset has Deprecation only', async (context) => {
  const { send } = await trialFor(context, notebooks({ v1: { deprecated: '2020-01-01' }, v2: {} }))
  const answer = await send({ path: '/v1/notes' })
  assert.deepEqual(endOf(answer), ['v1', '@1577836800', undefined])
  assert.match(answer.headers.link ?? '', /rel="first", <\/v2\/notes>; rel="successor-version"$/)
})

it('VER-4: from its sunset on every request to a version gets 410, which names the successor and the guide', async (context) => {
  const { send, make, clock } = await trialFor(context, notebooks({ v1: ending, v2: {} }))
  const { id } = await make('notes', { text: 'a' })
  clock.ahead = Date.parse(`${sunset}T00:00:00Z`) - Date.now() - 30_000
  assert.equal((await send({ path: `/v1/notes/${id}` })).status, 200)
  clock.ahead += 60_000
  for (const sent of [
    { path: `/v1/notes/${id}` },
    { path: `/v1/notes/${id}`, method: 'HEAD' },
    { path: '/v1/notes', body: { text: 'b' } },
    { path: '/v1/notes', method: 'OPTIONS' },
    { path: '/v1/nothing' },
    { path: '/v1/openapi.json' },
    { path: '/v1/notes', method: 'PUT' },
  ]) {
    const answer = await send(sent)
    assert.deepEqual([answer.status, answer.json.code], [410, 'VERSION_RETIRED'], sent.path)
    assert.deepEqual(endOf(answer), ['v1', deprecationField, sunsetField])
    const successor = sent.path.replace('/v1', '/v2')
    assert.ok(
      answer.json.detail.includes(`${sunset}. Its successor is v2, at ${successor}. What to do is at ${guide}.`),
    )
    assert.ok(answer.headers.link?.includes(`<${guide}>; rel="deprecation"`))
    assert.ok(answer.headers.link?.endsWith(`<${successor}>; rel="successor-version"`))
  }
  assert.equal((await send({ path: `/v1/notes/${id}`, as: null })).status, 401)
  assert.equal((await send({ path: '/v2/notes' })).json.pagination.total_count, 1)
})

it('VER-4: if declared, it redirects to the same path, with the same method, body and query', async (context) => {
  const versions = { v1: { sunset, afterSunset: 'redirect' }, v2: {} } as const
  const { send, make, clock } = await trialFor(context, notebooks(versions))
  const { id } = await make('books', { name: 'a' })
  assert.equal((await send({ path: '/v1/books' })).status, 200)
  clock.ahead = 21 * day
  for (const [sent, location] of [
    [{ path: `/v1/books/${id}?fields=name` }, `/v2/books/${id}?fields=name`],
    [{ path: `/v1/books/${id}/pages?limit=1&sort=-text` }, `/v2/books/${id}/pages?limit=1&sort=-text`],
    [{ path: '/v1/books', body: { name: 'b' } }, '/v2/books'],
    [{ path: '/v1/openapi.json' }, '/v2/openapi.json'],
  ] as const) {
    const answer = await send(sent)
    assert.deepEqual([answer.status, answer.headers.location, answer.text], [308, location, ''])
    assert.equal(answer.headers['cache-control'], 'no-store')
    const method = 'body' in sent ? 'POST' : 'GET'
    assert.ok((await send({ ...sent, method, path: location })).status < 300)
  }
  for (const path of ['/v1/nothing', '/v1', '/v1//evil.example', '/v1/books/%zz/pages']) {
    const answer = await send({ path })
    assert.deepEqual([answer.status, answer.headers.location], [410, undefined], path)
  }
  assert.equal((await send({ path: `/v1/books/${id}`, as: null })).status, 401)
})

it('VER-4: the successor is the next version that is not retired', async (context) => {
  const versions = { v1: { sunset: dayFromNow(10) }, v2: { sunset: dayFromNow(20) }, v3: {} }
  const { send, clock } = await trialFor(context, notebooks(versions))
  const successor = async (path: string) => /<([^>]*)>; rel="succ/.exec((await send({ path })).headers.link ?? '')?.[1]
  assert.equal(await successor('/v1/notes'), '/v2/notes')
  clock.ahead = 11 * day
  assert.equal(await successor('/v1/notes'), '/v2/notes')
  clock.ahead = 21 * day
  assert.equal(await successor('/v1/notes'), '/v3/notes')
  assert.equal(await successor('/v2/notes'), '/v3/notes')
  assert.equal(await successor('/v3/notes'), undefined)
})

it('VER-4: a redirect changes the parameter if that is the carrier; a header field that names the version gets 410', async (context) => {
  const versions = { v1: { sunset: '2020-01-01', afterSunset: 'redirect', guide }, v2: {} } as const
  const { send } = await trialFor(context, notebooks(versions, ['query', 'header', 'media-type']))
  const answer = await send({ path: '/notes?sort=text&version=v1&limit=1' })
  assert.deepEqual([answer.status, answer.headers.location], [308, '/notes?version=v2&sort=text&limit=1'])
  assert.equal((await send({ path: answer.headers.location ?? '' })).status, 200)
  // Whoever follows a redirect sends the same header fields again.
  for (const [name, value] of [
    ['api-version', 'v1'],
    ['accept', vendor('v1')],
    ['content-type', vendor('v1')],
  ] as const) {
    const refused = await send({ path: '/notes', headers: { [name]: value } })
    assert.deepEqual([refused.status, refused.json.code], [410, 'VERSION_RETIRED'])
    assert.match(refused.headers.link ?? '', /<\/notes\?version=v2>; rel="successor-version"/)
  }
  assert.equal((await send({ path: '//evil.example/notes?version=v1' })).headers.location, undefined)
})

it('VER-4: a redirect from a path keeps no contradicting version in the query', async (context) => {
  const versions = { v1: { sunset: '2020-01-01', afterSunset: 'redirect' }, v2: {} } as const
  const { send } = await trialFor(context, notebooks(versions, ['path', 'query']))
  const answer = await send({ path: '/v1/notes?version=v1&sort=text' })
  assert.deepEqual([answer.status, answer.headers.location], [308, '/v2/notes?sort=text'])
})

it('VER-3: metrics report the callers of a version that will end, and the log has the version', async (context) => {
  const { send, seen } = await trialFor(context, notebooks({ v1: ending, v2: {} }))
  for (const as of ['ann', 'ann', 'bob', null]) await send({ path: '/v1/notes', as })
  await send({ path: '/v2/notes', as: 'ann' })
  await send({ path: '/v3/notes', as: 'ann' })
  await send({ path: '/health/live', as: null })
  const metrics = await collectMetrics()
  seen.forEach(metrics.observe)
  const lines = (await metrics.read()).split('\n').filter((line) => line.startsWith('resourced_version_requests_total'))
  assert.deepEqual(
    lines.sort(),
    [
      'resourced_version_requests_total{version="v1",caller="ann"} 2',
      'resourced_version_requests_total{version="v1",caller="bob"} 1',
      'resourced_version_requests_total{version="v1",caller=""} 1',
      'resourced_version_requests_total{version="v2",caller=""} 1',
    ].sort(),
  )
  const routes = seen.flatMap((each) => (each.kind === 'request' ? [[each.version?.name, each.route]] : []))
  assert.deepEqual(routes.slice(-4), [
    ['v1', '/v1/notes'], ['v2', '/v2/notes'], [undefined, undefined], [undefined, '/health/live'],
  ]) // biome-ignore format: a table
})

it('VER-1: routes of metrics have no version if the path has none', async (context) => {
  const { send, seen } = await trialFor(context, notebooks({ v1: {}, v2: {} }, ['header']))
  await send({ path: `/notes/${nowhere}`, headers: { 'api-version': 'v1' } })
  const last = seen.at(-1)
  assert.ok(last?.kind === 'request')
  assert.deepEqual([last.version?.name, last.route], ['v1', '/notes/{id}'])
})
