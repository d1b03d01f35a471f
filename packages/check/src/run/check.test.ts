import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Case } from '../case/case.ts'
import { answerOf, finding, status } from '../case/expect.ts'
import { nobodyThere } from '../case/preconditions.ts'
import { absentId, base, collection, mark, Reference } from '../case/references.ts'
import { body, create, setUp } from '../case/steps.ts'
import { Client } from '../client/client.ts'
import { fieldOf } from '../client/exchange.ts'
import { served } from '../client/served.fixture.ts'
import { type CollectionProfile, type Profile, usualNames } from '../profile/profile.ts'
import { type CheckOptions, check, type Report } from './check.ts'

const [one, read, gone, put] = Reference.named('one', 'read', 'gone', 'put')

const thingsProfile: CollectionProfile = {
  ...{ name: 'things', path: '/things', operations: ['list', 'create', 'read', 'delete'], id: 'id' },
  ...{ example: { name: 'a' }, references: {}, unique: ['name'], required: [], change: {}, optional: {}, invalid: {} },
  ...{ filters: [], sorts: [], children: {}, deletion: 'hard', pages: [], conditional: false },
}

interface Thing {
  readonly id: number
  readonly name: string
}

/** A server of things, whose deletions can be turned off. */
async function serveThings(
  context: TestContext,
  { deletes = true, hold }: { readonly deletes?: boolean; readonly hold?: () => void } = {},
) {
  const things = new Map<number, Thing>()
  const seen: { method: string; url: string; authorization: string }[] = []
  let last = 0
  const origin = await served(context, ({ method = '', url = '', headers }, response, body) => {
    seen.push({ method, url, authorization: headers.authorization ?? '' })
    const id = Number(url.split('/').at(-1))
    if (hold !== undefined && method === 'GET' && id > 0) return hold()
    response.setHeader('X-Echo', headers.authorization ?? '')
    if (method === 'POST') {
      const thing = { ...(JSON.parse(body) as Thing), id: ++last }
      things.set(thing.id, thing)
      response.writeHead(201, { Location: `/v1/things/${thing.id}` }).end(JSON.stringify(thing))
    } else if (method === 'DELETE' && !deletes) response.writeHead(500).end()
    else if (method === 'DELETE') response.writeHead(things.delete(id) ? 204 : 404).end()
    else if (things.has(id)) response.end(JSON.stringify(things.get(id)))
    else if (url === '/v1/things') response.end(JSON.stringify({ data: [...things.values()] }))
    else response.writeHead(404).end()
  })
  return { origin, things, seen }
}

function run(
  context: TestContext,
  origin: string,
  cases: readonly Case[],
  more: Partial<CheckOptions> = {},
): Promise<Report> {
  const client = new Client({ signal: more.signal })
  context.after(() => client.close())
  const profile: Profile = { base: `${origin}/v1`, collections: [thingsProfile], names: usualNames, open: [] }
  const credential = [['Authorization', 'Bearer s3cret-key']] as const
  return check({ profile, client, credential, cases, strict: true, ...more })
}

const usual = { kind: 'changing', needs: ['create', 'read'], remedy: 'Correct it.', title: 'So it is' } as const

const holding: Case = {
  ...usual,
  id: 'MET-2/one',
  steps: [create(one), read.get(one)],
  expect: [status(read, 200)],
}
const failing: Case = {
  ...usual,
  id: 'MET-3/two',
  steps: [create(one), read.get(one)],
  expect: [status(read, 418)],
}

function verdictOf({ rules }: Report, id: string): string {
  const found = rules.flatMap(({ cases }) => cases).find((each) => each.id === id)
  return found === undefined ? 'absent' : `${found.verdict}${found.why === '' ? '' : `: ${found.why}`}`
}

test('responses decide whether a case holds, and its records are deleted', async (context) => {
  const { origin, things, seen } = await serveThings(context)
  const report = await run(context, origin, [holding, failing])
  assert.equal(verdictOf(report, 'MET-2/one'), 'holds')
  assert.equal(verdictOf(report, 'MET-3/two'), 'fails')
  assert.deepEqual([things.size, report.remains], [0, []])
  assert.equal(report.requests, seen.length)
  // Two cases, two records to see whether identifiers come again, and the list, which is none here.
  assert.equal(seen.length, 6 + 4 + 2)
})

test('a choice of the specification fails only in a strict run, and what may be otherwise in none', async (context) => {
  const { origin } = await serveThings(context)
  const fact: Case = { ...failing, id: 'MET-6/three' }
  const allowed: Case = { ...failing, id: 'MET-8/four' }
  const verdicts = async (strict: boolean) => {
    const report = await run(context, origin, [failing, fact, allowed], { strict })
    return ['MET-3/two', 'MET-6/three', 'MET-8/four'].map((id) => verdictOf(report, id))
  }
  assert.deepEqual(await verdicts(false), ['advice', 'fails', 'advice'])
  assert.deepEqual(await verdicts(true), ['fails', 'fails', 'advice'])
})

