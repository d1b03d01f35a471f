/** CON: caching and conditions. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { counters, samples, studio } from '../declarations.ts'
import { places, type Received, type Sent, scenarios, type Trial, trialFor } from '../harness.ts'

const nowhere = '01a1fde6-1be6-7f7d-a2ef-25a8bed79d72'

it('CON-1: an authenticated read is private and asked about again, everything else is no-store', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  const etag = String((await send({ path })).headers.etag)
  const reads: Sent[] = [
    { path },
    { method: 'HEAD', path },
    { path: `${path}?fields=name` },
    { path: '/v1/projects' },
    { path: `${path}/tasks` },
    { path: '/v1/openapi.json' },
    { path, headers: { 'if-none-match': etag } },
  ]
  for (const sent of reads) {
    const { status, headers } = await send(sent)
    assert.ok(status === 200 || status === 304)
    assert.equal(headers['cache-control'], 'private, no-cache', sent.path)
  }
  const others: Sent[] = [
    { path: '/v1/projects', body: { name: 'Two' } },
    { method: 'PATCH', path, body: { name: 'Zwei' } },
    { method: 'PUT', path, body: { name: 'Trois' } },
    { path: '/health/live', as: null },
    { path: '/health/ready', as: null },
    { path: '/v1/nothing' },
    { path, as: null },
    { path, as: 'bob' },
    { path: '/v1/projects?colour=1' },
    { method: 'POST', path },
    { method: 'PUT', path, body: {} },
    { method: 'DELETE', path, headers: { 'if-match': '"x"' } },
    { method: 'DELETE', path },
    { path },
  ]
  for (const sent of others) {
    const { status, headers } = await send(sent)
    assert.equal(headers['cache-control'], 'no-store', `${sent.method} ${sent.path} ${status}`)
  }
})

it('CON-1: a declared max-age stands on reads, and only there', async (context) => {
  const users = { ...studio.resources.users, maxAge: 60 }
  const { send, make } = await trialFor(context, { ...studio, resources: { ...studio.resources, users } })
  const { id } = await make('users', { name: 'Ann', email: 'a@example.org' })
  for (const path of ['/v1/users', `/v1/users/${id}`]) {
    assert.equal((await send({ path })).headers['cache-control'], 'private, max-age=60')
  }
  const patched = await send({ method: 'PATCH', path: `/v1/users/${id}`, body: {} })
  assert.equal(patched.headers['cache-control'], 'no-store')
})

it('CON-2: a record has a strong tag and a date, a list a tag', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const made = await make('projects', { name: 'One' })
  const read = await send({ path: `/v1/projects/${made.id}` })
  assert.match(String(read.headers.etag), /^"[^"]+"$/)
  assert.equal(Date.parse(String(read.headers['last-modified'])), Math.floor(Date.parse(made.updated_at) / 1000) * 1000)
  assert.match(String(read.headers['last-modified']), / GMT$/)
  const list = await send({ path: '/v1/projects' })
  assert.match(String(list.headers.etag), /^(W\/)?"[^"]+"$/)
})

it('CON-2: the tag changes exactly when the record does', async (context) => {
  const { send, make, clock } = await trialFor(context, samples)
  const one = await make('samples', { title: 'One', list: [1], payload: { a: 1 }, pin: 'p' })
  const other = await make('samples', { title: 'Other' })
  const path = `/v1/samples/${one.id}`
  const tag = async () => (await send({ path })).headers.etag
  const seen = new Set([await tag()])
  const writes: [boolean, Sent][] = [
    [false, { method: 'PATCH', path, body: {} }],
    [false, { method: 'PATCH', path, body: { title: 'One' } }],
    [false, { method: 'PATCH', path, body: { list: [1], payload: {}, count: null, pin: 'p' } }],
    [false, { method: 'PUT', path, body: { title: 'One', list: [1], payload: { a: 1 }, pin: 'p' } }],
    [true, { method: 'PATCH', path, body: { title: 'one' } }],
    [true, { method: 'PATCH', path, body: { title: 'One' } }],
    [true, { method: 'PATCH', path, body: { payload: { b: 2 } } }],
    [true, { method: 'PATCH', path, body: { list: [1, null] } }],
    [true, { method: 'PATCH', path, body: { flag: false } }],
    [true, { method: 'PATCH', path, body: { flag: null } }],
    [true, { method: 'PATCH', path, body: { code: '' } }],
    [true, { method: 'PATCH', path, body: { pin: 'q' } }],
    [true, { method: 'PATCH', path, body: { owner_id: 'ann' } }],
    [true, { method: 'PUT', path, body: { title: 'One' } }],
    [false, { method: 'PATCH', path, body: { title: '' } }],
    [false, { method: 'PATCH', path: `/v1/samples/${other.id}`, body: { title: 'Else' } }],
    [false, { method: 'DELETE', path: `/v1/samples/${other.id}` }],
    [false, { method: 'HEAD', path }],
  ]
  for (const [changes, sent] of writes) {
    clock.ahead += 2_000
    const before = await send({ path })
    const answer = await send(sent)
    const after = await send({ path })
    assert.equal(after.headers.etag !== before.headers.etag, changes, JSON.stringify(sent.body))
    assert.equal(after.json.updated_at !== before.json.updated_at, changes, JSON.stringify(sent.body))
    assert.equal(after.headers['last-modified'] !== before.headers['last-modified'], changes, JSON.stringify(sent.body))
    if (sent.path === path && answer.status === 200) assert.equal(answer.headers.etag, after.headers.etag)
    if (changes) assert.ok(!seen.has(after.headers.etag), 'a tag never comes again')
    seen.add(after.headers.etag)
  }
})

it('CON-2: the tag of a list changes with what is in it', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const project = await make('projects', { name: 'One' })
  const tag = async (query = '') => (await send({ path: `/v1/projects${query}` })).headers.etag
  const first = await tag()
  assert.equal(await tag(), first)
  assert.notEqual(await tag('?visibility=public'), first)
  await send({ method: 'PATCH', path: `/v1/projects/${project.id}`, body: { name: 'Uno' } })
  const second = await tag()
  assert.notEqual(second, first)
  await make('projects', { name: 'Two' })
  const third = await tag()
  assert.notEqual(third, second)
  await send({ method: 'DELETE', path: `/v1/projects/${project.id}` })
  assert.notEqual(await tag(), third)
})

/** What a guarded write answers, by its condition. `tag`, `date` stand for the record's own. */
const conditions: readonly [string, Record<string, string>, boolean][] = [
  ['the tag', { 'if-match': 'tag' }, true],
  ['a star', { 'if-match': '*' }, true],
  ['a list that has it', { 'if-match': '"a", tag, "b"' }, true],
  ['a list with empty elements', { 'if-match': ', tag,,' }, true],
  ['another tag', { 'if-match': '"other"' }, false],
  ['a list without it', { 'if-match': '"a", "b"' }, false],
  ['the tag, weak', { 'if-match': 'W/tag' }, false],
  ['the tag without its last character', { 'if-match': 'short' }, false],
  ['the tag in a list of weak ones', { 'if-match': 'W/"a", W/tag' }, false],
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
    it(`CON-3: ${method} with ${name} ${passes ? 'goes through' : 'is a 412 that changes nothing'}`, async (context) => {
      const { send, make } = await trialFor(context, studio)
      const { id } = await make('projects', { name: 'One' })
      const path = `/v1/projects/${id}`
      const before = await send({ path })
      const tag = String(before.headers.etag)
      const put = (text: string) =>
        text
          .replace('tag', tag)
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
  it(`CON-3: If-Match ${JSON.stringify(value)} is a malformed condition, never none`, async (context) => {
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

it('CON-3: a condition on what is not there is a 404', async (context) => {
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

it('CON-5: of 32 writers who hold the same tag exactly one wins, each round', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c' })
  const path = `/v1/counters/${id}`
  for (let round = 0; round < 10; round++) {
    const tag = String((await send({ path })).headers.etag)
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, writer) => {
        const count = 1 + round * 100 + writer
        const method = writer % 2 === 0 ? 'PUT' : 'PATCH'
        return send({ method, path, headers: { 'if-match': tag }, body: { name: 'c', count }, as: 'root' })
      }),
    )
    const won = answers.filter(({ status }) => status === 200)
    assert.equal(won.length, 1, answers.map(({ status }) => status).join())
    assert.equal(answers.filter(({ status }) => status === 412).length, 31)
    assert.deepEqual((await send({ path })).json, won[0]?.json)
  }
})

it('CON-5: 32 writers who read, add one and write under If-Match lose no update', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c' })
  const path = `/v1/counters/${id}`
  const addOne = async (writer: number) => {
    for (let tries = 1; ; tries++) {
      assert.ok(tries < 1_000, 'somebody makes progress')
      const { json, headers } = await send({ path })
      // Not everybody reads and writes in the same turn.
      if (writer % 3 === 0) await new Promise((resolve) => setTimeout(resolve, writer % 5))
      const body = { count: json.count + 1 }
      const answer = await send({ method: 'PATCH', path, headers: { 'if-match': String(headers.etag) }, body })
      if (answer.status === 200) return
      assert.equal(answer.status, 412, answer.text)
    }
  }
  const rounds = 3
  await Promise.all(
    Array.from({ length: 32 }, async (_, writer) => {
      for (let round = 0; round < rounds; round++) await addOne(writer)
    }),
  )
  assert.equal((await send({ path })).json.count, 32 * rounds)
})

it('CON-5: of 32 deletions and changes under one tag exactly one wins', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  for (let round = 0; round < 5; round++) {
    const { id } = await make('counters', { name: `c${round}` })
    const path = `/v1/counters/${id}`
    const headers = { 'if-match': String((await send({ path })).headers.etag) }
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, writer) =>
        writer % 2 === round % 2
          ? send({ method: 'DELETE', path, headers })
          : send({ method: 'PATCH', path, headers, body: { count: writer } }),
      ),
    )
    const [won, ...more] = answers.filter(({ status }) => status < 300)
    assert.ok(won !== undefined && more.length === 0, answers.map(({ status }) => status).join())
    for (const { status } of answers) assert.ok([200, 204, 404, 412].includes(status))
    assert.equal((await send({ path })).status, won.status === 204 ? 404 : 200)
  }
})

