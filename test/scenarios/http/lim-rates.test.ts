/** LIM: rate limits, and the header fields that report them. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { RateDeclaration } from 'resourced-contract/model/limits'
import { studio } from '../../declarations.ts'
import { type Received, type Sent, type Trial, trialFor } from '../../harness.ts'
import { nowhere } from '../../steps.ts'

const declared = { rateLimit: 'declared' } as const
const second = 1_000

/** An interface with rates, its clock standing still unless it is moved. */
async function limited(
  context: TestContext,
  rate: RateDeclaration,
  resources: InterfaceDeclaration['resources'] = studio.resources,
): Promise<Trial & { wait(seconds: number): void }> {
  context.mock.timers.reset()
  context.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  const declaration = { ...studio, resources, limits: { rate } }
  const current = await trialFor(context, declaration, { memory: true, rates: declared })
  return {
    ...current,
    wait(seconds) {
      current.clock.ahead += seconds * second
    },
  }
}

/** The statuses of so many equal requests. */
async function statuses({ send }: Trial, times: number, sent: Sent): Promise<number[]> {
  const found: number[] = []
  for (let time = 0; time < times; time++) found.push((await send(sent)).status)
  return found
}

const retryAfter = ({ headers }: Received) => Number(headers['retry-after'])
const projects = { path: '/v1/projects' }

describe('a caller', () => {
  for (const [rate, window] of [
    ['3/second', 1],
    ['3/minute', 60],
    ['3/hour', 3_600],
  ] as const) {
    it(`LIM-1: with ${rate} exactly three requests succeed, and Retry-After is exact to the second`, async (context) => {
      const trial = await limited(context, { caller: rate })
      assert.deepEqual(await statuses(trial, 3, projects), [200, 200, 200])
      const refused = await trial.send(projects)
      assert.deepEqual([refused.status, refused.json.code], [429, 'RATE_LIMITED'])
      assert.equal(retryAfter(refused), window)
      trial.clock.ahead += window * second - 1
      const late = await trial.send(projects)
      assert.deepEqual([late.status, retryAfter(late)], [429, 1], 'a millisecond before')
      trial.clock.ahead++
      assert.deepEqual(await statuses(trial, 4, projects), [200, 200, 200, 429])
    })
  }

  it('LIM-1: Retry-After is exact at any time in the window', async (context) => {
    const trial = await limited(context, { caller: '1/minute' })
    for (const passed of [0, 0.001, 0.999, 1, 29.5, 59, 59.999]) {
      assert.equal((await trial.send(projects)).status, 200)
      trial.wait(passed)
      const refused = await trial.send(projects)
      assert.equal(refused.status, 429)
      trial.wait(retryAfter(refused))
      assert.equal((await trial.send(projects)).status, 200, `after ${passed} s, and those of Retry-After`)
      trial.wait(60)
    }
  })

  it('LIM-1: has a limit independent of other callers', async (context) => {
    const trial = await limited(context, { caller: '1/minute' })
    assert.deepEqual(await statuses(trial, 2, projects), [200, 429])
    assert.deepEqual(await statuses(trial, 2, { ...projects, as: 'bob' }), [200, 429])
  })

  it('LIM-1: of 500 concurrent requests exactly the limit succeeds', async (context) => {
    const trial = await limited(context, { caller: '100/minute' })
    const answers = await Promise.all(Array.from({ length: 500 }, () => trial.send(projects)))
    assert.equal(answers.filter(({ status }) => status === 200).length, 100)
    assert.equal(answers.filter(({ status }) => status === 429).length, 400)
  })

  it('LIM-1: has 600 requests a minute by default', async (context) => {
    const trial = await limited(context, {})
    const found = await statuses(trial, 601, { path: '/v1/nothing' })
    assert.deepEqual([found.indexOf(429), found.length], [600, 601])
  })

  it('LIM-1: a rejected request changes nothing', async (context) => {
    const trial = await limited(context, { caller: '1/minute' })
    await trial.send(projects)
    assert.equal((await trial.send({ ...projects, body: { name: 'One' } })).status, 429)
    trial.wait(60)
    assert.equal((await trial.send(projects)).json.pagination.total_count, 0)
  })
})

