/** Verdicts on servers that make other choices than ours: what they keep is not held against them, nor guessed. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from '../client/client.ts'
import { served } from '../client/served.fixture.ts'
import { bareCollection, type CollectionProfile, type Profile, usualNames } from '../profile/profile.ts'
import { check } from '../run/check.ts'
import type { JsonObject } from '../values/json.ts'
import { cases } from './cases.ts'
import { isAlike } from './methods/writes.ts'

/** How a server of things differs from a plain one. */
interface Manner {
  /** Answers a request in a manner of its own; `undefined` leaves it to the plain server. */
  readonly answer?: (method: string, url: string, body: string, accept: string) => Reply | undefined
  /** A record after PATCH. */
  readonly patched?: (old: JsonObject, sent: JsonObject) => JsonObject
  /** Values of members that a creation omits. */
  readonly defaults?: JsonObject
  readonly collection?: Partial<CollectionProfile>
  /** The pointer of a record in the body of a request. */
  readonly envelope?: string
}

interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly location?: string
}

const things: CollectionProfile = {
  ...bareCollection('things'),
  operations: ['list', 'create', 'read', 'update', 'delete'],
  ...{ example: { name: 'a', size: 1 }, required: ['name'], change: { name: 'b', size: 2 } },
}

/** The verdicts of some cases on a server that keeps things in memory and lists them in an array. */
async function verdictsOn(
  context: TestContext,
  ids: readonly string[],
  { answer, patched, defaults, collection, envelope = '' }: Manner,
) {
  const all = new Map<number, JsonObject>()
  let last = 0
  const plain = (method: string, path: string, text: string): Reply => {
    const id = Number(path.split('/').at(-1))
    if (path === '/things' && ['GET', 'HEAD'].includes(method)) return { status: 200, body: [...all.values()] }
    if (path === '/things' && method === 'POST') {
      const thing = { ...defaults, ...(JSON.parse(text) as JsonObject), id: ++last }
      all.set(last, thing)
      return { status: 201, body: thing }
    }
    const old = all.get(id)
    if (old === undefined) return { status: 404, body: {} }
    if (method === 'DELETE') return { status: all.delete(id) ? 204 : 404 }
    if (method === 'PATCH') {
      const sent = JSON.parse(text) as JsonObject
      all.set(id, { ...(patched?.(old, sent) ?? { ...old, ...sent }), id })
    }
    if (method === 'PUT') all.set(id, { ...defaults, ...(JSON.parse(text) as JsonObject), id })
    return { status: 200, body: all.get(id) }
  }
  const origin = await served(context, ({ method = '', url = '', headers }, response, text) => {
    const path = url.split('?')[0] ?? ''
    const { status, body, location } = answer?.(method, url, text, headers.accept ?? '') ?? plain(method, path, text)
    response.writeHead(status, { 'Content-Type': 'application/json', ...(location && { Location: location }) })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  })
  const client = new Client()
  context.after(() => client.close())
  const names = { ...usualNames, items: '', body: envelope }
  const profile: Profile = { base: origin, collections: [{ ...things, ...collection }], names, open: [] }
  const wanted = new Set(ids)
  for (const { id, after = [] } of cases.toReversed()) if (wanted.has(id)) for (const each of after) wanted.add(each)
  const chosen = cases.filter(({ id }) => wanted.has(id))
  const { rules } = await check({ profile, client, credential: [], cases: chosen })
  const found = rules.flatMap((each) => each.cases).map(({ id, verdict }) => [id, verdict] as const)
  return Object.fromEntries(found.filter(([id]) => ids.includes(id)))
}

const refusal = (...members: readonly string[]): Reply => ({
  status: 422,
  body: {
    error: { statusCode: 422, code: 'INVALID', message: 'No.', details: members.map((each) => `no ${each}`) },
  },
})

test('a 406 needs no body of JSON', async (context) => {
  const verdicts = await verdictsOn(context, ['ERR-5/accept'], {
    answer: (_, __, ___, accept) => (accept === 'application/x-no-such' ? { status: 406 } : undefined),
  })
  assert.deepEqual(verdicts, { 'ERR-5/accept': 'holds' })
})