it('CON-5: of 32 creations with one unique value exactly one wins', async (context) => {
  const { send } = await trialFor(context, studio)
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => send({ path: '/v1/projects', body: { name: 'One' } })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(31).fill(409)])
  assert.equal((await send({ path: '/v1/projects' })).json.pagination.total_count, 1)
})

it('CON-5: without a condition the last writer wins, whole', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c' })
  const path = `/v1/counters/${id}`
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, writer) =>
      send({ method: 'PUT', path, body: { name: `c${writer}`, count: writer } }),
    ),
  )
  assert.ok(answers.every(({ status }) => status === 200))
  const { json } = await send({ path })
  assert.equal(json.name, `c${json.count}`)
})

/** The refusals that one changing request can meet, in their order. Each says how to deserve it. */
interface Attempt {
  method: string
  path: string
  id: string
  query: string[]
  headers: Record<string, string>
  as: string | null
  secure: boolean
  fields: Record<string, unknown>
  text: string | undefined
  large: boolean
}

const order: readonly [code: string, status: number, deserve: (attempt: Attempt) => void][] = [
  ['URL_TOO_LONG', 414, (attempt) => attempt.query.push(`q=${'x'.repeat(8_000)}`)],
  ['HTTPS_REQUIRED', 403, (attempt) => void (attempt.secure = false)],
  ['CREDENTIAL_IN_QUERY', 400, (attempt) => attempt.query.push('access_token=abc')],
  ['UNAUTHENTICATED', 401, (attempt) => void (attempt.as = null)],
  ['NOT_FOUND', 404, (attempt) => void (attempt.path = '/v1/customers')],
  ['NOT_ACCEPTABLE', 406, (attempt) => void (attempt.headers.accept = 'text/csv')],
  ['BODY_TOO_LARGE', 413, (attempt) => void (attempt.large = true)],
  ['UNSUPPORTED_MEDIA_TYPE', 415, (attempt) => void (attempt.headers['content-type'] = 'text/plain')],
  ['MALFORMED_JSON', 400, (attempt) => void (attempt.text = '{"name":')],
  ['INVALID_QUERY', 400, (attempt) => attempt.query.push('colour=red')],
  // An unknown caller has no permissions to lack: this fault gives way to UNAUTHENTICATED.
  ['FORBIDDEN', 403, (attempt) => void (attempt.as = attempt.as === null ? null : 'ann')],
  ['NOT_FOUND', 404, (attempt) => void (attempt.id = nowhere)],
  ['PRECONDITION_FAILED', 412, (attempt) => void (attempt.headers['if-match'] = '"other"')],
  ['VALIDATION_FAILED', 400, (attempt) => void (attempt.fields.name = '')],
  ['DUPLICATE_VALUE', 409, (attempt) => void (attempt.fields.email = 'taken@example.org')],
]

