/** BLK-3: changes by filter in one transaction. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { studio } from '../declarations.ts'
import { desk, notes } from '../declarations-changes.ts'
import { places, type Received, type Sent, type Trial, trialFor } from '../harness.ts'
import { fill, nowhere } from '../steps.ts'

const change = (path: string, body: unknown, more: Partial<Sent> = {}): Sent => ({
  ...{ method: 'PATCH', path: `/v2/${path}`, body },
  ...more,
})
const prefer = (value: string): Partial<Sent> => ({ headers: { prefer: value } })
const told = (answer: Received) => [answer.status, answer.json?.code, ...places(answer)]

async function started(context: TestContext): Promise<Trial & { readonly ids: readonly string[] }> {
  const current = await trialFor(context, desk)
  const bodies = Array.from({ length: 6 }, (_, index) => ({ title: `Ticket ${index}`, priority: index }))
  return { ...current, ids: await fill(current, 'tickets', bodies) }
}

const tickets = async ({ send }: Trial) => (await send({ path: '/v2/tickets?limit=100' })).json.data

it('BLK-3: every match is changed, and the response has their number', async (context) => {
  const current = await started(context)
  const { send, ids } = current
  const before = await tickets(current)
  const tag = (await send({ path: `/v2/tickets/${ids[0]}` })).headers.etag
  const answer = await send(change('tickets?priority[lt]=4', { status: 'open', title: 'Renamed', labels: { a: 1 } }))
  assert.deepEqual([answer.status, answer.json], [200, { updated_count: 4 }], answer.text)
  const after = await tickets(current)
  for (const each of after.slice(0, 4)) {
    assert.deepEqual([each.status, each.title, each.labels, each.changed_by], ['open', 'Renamed', { a: 1 }, 'root'])
    assert.ok(each.updated_at >= each.created_at)
  }
  assert.deepEqual(after.slice(4), before.slice(4))
  assert.notEqual((await send({ path: `/v2/tickets/${ids[0]}` })).headers.etag, tag)
  assert.equal((await send({ path: '/v2/tickets?q=renamed' })).json.pagination.total_count, 4)
  // Those that have the values already count, and stay as they are.
  const again = await send(change('tickets?priority[lte]=4', { status: 'open', labels: { b: null } }))
  assert.deepEqual([again.status, again.json], [200, { updated_count: 5 }])
  assert.deepEqual((await tickets(current)).slice(0, 4), after.slice(0, 4))
  const none = await send(change('tickets?priority=9', { status: 'open' }))
  assert.deepEqual([none.status, none.json], [200, { updated_count: 0 }])
  const minimal = await send(change('tickets?priority=5', { status: 'open' }, prefer('return=minimal')))
  assert.deepEqual([minimal.status, minimal.text, minimal.headers['preference-applied']], [204, '', 'return=minimal'])
})

it('BLK-3: without a filter, or with an invalid request, nothing is changed', async (context) => {
  const current = await started(context)
  const { send } = current
  const before = await tickets(current)
  const isOpen = { status: 'open' }
  const merge = { headers: { 'content-type': 'application/merge-patch+json' } }
  const patch = { headers: { 'content-type': 'application/json-patch+json' } }
  const refused: [Sent, ...(string | number)[]][] = [
    [change('tickets', isOpen), 400, 'FILTER_REQUIRED'],
    [change('tickets?where={}', isOpen), 400, 'FILTER_REQUIRED'],
    [change(`tickets?where=${encodeURIComponent('{"and":[{}]}')}`, isOpen), 400, 'FILTER_REQUIRED'],
    [change('tickets?limit=1', isOpen), 400, 'INVALID_QUERY', 'UNKNOWN_PARAMETER limit'],
    [change('tickets?q=ticket', isOpen), 400, 'INVALID_QUERY', 'UNKNOWN_PARAMETER q'],
    [change('tickets?colour=red', isOpen), 400, 'INVALID_QUERY', 'UNKNOWN_PARAMETER colour'],
    [change('tickets?priority=1', []), 400, 'VALIDATION_FAILED', 'INVALID_TYPE'],
    [change('tickets?priority=1', [isOpen], merge), 400, 'VALIDATION_FAILED', 'INVALID_TYPE'],
    [change('tickets?priority=1', [{ op: 'remove', path: '/labels' }], patch), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [change('tickets?priority=1', '{"status"'), 400, 'MALFORMED_JSON'],
    [change('tickets?priority=1', isOpen, { headers: { 'if-match': '"1"' } }), 412, 'PRECONDITION_FAILED', 'PRECONDITION_FAILED If-Match'],
  ] // biome-ignore format: one request on each line
  for (const [sent, ...expected] of refused) assert.deepEqual(told(await send(sent)), expected, sent.path)
  const unsupported = await send(change('tickets?priority=1', [], patch))
  assert.equal(unsupported.headers['accept-patch'], 'application/json, application/merge-patch+json')
  // Mistakes do not depend on whether anything matches.
  const wrong = { priority: 10, colour: 'red', id: 'x', title: null, changed_by: 'me' }
  const mistakes = [
    'UNKNOWN_FIELD /colour',
    'READ_ONLY /id',
    'REQUIRED /title',
    'TOO_LARGE /priority',
    'READ_ONLY /changed_by',
  ]
  for (const query of ['priority[lt]=3', 'priority=9']) {
    const answer = await send(change(`tickets?${query}`, wrong))
    assert.deepEqual(
      [answer.status, answer.json.code, places(answer).sort()],
      [400, 'VALIDATION_FAILED', mistakes.sort()],
    )
  }
  assert.deepEqual(await tickets(current), before)
  assert.equal((await send(change('tickets?priority=1', isOpen, { headers: { 'if-match': '*' } }))).status, 200)
})

it('BLK-3: works only if it is declared', async (context) => {
  const { send } = await trialFor(context, studio)
  const answer = await send({ method: 'PATCH', path: '/v1/projects?visibility=private', body: { name: 'x' } })
  assert.deepEqual([answer.status, answer.json.code], [405, 'UPDATE_BY_FILTER_NOT_DECLARED'])
  const whole = await send({ method: 'PATCH', path: '/v1/projects', body: { name: 'x' } })
  assert.deepEqual([whole.status, whole.json.code], [405, 'UPDATE_BY_FILTER_NOT_DECLARED'])
  assert.match(whole.json.detail, /and PATCH with an array of records\.$/)
  const nested = await send({ method: 'PATCH', path: `/v1/projects/${nowhere}/tasks?done=true`, body: {} })
  assert.deepEqual([nested.status, nested.json.code], [405, 'METHOD_NOT_ALLOWED'])
  const own = await started(context)
  const options = await own.send({ method: 'OPTIONS', path: '/v2/tickets' })
  assert.equal(options.headers['allow'], 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS')
  assert.equal(options.headers['accept-patch'], 'application/json, application/merge-patch+json')
})

it('BLK-3: if more records match than max-affected, none is changed, and the number is reported', async (context) => {
  const current = await started(context)
  const { send } = current
  const before = await tickets(current)
  const path = 'tickets?priority[gte]=2'
  const answer = await send(change(path, { status: 'open' }, prefer('handling=strict, max-affected=3')))
  assert.deepEqual(told(answer), [409, 'TOO_MANY_AFFECTED', 'TOO_MANY_AFFECTED Prefer'])
  assert.equal(answer.json.errors[0].count, 4)
  assert.match(answer.json.errors[0].message, /none was changed/)
  assert.deepEqual(await tickets(current), before)
  const done = await send(change(path, { status: 'open' }, prefer('handling=strict, max-affected=4')))
  assert.deepEqual([done.status, done.json], [200, { updated_count: 4 }])
  assert.equal(done.headers['preference-applied'], 'handling=strict, max-affected=4')
})

it('BLK-3: all matches are changed or none, and conflicts name their records', async (context) => {
  const current = await started(context)
  const { send, ids } = current
  await send(change('tickets?priority[lt]=2', { status: 'open' }))
  await send(change('tickets?priority=0', { status: 'done' }))
  const before = await tickets(current)
  const answer = await send(change('tickets?priority[lte]=3', { status: 'open', title: 'No' }))
  assert.deepEqual(told(answer), [409, 'INVALID_TRANSITION', 'INVALID_TRANSITION /status'])
  assert.match(answer.json.errors[0].message, new RegExp(`tickets ${ids[0]}.*"?done"?`))
  assert.deepEqual(await tickets(current), before)
  // A value that is unique: two matches cannot both have it.
  const unique = await send(change('tickets?priority[lte]=1', { code: 'A' }))
  assert.deepEqual(told(unique), [409, 'DUPLICATE_VALUE', 'DUPLICATE_VALUE /code'])
  assert.match(unique.json.errors[0].message, new RegExp(String(ids[1])))
  assert.equal((await send(change('tickets?priority=1', { code: 'A' }))).status, 200)
  assert.deepEqual((await send(change('tickets?priority=1', { code: 'A' }))).json, { updated_count: 1 })
  // A rule that each of two fulfils alone, and both together do not.
  const urgent = await send(change('tickets?priority[in]=4,5', { priority: 9 }))
  assert.deepEqual(told(urgent), [409, 'TOO_URGENT', 'TOO_URGENT'])
  assert.deepEqual((await send(change('tickets?priority=4', { priority: 9 }))).json, { updated_count: 1 })
  const missing = await send(change('tickets?priority=5', { queue_id: ids[0] }))
  assert.deepEqual(told(missing), [400, 'VALIDATION_FAILED', 'INVALID_REFERENCE /queue_id'])
  const fixed = await send(change('tickets?priority[gte]=5', { origin: 'mail' }))
  assert.deepEqual(told(fixed), [400, 'VALIDATION_FAILED', 'IMMUTABLE /origin'])
})

it('BLK-3: an older version names collection and fields in its way', async (context) => {
  const current = await started(context)
  const { send, ids } = current
  const answer = await send({ method: 'PATCH', path: '/v1/cases?level[lte]=1', body: { level: 7 } })
  assert.deepEqual([answer.status, answer.json], [200, { updated_count: 2 }], answer.text)
  assert.deepEqual(
    (await tickets(current)).map(({ priority }: { priority: number }) => priority),
    [7, 7, 2, 3, 4, 5],
  )
  const refused = await send({ method: 'PATCH', path: '/v1/cases?level=2', body: { level: 10, priority: 1 } })
  assert.deepEqual(told(refused), [400, 'VALIDATION_FAILED', 'UNKNOWN_FIELD /priority', 'TOO_LARGE /level'])
  await send(change('tickets?priority=2', { status: 'open' }))
  const conflict = await send({ method: 'PATCH', path: '/v1/cases?level=2', body: { status: 'new' } })
  assert.match(conflict.json.errors[0].message, new RegExp(`^cases ${ids[2]}`))
})

it('BLK-3: each change is an event of its record', async (context) => {
  const current = await started(context)
  const { send, ids } = current
  await send(change('tickets?priority[gte]=4', { status: 'open' }))
  await send(change('tickets?priority[gte]=4', { status: 'open' }))
  const events = (await send({ path: '/v2/events?kind=updated' })).json.data
  assert.deepEqual(
    events.map(({ record }: { record: string }) => record),
    ids.slice(4),
  )
})

it('BLK-3: concerns only records that the caller may read and change', async (context) => {
  const current = await trialFor(context, notes)
  const { send, make } = current
  for (const [as, more] of [
    ['ann', {}],
    ['ann', { is_open: false }],
    ['bob', {}],
    ['bob', { is_open: false }],
  ] as const) {
    await make('notes', { text: 'same', remark: as, ...more }, as)
  }
  const set = (query: string, body: object, as: string, value = ''): Sent => ({
    ...{ method: 'PATCH', path: `/v1/notes?${query}`, body, as },
    headers: value === '' ? {} : { prefer: value },
  })
  // Ann may change her own notes, and reads those of others that are open.
  const count = await send(set('text=same', { text: 'x' }, 'ann', 'max-affected=0'))
  assert.equal(count.json.errors[0].count, 2)
  assert.deepEqual((await send(set('text=same', { text: 'Ann' }, 'ann'))).json, { updated_count: 2 })
  const texts = (await send({ path: '/v1/notes' })).json.data.map(({ text }: { text: string }) => text)
  assert.deepEqual(texts, ['Ann', 'Ann', 'same', 'same'])
  // A record that would be out of reach afterwards is not given away (AUT-8).
  const given = await send(set('text=Ann', { is_open: true, kept: false }, 'ann'))
  assert.deepEqual(told(given), [403, 'FORBIDDEN'])
  // A hidden value selects nothing, and a field of others is not written.
  assert.deepEqual((await send(set('remark=ann', { text: 'x' }, 'bob'))).json, { updated_count: 0 })
  const written = await send(set('text=Ann', { rank: 1 }, 'ann'))
  assert.deepEqual(told(written), [403, 'FORBIDDEN', 'FORBIDDEN /rank'])
  assert.deepEqual((await send(set('text=Ann', { rank: 1 }, 'root'))).json, { updated_count: 2 })
  assert.equal((await send(set('text=same', { text: 'x' }, 'eve'))).json.updated_count, 0)
})

it('BLK-3: functions decide about each record', async (context) => {
  const current = await trialFor(context, notes)
  const { send, make } = current
  for (const text of ['a', 'b', 'c']) await make('notes', { text })
  const answer = await send({ method: 'PATCH', path: '/v1/notes?is_open=true', body: { rank: 3 } })
  assert.deepEqual(answer.json, { updated_count: 3 }, answer.text)
  const all = (await send({ path: '/v1/notes' })).json.data
  assert.deepEqual(
    all.map(({ label }: { label: string }) => label),
    ['a 3', 'b 3', 'c 3'],
  )
  const refused = await send({ method: 'PATCH', path: '/v1/notes?is_open=true', body: { rank: 13 } })
  assert.deepEqual(told(refused), [409, 'UNLUCKY', 'UNLUCKY /rank', 'UNLUCKY /rank', 'UNLUCKY /rank'])
  assert.deepEqual((await send({ path: '/v1/notes' })).json.data, all)
})