test('unknown members may be refused with 422, and listed anywhere in the error', async (context) => {
  const ids = ['RES-9/unknown-in-post', 'RES-9/each-unknown', 'RES-7/errors', 'RES-7/lists']
  const verdicts = await verdictsOn(context, ids, {
    answer(method, _, text) {
      if (method !== 'POST') return undefined
      const unknown = Object.keys(JSON.parse(text)).filter((each) => !['name', 'size'].includes(each))
      return unknown.length > 0 || text === '{}' ? refusal(...unknown) : undefined
    },
  })
  assert.deepEqual(verdicts, {
    'RES-9/unknown-in-post': 'holds',
    'RES-9/each-unknown': 'holds',
    // The members of an error in an envelope count, and an array has no other members.
    'RES-7/errors': 'advice',
    'RES-7/lists': 'not applicable',
  })
})

test('errors of validation with code, message and path have their places', async (context) => {
  const errors = ['name', 'size'].map((each) => ({ path: `/${each}`, code: 'type', message: 'wrong' }))
  const verdicts = await verdictsOn(context, ['ERR-3/places'], {
    collection: { invalid: { name: 1, size: 'much' } },
    answer: (method, _, text) =>
      method === 'POST' && text.includes('much') ? { status: 422, body: { error: { details: errors } } } : undefined,
  })
  assert.deepEqual(verdicts, { 'ERR-3/places': 'holds' })
})

test('a server that answers every HEAD and OPTIONS with 404 shows nothing about unknown paths', async (context) => {
  const ids = ['HED-1/missing', 'HED-1/deleted', 'OPT-1/missing']
  const answer = (method: string) => (['HEAD', 'OPTIONS'].includes(method) ? { status: 404 } : undefined)
  const expected = Object.fromEntries(ids.map((id) => [id, 'not applicable']))
  assert.deepEqual(await verdictsOn(context, ids, { answer }), expected)
})

test('nothing is at an address with an extension at which the server fails', async (context) => {
  const verdicts = await verdictsOn(context, ['RES-3/extensions'], {
    answer: (_, path) => (path.endsWith('.json') ? { status: 500 } : undefined),
  })
  assert.deepEqual(verdicts, { 'RES-3/extensions': 'holds' })
})

test('a change omits a member, so that a PATCH that replaces the record is found', async (context) => {
  const verdicts = await verdictsOn(context, ['MET-4/others'], { patched: (_, sent) => ({ size: 0, ...sent }) })
  assert.deepEqual(verdicts, { 'MET-4/others': 'fails' })
})

test('JSON Patch is tried without a member that may be left out', async (context) => {
  const verdicts = await verdictsOn(context, ['MET-4/json-patch', 'MET-4/json-patch-test'], {
    collection: { change: { name: 'b' } },
    answer: (_, __, text) => (text.includes('"test"') ? { status: 409 } : undefined),
    patched: (old, sent) => (Array.isArray(sent) ? { ...old, name: sent[0].value } : { ...old, ...sent }),
  })
  assert.deepEqual(verdicts, { 'MET-4/json-patch': 'holds', 'MET-4/json-patch-test': 'holds' })
})

test('JSON Patch finds the members of a record in its envelope', async (context) => {
  const sent: unknown[] = []
  await verdictsOn(context, ['MET-4/json-patch'], {
    envelope: '/data',
    collection: { change: { name: 'b' } },
    answer: (method, _, text) => {
      if (method === 'PATCH' && text.startsWith('[')) sent.push(JSON.parse(text))
      return undefined
    },
  })
  assert.deepEqual(sent, [[{ op: 'replace', path: '/data/name', value: 'b' }]])
})

test('an If-Modified-Since that is no date must be ignored (RFC 9110 section 13.1.3)', () => {
  assert.equal(cases.find(({ id }) => id === 'CON-4/no-date')?.level, undefined)
})

test('a member with a default shows nothing about members without a value', async (context) => {
  const verdicts = await verdictsOn(context, ['RES-8/empty'], {
    collection: { optional: { size: 1 } },
    defaults: { size: 0 },
  })
  assert.deepEqual(verdicts, { 'RES-8/empty': 'not applicable' })
})