/** Sends a request with some of the faults, in whatever order they are made. */
async function attempt({ send, make }: Trial, method: string, faults: readonly number[]): Promise<Received> {
  const { id } = await make('users', { name: 'Ann', email: 'ann@example.org' })
  await make('users', { name: 'Bob', email: 'taken@example.org' })
  const made: Attempt = {
    ...{
      method,
      path: '/v1/users',
      id,
      query: [],
      headers: {},
      as: 'root',
      secure: true,
      text: undefined,
      large: false,
    },
    fields: { name: 'Eve', email: 'eve@example.org' },
  }
  for (const fault of faults) order[fault]?.[2](made)
  const text = made.text ?? JSON.stringify(made.fields)
  return send({
    ...{ method, headers: made.headers, as: made.as, secure: made.secure },
    path: `${made.path}/${made.id}${made.query.length > 0 ? `?${made.query.join('&')}` : ''}`,
    body: made.large ? text + ' '.repeat(1_048_576) : text,
  })
}

for (const method of ['PUT', 'PATCH']) {
  for (const [first, [code, status]] of order.entries()) {
    const name = `${status} ${code}`
    it(`CON-6: ${method} that deserves ${name} and any later refusals gets ${name}`, async (context) => {
      const alone = await attempt(await trialFor(context, studio, { memory: true, requireHttps: true }), method, [
        first,
      ])
      assert.deepEqual([alone.status, alone.json.code], [status, code])
      for (let second = first + 1; second < order.length; second++) {
        const current = await trialFor(context, studio, { memory: true, requireHttps: true })
        const both = await attempt(current, method, [first, second])
        assert.deepEqual([both.status, both.json.code], [status, code], `beside ${order[second]?.[0]}`)
      }
      const rest = order.map((_, index) => index).filter((index) => index >= first)
      const all = await attempt(await trialFor(context, studio, { memory: true, requireHttps: true }), method, rest)
      assert.deepEqual([all.status, all.json.code], [status, code], 'with every later fault at once')
    })
  }
}