describe('the order of errors', () => {
  it('CON-6, LIM-1: 429 comes before errors in the path and the rest of the request', async (context) => {
    const trial = await limited(context, { caller: '1/minute' })
    await trial.send(projects)
    for (const sent of [
      { path: '/v1/nothing' },
      { path: '/v1/%zz' },
      { path: '/v1/projects', method: 'PATCH', body: '{' },
      { path: '/v1/projects?colour=red' },
      { path: `/v1/projects/${nowhere}` },
      { path: '/v1/projects', headers: { accept: 'text/csv' } },
      { path: '/v1/users', body: { name: 1 } },
      { path: '*', method: 'OPTIONS' },
    ]) {
      assert.equal((await trial.send(sent)).status, 429, JSON.stringify(sent))
    }
  })

  it('CON-6, LIM-1: 429 comes after 414, 403 for plain HTTP, 400 for a secret in the query, and 401', async (context) => {
    const limits = { rate: { caller: '1/minute', address: '60/minute' } }
    const trial = await trialFor(context, { ...studio, limits }, { memory: true, requireHttps: true, rates: declared })
    await trial.send(projects)
    const found = []
    for (const sent of [
      { path: '/v1/projects?q='.padEnd(8_001, 'x') },
      { ...projects, secure: false },
      { path: '/v1/projects?access_token=x' },
      { ...projects, as: null },
      projects,
    ]) {
      found.push((await trial.send(sent)).status)
    }
    assert.deepEqual(found, [414, 403, 400, 401, 429])
  })

  it('LIM-1: health checks and preflights are never limited', async (context) => {
    const limits = { rate: { caller: '1/minute', address: '1/minute' } }
    const cors = { origins: new Set(['https://app.example.org']), credentials: false }
    const trial = await trialFor(context, { ...studio, limits }, { memory: true, rates: declared, cors })
    await statuses(trial, 3, { ...projects, as: null })
    await statuses(trial, 3, projects)
    const headers = { origin: 'https://app.example.org', 'access-control-request-method': 'GET' }
    for (const [sent, status] of [
      [{ path: '/health/live', as: null }, 200],
      [{ path: '/health/ready', as: null }, 200],
      [{ ...projects, method: 'OPTIONS', headers, as: null }, 204],
    ] as const) {
      assert.deepEqual(await statuses(trial, 5, sent), Array(5).fill(status))
    }
  })
})