test('records that cannot be deleted are reported', async (context) => {
  const { origin } = await serveThings(context, { deletes: false })
  const { remains } = await run(context, origin, [holding])
  assert.deepEqual(remains, ['/v1/things/1', '/v1/things/2'])
})

test('a case that depends on a failing one is blocked, and a case that is not chosen is not asked', async (context) => {
  const { origin } = await serveThings(context)
  const needing: Case = { ...holding, id: 'MET-4/three', after: ['MET-3/two'] }
  const report = await run(context, origin, [holding, failing, needing])
  assert.equal(verdictOf(report, 'MET-4/three'), 'blocked: MET-3/two: fails')
  const only = await run(context, origin, [holding, failing, needing], { only: ['MET-4'] })
  assert.deepEqual(
    only.rules.map(({ rule, verdict }) => [rule.id, verdict]),
    [['MET-4', 'blocked']],
  )
})

test('a case without a fitting collection is not applicable', async (context) => {
  const { origin } = await serveThings(context)
  const searching: Case = { ...holding, id: 'QRY-5/four', needs: ['list', 'search'] }
  const following: Case = { ...holding, id: 'QRY-5/five', after: ['QRY-5/four'] }
  const unprepared: Case = { ...holding, id: 'MET-5/six', steps: [setUp(gone.get(`${base}/things/99`))] }
  const unfilled: Case = { ...holding, id: 'MET-6/seven', steps: [create(one), read.get(one.etag)] }
  const report = await run(context, origin, [searching, following, unprepared, unfilled])
  assert.equal(verdictOf(report, 'QRY-5/four'), 'not applicable: no collection can be searched')
  assert.equal(verdictOf(report, 'QRY-5/five'), 'not applicable: no collection can be searched')
  assert.equal(verdictOf(report, 'MET-5/six'), 'not set up: GET /v1/things/99 was answered 404')
  assert.equal(verdictOf(report, 'MET-6/seven'), 'not set up: nothing is known for one.etag')
})

test('an error in a judgement ends only its own case', async (context) => {
  const { origin, things } = await serveThings(context)
  const stumbling: Case = {
    ...holding,
    expect: [
      answerOf(read, () => {
        throw new TypeError('it is odd')
      }),
    ],
  }
  const report = await run(context, origin, [stumbling, failing])
  assert.match(verdictOf(report, 'MET-2/one'), /^not set up: .*it is odd/)
  assert.equal(verdictOf(report, 'MET-3/two'), 'fails')
  assert.equal(things.size, 0)
})

test('a read-only check sends safe requests only', async (context) => {
  const { origin, seen } = await serveThings(context)
  const reading: Case = { ...failing, kind: 'reading', steps: [read.get(`${collection}/1`)] }
  const report = await run(context, origin, [holding, reading], { readOnly: true })
  assert.equal(verdictOf(report, 'MET-2/one'), 'not asked: it needs requests that are not safe')
  assert.equal(verdictOf(report, 'MET-3/two'), 'fails')
  assert.deepEqual([...new Set(seen.map(({ method }) => method))], ['GET'])
})

test('no report contains a credential', async (context) => {
  const { origin } = await serveThings(context)
  const echoing: Case = {
    ...failing,
    expect: [
      answerOf(read, (answer, _, exchange) =>
        finding(exchange, { field: 'X-Echo' }, `it said ${fieldOf(answer, 'X-Echo')}`),
      ),
    ],
  }
  const text = JSON.stringify(await run(context, origin, [echoing]))
  assert.doesNotMatch(text, /s3cret/)
  assert.match(text, /it said Bearer \$KEY/)
})

test('a stopped run reports the cases that did not run, and deletes its records', async (context) => {
  const stop = new AbortController()
  const { origin, things } = await serveThings(context, { hold: () => stop.abort() })
  const report = await run(context, origin, [holding, failing], { signal: stop.signal })
  assert.equal(report.stopped, true)
  assert.equal(verdictOf(report, 'MET-2/one'), 'not asked: the run was stopped meanwhile')
  assert.deepEqual([things.size, report.remains], [0, []])
})

test('a case does not fail because another record has one of few unique values', async (context) => {
  let refused = 0
  const origin = await served(context, ({ method }, response) => {
    if (method === 'DELETE') response.writeHead(204).end()
    else if (++refused % 3 !== 0) response.writeHead(409).end()
    else response.writeHead(201, { Location: '/v1/things/1' }).end('{"id":1}')
  })
  const once: Case = {
    ...{ ...usual, id: 'MET-9/once', needs: ['create'] },
    // With a key nothing is sent once more on its own.
    steps: [one.post(collection, body.example, { headers: { 'Idempotency-Key': mark } })],
    expect: [status(one, 201)],
  }
  const client = new Client({})
  context.after(() => client.close())
  for (const [schemas, verdict] of [
    [{ name: { pattern: '^[a-z]$' } }, 'holds'],
    [{}, 'not set up'],
  ] as const) {
    const profile: Profile = {
      base: `${origin}/v1`,
      collections: [{ ...thingsProfile, schemas }],
      names: usualNames,
      open: [],
    }
    const { rules } = await check({ profile, client, credential: [], cases: [once] })
    assert.deepEqual(
      rules.flatMap(({ cases }) => cases.map((each) => each.verdict)),
      [verdict],
    )
  }
})