/** Another's private project, of whose state nothing may be told. */
const foreign =
  (sent: Omit<Sent, 'path'>) =>
  async ({ make }: Trial): Promise<Sent> => {
    await make('projects', { name: 'Taken' }, 'bob')
    const { id } = await make('projects', { name: 'Private' }, 'bob')
    return { path: `/v1/projects/${id}`, as: 'ann', ...sent }
  }

const refuses = (name: string, send: ReturnType<typeof foreign>, status: number, code: string) => ({
  ...{ name, rule: 'CON-6', send, status, code },
})

scenarios(studio, [
  refuses(
    '403 of the record comes before 412',
    foreign({ method: 'DELETE', headers: { 'if-match': '"x"' } }),
    403,
    'FORBIDDEN',
  ),
  refuses(
    '403 of the record comes before 400',
    foreign({ method: 'PATCH', body: { name: 5, colour: 1 } }),
    403,
    'FORBIDDEN',
  ),
  refuses(
    '403 of the record comes before 409',
    foreign({ method: 'PATCH', body: { name: 'Taken' } }),
    403,
    'FORBIDDEN',
  ),
  refuses(
    '400 of the body comes before 403 of the record',
    foreign({ method: 'PATCH', body: '{' }),
    400,
    'MALFORMED_JSON',
  ),
  refuses(
    '400 of the query comes before 403 of the record',
    async (trial) => {
      const sent = await foreign({ method: 'DELETE' })(trial)
      return { ...sent, path: `${sent.path}?force=1` }
    },
    400,
    'INVALID_QUERY',
  ),
  refuses(
    '405 comes before 406, and before anything of the body',
    foreign({ method: 'POST', body: '{', headers: { accept: 'text/csv' } }),
    405,
    'METHOD_NOT_ALLOWED',
  ),
  refuses(
    'a malformed path comes before 405',
    async () => ({ method: 'PUT', path: '/v1/%zz', body: {} }),
    400,
    'MALFORMED_URL',
  ),
  refuses('401 comes before a malformed path', async () => ({ path: '/v1/%zz', as: null }), 401, 'UNAUTHENTICATED'),
  refuses(
    '401 comes before 405',
    async () => ({ method: 'DELETE', path: '/v1/projects', as: 'nobody' }),
    401,
    'UNAUTHENTICATED',
  ),
  refuses(
    'a malformed condition comes before 404 of the record',
    async () => ({ method: 'DELETE', path: `/v1/projects/${nowhere}`, headers: { 'if-match': '' } }),
    400,
    'MALFORMED_CONDITION',
  ),
  refuses(
    '404 of the parent comes before validation',
    async () => ({ path: `/v1/projects/${nowhere}/tasks`, body: { title: 5 } }),
    404,
    'NOT_FOUND',
  ),
  refuses(
    '403 of the parent comes before validation',
    async (trial) => {
      const sent = await foreign({ body: { title: 5 } })(trial)
      return { ...sent, path: `${sent.path}/tasks` }
    },
    403,
    'FORBIDDEN',
  ),
  refuses(
    '403 of a creation comes before validation',
    async () => ({ path: '/v1/users', body: { name: 5 }, as: 'ann' }),
    403,
    'FORBIDDEN',
  ),
  refuses(
    '403 through a reference comes before validation',
    async ({ make }) => {
      const { id } = await make('projects', { name: 'One' }, 'bob')
      return { path: '/v1/tasks', body: { title: '', project_id: id, colour: 1 }, as: 'ann' }
    },
    403,
    'FORBIDDEN',
  ),
  {
    ...refuses(
      'where the permission hangs on a reference that is missing, that is said',
      async () => ({ path: '/v1/tasks', body: {}, as: 'ann' }),
      400,
      'VALIDATION_FAILED',
    ),
    errors: ['REQUIRED /title', 'REQUIRED /project_id'],
  },
  {
    ...refuses(
      'where the permission hangs on a reference to nothing, that is said',
      async () => ({ path: '/v1/tasks', body: { title: 'x', project_id: nowhere } }),
      400,
      'VALIDATION_FAILED',
    ),
    errors: ['INVALID_REFERENCE /project_id'],
  },
])