test('pages by number are tried with the parameter that the server has for their size', async (context) => {
  const asked: string[] = []
  const verdicts = await verdictsOn(context, ['PAG-7/far', 'PAG-1/zero'], {
    collection: { pages: ['page'], query: { per_page: 'page_size' } },
    answer: (_, url) => {
      asked.push(url)
      return undefined
    },
  })
  assert.ok(asked.includes('/things?page_size=0'), asked.join(' '))
  assert.ok(asked.includes('/things?page=1000000000&page_size=2'))
  assert.deepEqual(verdicts, { 'PAG-7/far': 'holds', 'PAG-1/zero': 'advice' })
})

test('a deletion that loses to a concurrent one may be answered 409', async (context) => {
  const deletions = new Map<string, number>()
  const verdicts = await verdictsOn(context, ['DEL-3/at-once'], {
    answer(method, url) {
      if (method !== 'DELETE') return undefined
      const count = (deletions.get(url) ?? 0) + 1
      deletions.set(url, count)
      return count > 3 ? { status: 409 } : undefined
    },
  })
  assert.deepEqual(verdicts, { 'DEL-3/at-once': 'holds' })
})

test('the response to POST is compared with GET wherever the identifier is', async (context) => {
  const verdicts = await verdictsOn(context, ['RES-8/created'], {
    collection: { id: 'key' },
    answer(method, url, text) {
      if (method === 'POST') return { status: 201, body: JSON.parse(text), location: '/things/7' }
      return method === 'GET' && url === '/things/7' ? { status: 200, body: { name: 'a', key: 7 } } : undefined
    },
  })
  assert.deepEqual(verdicts, { 'RES-8/created': 'advice' })
})

test('a PATCH that never returns a body shows nothing about Prefer', async (context) => {
  const answer = (method: string) => (method === 'PATCH' ? { status: 204 } : undefined)
  const verdicts = await verdictsOn(context, ['MET-8/minimal', 'MET-8/applied'], { answer })
  assert.deepEqual(verdicts, { 'MET-8/minimal': 'not applicable', 'MET-8/applied': 'not applicable' })
})

test('lists that change between two requests do not show that a parameter has an effect', async (context) => {
  let count = 0
  const answer = (method: string, url: string) =>
    method === 'GET' && /^\/things(?:\?|$)/.test(url)
      ? { status: 200, body: Array.from({ length: 5 + ++count }, (_, index) => ({ id: index, name: 'a' })) }
      : undefined
  const verdicts = await verdictsOn(context, ['QRY-8/fields', 'QRY-8/sort'], {
    answer,
    collection: { sorts: ['name'] },
  })
  assert.deepEqual(verdicts, { 'QRY-8/fields': 'not applicable', 'QRY-8/sort': 'not applicable' })
})

test('an order is shown by a member that differs, and by records without identifiers', async (context) => {
  const listing =
    (items: readonly { readonly id?: number; readonly size: number }[]) => (method: string, url: string) => {
      const [, sign, member] = /\/things\?sort=(-?)(\w+)$/.exec(url) ?? []
      if (method !== 'GET' || member === undefined) return undefined
      if (member !== 'id' && member !== 'size') return { status: 400 }
      const rising = items.toSorted((left, right) => (left[member] ?? 0) - (right[member] ?? 0))
      const falling = items.toSorted((left, right) => (right[member] ?? 0) - (left[member] ?? 0))
      return { status: 200, body: sign === '-' ? falling : rising }
    }
  const equal = [1, 2, 3].map((id) => ({ id, size: 4 }))
  const bare = [1, 2, 3].map((size) => ({ size }))
  for (const [items, sorts] of [[equal, ['size', 'id']] as const, [bare, ['size']] as const]) {
    const verdicts = await verdictsOn(context, ['QRY-8/sort'], { answer: listing(items), collection: { sorts } })
    assert.deepEqual(verdicts, { 'QRY-8/sort': 'holds' })
  }
})