test('if the server reuses identifiers, cases run one at a time and records of others are not deleted', async (context) => {
  const things = new Map<number, string>()
  let open = 0
  let most = 0
  const origin = await served(context, ({ method = '', url = '' }, response, body) => {
    const id = Number(url.split('/').at(-1))
    if (method === 'POST') {
      open++
      most = Math.max(most, open)
      const made = Math.max(0, ...things.keys()) + 1
      things.set(made, body)
      response.writeHead(201, { Location: `/v1/things/${made}` }).end(JSON.stringify({ id: made }))
    } else if (method === 'DELETE') {
      open--
      const text = things.get(id) ?? ''
      things.delete(id)
      // Another client creates a record right after the case that deletes by itself.
      if (text.includes('deleted')) things.set(id, '{"name":"of somebody else"}')
      response.writeHead(204).end()
    } else if (things.has(id)) response.end(things.get(id))
    else response.writeHead(404).end()
  })
  const deleting: Case = {
    ...{ ...usual, id: 'DEL-1/self', needs: ['create', 'delete'], expect: [status(gone, 204)] },
    steps: [create(one, { color: 'deleted' }), gone.delete(one)],
  }
  const client = new Client()
  context.after(() => client.close())
  const _things_: CollectionProfile = { ...thingsProfile, unique: [], marker: 'name' }
  const marked: CollectionProfile = { ...thingsProfile, unique: [], marker: 'name' }
  const profile: Profile = { base: `${origin}/v1`, collections: [marked], names: usualNames, open: [] }
  const others = ['MET-2/a', 'MET-2/b', 'MET-2/c'].map((id): Case => ({ ...holding, id: id as Case['id'] }))
  const { rules, remains } = await check({ profile, client, credential: [], cases: [...others, deleting] })
  assert.deepEqual(new Set(rules.flatMap(({ cases }) => cases.map((each) => each.verdict))), new Set(['holds']))
  assert.equal(most, 1)
  assert.deepEqual([...things.values()], ['{"name":"of somebody else"}'])
  assert.deepEqual(remains, [])
})

test('an accepted deletion counts after the record has disappeared', async (context) => {
  let looks = 0
  const origin = await served(context, ({ method, url }, response) => {
    if (method === 'POST') response.writeHead(201, { Location: '/v1/things/a' }).end('{"id":"a"}')
    else if (url === '/v1/things') response.writeHead(404).end()
    else if (method === 'DELETE') {
      looks = 0
      response.writeHead(202).end()
    } else response.writeHead(++looks < 3 ? 200 : 404).end()
  })
  const making: Case = {
    ...usual,
    id: 'MET-2/one',
    needs: ['create'],
    steps: [create(one)],
    expect: [status(one, 201)],
  }
  const { remains } = await run(context, origin, [making])
  assert.deepEqual([remains, looks], [[], 3])
})

test('conditions that hold are sent only to collections that need them', async (context) => {
  const sent: (string | undefined)[] = []
  const origin = await served(context, ({ method, headers }, response) => {
    if (method === 'PUT') sent.push(headers['if-match'])
    if (method === 'POST') response.writeHead(201, { Location: '/v1/things/a' }).end('{"id":"a"}')
    else response.writeHead(method === 'DELETE' ? 204 : 200, { ETag: '"7"' }).end()
  })
  const changing: Case = {
    ...{ ...usual, id: 'MET-3/one', needs: ['create'], expect: [status(put, 200)] },
    steps: [create(one), put.put(one, body.json({}), { isUnconditional: true }), put.put(one, body.json({}))],
  }
  const client = new Client()
  context.after(() => client.close())
  for (const conditional of [false, true]) {
    const collections = [{ ...thingsProfile, conditional }]
    const profile: Profile = { base: `${origin}/v1`, collections, names: usualNames, open: [] }
    await check({ profile, client, credential: [], cases: [changing] })
  }
  assert.deepEqual(sent, [undefined, undefined, undefined, '"7"'])
})

test('nothing is sent to an identifier that an existing record may have', async (context) => {
  const methods = new Set<string>()
  const origin = await served(context, ({ method = '' }, response) => {
    methods.add(method)
    if (method === 'POST') response.writeHead(201, { Location: '/v1/things/seven' }).end('{"id":"seven"}')
    else response.writeHead(method === 'DELETE' ? 204 : 200).end('{"id":"seven"}')
  })
  const putting: Case = {
    ...{ ...usual, id: 'MET-7/put', expect: [status(put, 404)] },
    steps: [create(one), ...nobodyThere, put.put(`${collection}/${absentId}`, body.json({}))],
  }
  const report = await run(context, origin, [putting])
  assert.match(verdictOf(report, 'MET-7/put'), /^not set up: there may be a record of somebody/)
  assert.deepEqual([...methods].sort(), ['DELETE', 'GET', 'POST'])
})