it('CON-8: the tag is the same with and without fields, and any of them guards a write', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  const reads: Sent[] = [
    { path },
    { path: `${path}?fields=name` },
    { path: `${path}?fields=id` },
    { method: 'HEAD', path },
  ]
  for (const [index, read] of reads.entries()) {
    const tags = new Set(await Promise.all(reads.map(async (each) => (await send(each)).headers.etag)))
    assert.equal(tags.size, 1)
    const headers = { 'if-match': String((await send(read)).headers.etag) }
    const patched = await send({ method: 'PATCH', path, headers, body: { name: `Name ${index}` } })
    assert.equal(patched.status, 200)
    const again = { 'if-match': String(patched.headers.etag) }
    assert.equal((await send({ method: 'PUT', path, headers: again, body: { name: `Nom ${index}` } })).status, 200)
  }
})

it('CON-8: the tag of a creation guards the first change', async (context) => {
  const { send } = await trialFor(context, studio)
  const made = await send({ path: '/v1/projects', body: { name: 'One' } })
  const headers = { 'if-match': String(made.headers.etag) }
  const path = String(made.headers.location)
  assert.equal((await send({ method: 'PATCH', path, headers, body: { name: 'Two' } })).status, 200)
  assert.equal((await send({ method: 'DELETE', path, headers })).status, 412)
})

it('CON-8: a record of another shape has another tag', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const users = {
    ...studio.resources.users,
    fields: { ...studio.resources.users.fields, phone: { type: 'string', optional: true } },
  }
  const other = await trialFor(context, { ...studio, resources: { ...studio.resources, users } })
  const body = { name: 'Ann', email: 'a@example.org' }
  const one = await send({ path: `/v1/users/${(await make('users', body)).id}` })
  const two = await other.send({ path: `/v1/users/${(await other.make('users', body)).id}` })
  assert.notEqual(one.headers.etag, two.headers.etag)
})

it('CON-8: Vary names what a read depends on', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const etag = String((await send({ path: `/v1/projects/${id}` })).headers.etag)
  for (const sent of [
    { path: '/v1/projects' },
    { path: `/v1/projects/${id}` },
    { path: '/v1/openapi.json' },
    { path: `/v1/projects/${id}`, headers: { 'if-none-match': etag } },
  ]) {
    assert.equal((await send(sent)).headers.vary, 'Accept')
  }
})