test('HEAD of a record is no control: a careless server deletes the record', async (context) => {
  const deleted = new Set<string>()
  const verdicts = await verdictsOn(context, ['HED-1/deleted'], {
    answer(method, url) {
      if (method === 'HEAD' && url !== '/things') deleted.add(url)
      return deleted.has(url) ? { status: 404 } : undefined
    },
  })
  assert.deepEqual(verdicts, { 'HED-1/deleted': 'holds' })
})

test('a change is a PUT of the whole record with the change in it, where there is no PATCH', async (context) => {
  const sent: unknown[] = []
  const verdicts = await verdictsOn(context, ['RES-5/created-kept'], {
    collection: { operations: ['list', 'create', 'read', 'replace', 'delete'] },
    defaults: { created_at: new Date().toISOString() },
    answer: (method, _, text) => {
      if (method === 'PUT') sent.push(JSON.parse(text))
      return undefined
    },
  })
  assert.equal(verdicts['RES-5/created-kept'], 'holds')
  assert.ok(sent.length > 0)
  for (const each of sent) assert.deepEqual(each, { name: 'b', size: 2 })
})

test('what is right of its own kind is neither a failure nor held by chance', async (context) => {
  const redirected = await verdictsOn(context, ['RES-10/slash-deletes-nothing'], {
    answer: (method, url) => (method === 'DELETE' && url.endsWith('/') ? { status: 307 } : undefined),
  })
  assert.deepEqual(redirected, { 'RES-10/slash-deletes-nothing': 'holds' })
  const headless = await verdictsOn(context, ['MET-1/head'], {
    answer: (method) => (method === 'HEAD' ? { status: 405 } : undefined),
  })
  assert.deepEqual(headless, { 'MET-1/head': 'not applicable' })
  assert.deepEqual(await verdictsOn(context, ['CON-2/last-modified'], {}), { 'CON-2/last-modified': 'not applicable' })
  const dated = await verdictsOn(context, ['CON-2/last-modified'], { defaults: { updatedAt: '2026-01-01T00:00:00Z' } })
  assert.deepEqual(dated, { 'CON-2/last-modified': 'fails' })
  const creating = await verdictsOn(context, ['DEL-1/put'], {
    collection: { operations: ['list', 'create', 'read', 'replace', 'delete'] },
    answer: (method, url) =>
      method === 'PUT' ? { status: 200, body: { id: Number(url.split('/').at(-1)) } } : undefined,
  })
  assert.equal(creating['DEL-1/put'], 'not applicable')
})

test('without a filter a list is judged by the records with the mark, if it shows new ones', async (context) => {
  const others = [{ id: 901, name: 'x' }]
  const collection = { label: 'name' }
  assert.equal((await verdictsOn(context, ['DEL-1/list'], { collection }))['DEL-1/list'], 'holds')
  const first = await verdictsOn(context, ['DEL-1/list'], {
    collection,
    answer: (method, url) =>
      method === 'GET' && /^\/things(?:\?|$)/.test(url) ? { status: 200, body: others } : undefined,
  })
  assert.equal(first['DEL-1/list'], 'not applicable')
  const kept: JsonObject[] = []
  const keeping = await verdictsOn(context, ['DEL-1/list'], {
    collection,
    answer(method, url, text) {
      if (method === 'POST') kept.push({ ...(JSON.parse(text) as JsonObject), id: kept.length + 1 })
      return method === 'GET' && /^\/things(?:\?|$)/.test(url) ? { status: 200, body: [...others, ...kept] } : undefined
    },
  })
  assert.equal(keeping['DEL-1/list'], 'fails')
})

test('numbers and instants in another form are kept, others are not', () => {
  const pairs: readonly (readonly [left: unknown, right: unknown, isKept: boolean])[] = [
    [0, '0.00', true],
    ['1.5', '1.50', true],
    [7, '7', true],
    ['2026-01-01T12:00:00Z', '2026-01-01T13:00:00+01:00', true],
    [0, '', false],
    [1, '1.01', false],
    ['a', 'b', false],
    [true, 'true', false],
    [{ id: 7, name: 'a' }, 7, true],
    [{ id: 8, name: 'a' }, 7, false],
    [{ name: 'a' }, null, false],
  ]
  for (const [left, right, isKept] of pairs) assert.equal(isAlike(left, right), isKept, `${left} ${right}`)
})