describe('an address', () => {
  it('LIM-1: with too many failed authentications gets 429, with an exact Retry-After', async (context) => {
    const trial = await limited(context, { address: '3/minute' })
    const wrong = { ...projects, as: 'nobody', from: '192.0.2.1' }
    assert.deepEqual(await statuses(trial, 3, wrong), [401, 401, 401])
    trial.wait(10)
    const refused = await trial.send(wrong)
    assert.deepEqual([refused.status, refused.json.code, retryAfter(refused)], [429, 'RATE_LIMITED', 50])
    trial.clock.ahead += 50 * second - 1
    assert.equal((await trial.send({ ...wrong, as: null })).status, 429, 'without a credential too')
    trial.clock.ahead++
    assert.deepEqual(await statuses(trial, 4, wrong), [401, 401, 401, 429])
  })

  it('LIM-1: can still use a valid credential, and successful authentications do not count', async (context) => {
    const trial = await limited(context, { address: '2/minute' })
    assert.deepEqual(await statuses(trial, 5, projects), Array(5).fill(200))
    assert.deepEqual(await statuses(trial, 3, { ...projects, as: null }), [401, 401, 429])
    assert.equal((await trial.send(projects)).status, 200)
  })

  it('LIM-1: affects no other address, except those in the same IPv6 network', async (context) => {
    const trial = await limited(context, { address: '1/minute' })
    const found = []
    for (const from of ['192.0.2.1', '192.0.2.2', '::ffff:192.0.2.2', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'])
      found.push((await trial.send({ ...projects, as: null, from })).status)
    assert.deepEqual(found, [401, 401, 429, 401, 429, 401])
  })

  it('LIM-1: of 500 concurrent failures exactly the limit gets 401', async (context) => {
    const trial = await limited(context, { address: '60/minute' })
    const answers = await Promise.all(Array.from({ length: 500 }, () => trial.send({ ...projects, as: 'nobody' })))
    assert.equal(answers.filter(({ status }) => status === 401).length, 60)
  })

  it('LIM-1: that is unknown is one address for all clients without one', async (context) => {
    const trial = await limited(context, { address: '1/minute' })
    assert.deepEqual(await statuses(trial, 3, { ...projects, as: null, from: '' }), [401, 429, 429])
    assert.equal((await trial.send({ ...projects, from: '' })).status, 200, 'a good credential passes')
    assert.equal((await trial.send({ ...projects, as: null, from: '192.0.2.1' })).status, 401)
  })
})

describe('an action', () => {
  const creation = (name: string): Sent => ({ ...projects, body: { name } })

  it('LIM-1: has a limit in addition to that of the caller', async (context) => {
    const trial = await limited(context, { caller: '5/minute', actions: { 'projects.create': '2/second' } })
    const found = []
    for (const name of ['one', 'two', 'three']) found.push(await trial.send(creation(name)))
    assert.deepEqual(
      found.map(({ status }) => status),
      [201, 201, 429],
    )
    assert.equal(retryAfter(found[2] as Received), 1)
    assert.match(found[2]?.json.detail, /projects\.create/)
    assert.deepEqual(await statuses(trial, 4, projects), [200, 200, 200, 429], 'what was refused did not count')
  })

  it('LIM-1: Retry-After covers all exceeded limits', async (context) => {
    const trial = await limited(context, { caller: '1/minute', actions: { 'projects.create': '1/second' } })
    await trial.send(creation('one'))
    const refused = await trial.send(creation('two'))
    assert.equal(retryAfter(refused), 60)
    trial.wait(60)
    assert.equal((await trial.send(creation('two'))).status, 201)
  })

  const counted: readonly [name: string, first: readonly [string, number], ...others: readonly [string, number][]][] = [
    ['*.create', ['POST /v1/projects', 429], ['POST /v1/users', 429], ['GET /v1/projects', 200]],
    ['projects.*', ['POST /v1/projects', 429], ['GET /v1/projects', 429], ['GET /v1/users', 200]],
    ['projects.read', ['GET /v1/projects', 429], ['HEAD /v1/projects', 429], ['QUERY /v1/projects', 429]],
    ['projects.update', ['PATCH /v1/projects/x', 429], ['PUT /v1/projects/x', 429], ['GET /v1/projects/x', 404]],
    ['projects.delete', ['DELETE /v1/projects/x', 429], ['POST /v1/projects/bulk-delete', 429], ['GET /v1/jobs', 200]],
    ['projects.restore', ['POST /v1/projects/x/restore', 429], ['OPTIONS /v1/projects', 204], ['GET /v1/jobs', 200]],
    ['*.read', ['GET /v1/projects', 429], ['GET /v1/openapi.json', 200], ['GET /v1/jobs', 200]],
  ]
  for (const [name, [first], ...others] of counted) {
    it(`LIM-1: ${name} is counted where ${first}, and not elsewhere`, async (context) => {
      const trial = await limited(context, { actions: { [name]: '1/hour' } })
      const send = async (line: string) => {
        const [method = '', path = ''] = line.split(' ')
        const body = ['POST', 'PATCH', 'PUT', 'QUERY'].includes(method) ? {} : undefined
        return (await trial.send({ method, path, body })).status
      }
      assert.notEqual(await send(first), 429)
      assert.equal(await send(first), 429)
      for (const [line, status] of others) assert.equal(await send(line), status, line)
    })
  }
})

describe('header fields', () => {
  it('LIM-2: every authenticated response has the remaining requests', async (context) => {
    const trial = await limited(context, { caller: '9/minute' })
    const said = async (sent: Sent) => {
      const { status, headers } = await trial.send(sent)
      return [status, headers['ratelimit-policy'], headers['ratelimit']]
    }
    const policy = '"caller";q=9;w=60'
    assert.deepEqual(await said(projects), [200, policy, '"caller";r=8;t=60'])
    trial.wait(1.5)
    assert.deepEqual(await said({ ...projects, body: { name: 'One' } }), [201, policy, '"caller";r=7;t=59'])
    const { etag = '' } = (await trial.send(projects)).headers
    assert.deepEqual(await said({ ...projects, headers: { 'if-none-match': etag } }), [
      304,
      policy,
      '"caller";r=5;t=59',
    ])
    assert.deepEqual(await said({ path: '/v1/nothing' }), [404, policy, '"caller";r=4;t=59'])
    assert.deepEqual(await said({ ...projects, method: 'DELETE' }), [405, policy, '"caller";r=3;t=59'])
    assert.deepEqual(await said({ ...projects, body: '{' }), [400, policy, '"caller";r=2;t=59'])
    assert.deepEqual(await said({ ...projects, method: 'OPTIONS' }), [204, policy, '"caller";r=1;t=59'])
    assert.deepEqual(await said({ path: '/v1/openapi.json' }), [200, policy, '"caller";r=0;t=59'])
    assert.deepEqual(await said(projects), [429, policy, '"caller";r=0;t=59'])
    assert.deepEqual(await said({ ...projects, as: 'ann' }), [200, policy, '"caller";r=8;t=60'])
  })

  it('LIM-2: no more than r requests succeed within t seconds, and more afterwards', async (context) => {
    const trial = await limited(context, { caller: '3/minute' })
    await trial.send(projects)
    trial.wait(20.4)
    const { headers } = await trial.send(projects)
    const [, r, t] = /^"caller";r=(\d+);t=(\d+)$/.exec(headers['ratelimit'] ?? '') ?? []
    const window = Number(t) * second
    trial.clock.ahead += window - second
    assert.deepEqual(await statuses(trial, Number(r) + 1, projects), [200, 429])
    const refused = await trial.send(projects)
    assert.equal(
      refused.headers['ratelimit'],
      `"caller";r=0;t=${retryAfter(refused)}`,
      'Retry-After is not before its end',
    )
    trial.clock.ahead += second
    assert.equal((await trial.send(projects)).headers['ratelimit'], '"caller";r=2;t=60')
  })

  it('LIM-2: unauthenticated responses do not have them', async (context) => {
    const trial = await limited(context, { address: '1/minute' })
    for (const sent of [
      { ...projects, as: null },
      { ...projects, as: null },
      { path: '/health/live', as: null },
    ]) {
      const { headers } = await trial.send(sent)
      assert.deepEqual([headers['ratelimit'], headers['ratelimit-policy']], [undefined, undefined])
    }
  })

  it('LIM-2: the limits of an action are named where they count', async (context) => {
    const trial = await limited(context, { actions: { '*.create': '9/hour', 'projects.create': '2/second' } })
    const { headers } = await trial.send({ ...projects, body: { name: 'One' } })
    assert.equal(headers['ratelimit-policy'], '"caller";q=600;w=60, "*.create";q=9;w=3600, "projects.create";q=2;w=1')
    assert.equal(headers['ratelimit'], '"caller";r=599;t=60, "*.create";r=8;t=3600, "projects.create";r=1;t=1')
    assert.equal((await trial.send(projects)).headers['ratelimit'], '"caller";r=598;t=60')
  })

  it('LIM-1, LIM-2: without rate limits, no request is rejected and no header field is sent', async (context) => {
    const limits = { rate: { caller: '1/minute', address: '1/minute' } }
    const trial = await trialFor(context, { ...studio, limits }, { memory: true, rates: { rateLimit: 'off' } })
    assert.deepEqual(await statuses(trial, 3, projects), [200, 200, 200])
    assert.deepEqual(await statuses(trial, 3, { ...projects, as: null }), [401, 401, 401])
    const { headers } = await trial.send(projects)
    assert.deepEqual([headers['ratelimit'], headers['ratelimit-policy']], [undefined, undefined])
  })
})

describe('changed records', () => {
  const post = (body: unknown): Sent => ({ method: 'POST', path: '/v1/projects', body })
  const projectsOf = (...names: string[]) => names.map((name) => ({ name }))

  it('LIM-1, BLK-4: a transaction counts once as a request, and each of its records as a change', async (context) => {
    const trial = await limited(context, { changes: '5/minute' })
    const operations = [
      { method: 'POST', path: '/projects', body: projectsOf('A', 'B') },
      { method: 'POST', path: '/projects', body: { name: 'C' } },
    ]
    const made = await trial.send({ path: '/v1/transactions', body: { operations } })
    assert.equal(made.status, 200, made.text)
    assert.match(made.headers['ratelimit'] ?? '', /"caller";r=599;t=60, "changes";r=2;t=60$/)
    assert.equal((await trial.send({ path: '/v1/transactions', body: { operations } })).status, 429)
  })

  it('LIM-1, BLK-4: an operation of a transaction counts for its action as a request does', async (context) => {
    const actions = { 'projects.create': '3/minute', '*.delete': '1/minute', 'projects.restore': '1/minute' }
    const trial = await limited(context, { actions })
    const run = (...operations: object[]) => trial.send({ path: '/v1/transactions', body: { operations } })
    const create = (name: string) => ({ method: 'POST', path: '/projects', body: { name } })
    const made = await run({ ...create('A'), as: 'a' }, create('B'), { method: 'PATCH', path: '/projects/{a.id}', body: { name: 'C' } }) // biome-ignore format: one row
    assert.equal(made.status, 200, made.text)
    assert.match(made.headers['ratelimit'] ?? '', /^"caller";r=599;t=60, "projects.create";r=1;t=60$/)
    assert.match(made.headers['ratelimit-policy'] ?? '', /^"caller";q=600;w=60, "projects.create";q=3;w=60$/)
    const refused = await run(create('D'), create('E'))
    assert.deepEqual([refused.status, refused.json.code, retryAfter(refused)], [429, 'RATE_LIMITED', 60])
    assert.match(refused.json.detail, /requests for projects.create: 3 in 60 seconds/)
    // An array is one operation, and one request.
    assert.equal((await run({ ...create('D'), body: projectsOf('D', 'E') })).status, 200)
    assert.equal((await trial.send(post({ name: 'F' }))).status, 429)
    const path = `/projects/${made.json.results[0].body.id}`
    const removal = [{ method: 'DELETE', path }, { method: 'POST', path: `${path}/restore` }] // biome-ignore format: one row
    assert.equal((await run(...removal)).status, 200)
    assert.equal((await run(...removal)).status, 429)
    assert.equal((await trial.send({ method: 'DELETE', path: `/v1${path}` })).status, 429)
    trial.wait(60)
    assert.equal((await trial.send({ method: 'DELETE', path: `/v1${path}` })).status, 204)
    assert.equal((await run({ method: 'POST', path: `${path}/restore` })).status, 200)
    assert.equal((await trial.send({ method: 'POST', path: `/v1${path}/restore` })).status, 429)
  })

  it('LIM-1: what no window has room for is 413, because waiting would not help', async (context) => {
    const trial = await limited(context, { changes: '3/minute', actions: { 'projects.create': '1/minute' } })
    const array = await trial.send(post(projectsOf('A', 'B', 'C', 'D')))
    assert.deepEqual([array.status, array.json.code, array.headers['retry-after']], [413, 'BODY_TOO_LARGE', undefined])
    assert.match(array.json.detail, /counts as 4 changed records: 3 in 60 seconds are allowed/)
    const operations = ['A', 'B'].map((name) => ({ method: 'POST', path: '/projects', body: { name } }))
    const both = await trial.send({ path: '/v1/transactions', body: { operations } })
    assert.match(both.json.detail, /counts as 2 requests for projects.create: 1 in 60 seconds are allowed/)
  })

  it('LIM-1: a request counts as many as it changes, and one with more than are left changes nothing', async (context) => {
    const trial = await limited(context, { changes: '5/minute' })
    const first = await trial.send(post(projectsOf('A', 'B', 'C')))
    assert.equal(first.status, 201, first.text)
    assert.match(first.headers['ratelimit'] ?? '', /"changes";r=2;t=60$/)
    assert.match(first.headers['ratelimit-policy'] ?? '', /"changes";q=5;w=60$/)
    const more = await trial.send(post(projectsOf('D', 'E', 'F')))
    assert.deepEqual([more.status, more.json.code, retryAfter(more)], [429, 'RATE_LIMITED', 60])
    assert.match(more.json.detail, /changed records: 5 in 60 seconds/)
    const [{ id }] = first.json.data
    assert.equal((await trial.send({ method: 'PATCH', path: `/v1/projects/${id}`, body: { name: 'X' } })).status, 200)
    assert.equal((await trial.send(post({ name: 'D' }))).status, 201)
    assert.equal((await trial.send({ method: 'DELETE', path: `/v1/projects/${id}` })).status, 429)
    const read = await trial.send(projects)
    assert.deepEqual([read.status, read.json.pagination.total_count], [200, 4], 'a read changes nothing')
    assert.equal((await trial.send({ ...post({ name: 'E' }), as: 'bob' })).status, 201, 'of another caller')
    trial.wait(60)
    const bulk = {
      method: 'POST',
      path: '/v1/projects/bulk-delete',
      body: { ids: first.json.data.map((each: { id: string }) => each.id) },
    }
    assert.equal((await trial.send(bulk)).status, 200)
    assert.equal((await trial.send(post(projectsOf('A', 'B', 'C')))).status, 429)
  })

  it('LIM-1, BLK-2: a record that a unique value may create counts as one that is created', async (context) => {
    const trial = await limited(context, { actions: { 'projects.create': '1/minute' } })
    const put = (name: string): Sent => ({ method: 'PUT', path: `/v1/projects?name=${name}`, body: {} })
    assert.equal((await trial.send(put('A'))).status, 201)
    assert.equal((await trial.send(put('B'))).status, 429)
    assert.equal((await trial.send(post({ name: 'C' }))).status, 429)
  })

  it('LIM-1: a job of a filter counts the records that it changes or deletes', async (context) => {
    const { projects: declared } = studio.resources
    const byFilter = { updates: { byFilter: true, above: 2 }, deletion: { byFilter: true } } as const
    const fields = { ...declared.fields, size: { type: 'integer', default: 1, filter: true } } as const
    const { rules: _, ...rest } = declared
    const changed = { ...studio.resources, projects: { ...rest, ...byFilter, fields } }
    for (const method of ['PATCH', 'DELETE']) {
      const trial = await limited(context, { changes: '10/minute' }, changed)
      await trial.send(post(projectsOf('A', 'B', 'C', 'D', 'E')))
      trial.wait(60)
      const body = method === 'PATCH' ? { description: 'x' } : undefined
      const job = await trial.send({ method, path: '/v1/projects?size=1', body, headers: { prefer: 'respond-async' } })
      assert.equal(job.status, 202, job.text)
      const next = await trial.send(post({ name: 'F' }))
      assert.match(next.headers['ratelimit'] ?? '', /"changes";r=4;t=60$/, method)
      await trial.app.runner.idle()
    }
  })
})