test('a record is found in an envelope of its own name, and a list in one that only its pages have', async (context) => {
  const kept = new Map<string, JsonObject>()
  const inEnvelope: Manner = {
    answer(method, url, text) {
      const id = url.split('/')[2] ?? ''
      if (method === 'POST') {
        kept.set('7', { ...(JSON.parse(text) as JsonObject), id: 7 })
        return { status: 201, body: { thing: kept.get('7') }, location: '/things/7' }
      }
      return method === 'GET' && kept.has(id) ? { status: 200, body: { thing: kept.get(id) } } : undefined
    },
  }
  assert.deepEqual(await verdictsOn(context, ['MET-2/kept', 'RES-4/id'], inEnvelope), {
    'MET-2/kept': 'holds',
    'RES-4/id': 'holds',
  })
  const deeper: Manner = {
    answer: (method, url) =>
      method === 'GET' && /\d$/.test(url)
        ? { status: 200, body: { a: { b: { id: 1, name: 'a', size: 1 } } } }
        : undefined,
  }
  assert.deepEqual(await verdictsOn(context, ['MET-2/kept'], deeper), { 'MET-2/kept': 'not set up' })
  const pages: Manner = {
    collection: { pages: ['page'] },
    answer(method, url) {
      if (method !== 'GET' || !url.startsWith('/things?')) return undefined
      const { searchParams } = new URL(url, 'http://x')
      const size = Number(searchParams.get('per_page') ?? 4)
      const all = Array.from({ length: 8 }, (_, index) => ({ id: index + 1, name: `n${index}` }))
      const first = (Number(searchParams.get('page') ?? 1) - 1) * size
      return { status: 200, body: { data: all.slice(first, first + size), count: 8 } }
    },
  }
  assert.deepEqual(await verdictsOn(context, ['PAG-2/page-joined'], pages), { 'PAG-2/page-joined': 'holds' })
})

test('all errors may be listed for values that break constraints, where types are read one by one', async (context) => {
  const schemas = { name: { type: 'string', maxLength: 3 }, size: { type: 'integer', minimum: 1 } }
  const collection = { schemas, invalid: { name: { no: 'text' }, size: 'no number' } }
  const refusing = (listsAll: boolean): Manner => ({
    collection,
    answer(method, _, text) {
      if (method !== 'POST') return undefined
      const { name, size } = JSON.parse(text) as { name?: unknown; size?: unknown }
      if (typeof name === 'object') return { status: 400, body: { message: 'name is no text' } }
      const isWrong = String(name ?? 'long').length > 3 || (typeof size === 'number' && size < 1)
      if (!isWrong) return undefined
      return { status: 422, body: { message: listsAll ? '2 errors:\nname\nsize\n' : '1 error:\nname\n' } }
    },
  })
  assert.deepEqual(await verdictsOn(context, ['ERR-3/creation'], refusing(true)), { 'ERR-3/creation': 'holds' })
  assert.deepEqual(await verdictsOn(context, ['ERR-3/creation'], refusing(false)), { 'ERR-3/creation': 'advice' })
})

test('what a server sets by itself is kept or cleared, and a deletion may leave 410', async (context) => {
  const replaced = (defaults: JsonObject): Manner => ({
    defaults,
    collection: { operations: ['list', 'create', 'read', 'replace', 'delete'], optional: { size: 1 } },
    answer: (method) => (method === 'PUT' ? { status: 200, body: { id: 1 } } : undefined),
  })
  // PUT changes nothing: a number that a body leaves out is 0, and still 1.
  assert.deepEqual(await verdictsOn(context, ['MET-3/clears'], replaced({ size: 0 })), { 'MET-3/clears': 'fails' })
  const gone = new Set<string>()
  const verdicts = await verdictsOn(context, ['DEL-1/gone'], {
    answer(method, url) {
      if (method === 'DELETE') gone.add(url)
      return method === 'GET' && gone.has(url) ? { status: 410 } : undefined
    },
  })
  assert.deepEqual(verdicts, { 'DEL-1/gone': 'holds' })
})
