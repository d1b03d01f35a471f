import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { Client } from '../client/client.ts'
import { served } from '../client/served.fixture.ts'
import { addressForm, bareCollection, type CollectionProfile, type Profile, usualNames } from '../profile/profile.ts'
import { isObject } from '../values/json.ts'
import { check, type Verdict } from './check.ts'

const things: CollectionProfile = {
  ...bareCollection('things'),
  operations: ['list', 'create', 'read', 'replace', 'update', 'delete'],
  ...{ example: { name: 'a', size: 1 }, required: ['name'], change: { name: 'b' }, optional: { size: 2 } },
  ...{ invalid: { size: 'much' }, filters: ['name', 'size'], sorts: ['name', 'size'], marker: 'name', pages: ['page'] },
}

/** The cases of a run that have a verdict. */
async function judged(origin: string, verdicts: readonly Verdict[], collection = things): Promise<string[]> {
  const client = new Client()
  try {
    const profile: Profile = { base: `${origin}/v1`, collections: [collection], names: usualNames, open: [] }
    client.form = addressForm(profile)
    const { rules } = await check({ profile, client, credential: [['Authorization', 'Bearer s3cret-key']] })
    return rules.flatMap(({ cases }) =>
      cases.filter(({ verdict }) => verdicts.includes(verdict)).map(({ id, verdict }) => `${id} ${verdict}`),
    )
  } finally {
    client.close()
  }
}

test('a server that refuses everything keeps no rule about refusals, and breaks none', async (context) => {
  const origin = await served(context, (_, response) => {
    response.writeHead(422, { 'Content-Type': 'application/json' }).end('{"code":"REFUSED","detail":"No."}')
  })
  assert.deepEqual(await judged(origin, ['holds', 'fails', 'advice']), [])
})

test('a parameter that is ignored, taken for a filter or refused proves nothing', async (context) => {
  for (const effect of ['ignored', 'filter', 'refused']) {
    let asked = 0
    const records = new Map<string, string>()
    const origin = await served(context, (request, response, text) => {
      const send = (status: number, body?: unknown) =>
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body))
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
      const id = pathname.replace(/^\/v1\/things\/?/, '')
      const shown = (key: string) => ({ id: key, ...JSON.parse(records.get(key) as string) })
      if (request.method === 'POST' && id === '') {
        const key = `t${randomUUID()}`
        records.set(key, text)
        return send(201, shown(key))
      }
      if (id !== '' && !records.has(id)) return send(404, {})
      if (request.method === 'DELETE') return records.delete(id) ? send(204) : send(404, {})
      if (request.method !== 'GET') return send(405, {})
      if (id !== '') return send(200, shown(id))
      const isOdd = searchParams.has('sort') || searchParams.has('fields')
      if (effect === 'refused' && isOdd) return send(400, {})
      // Each list has a record that no other has.
      const data =
        effect === 'filter' && isOdd
          ? []
          : [...[...records.keys()].map(shown), { id: `n${asked++}`, name: 'x', size: 3 }]
      return send(200, { data })
    })
    const client = new Client()
    context.after(() => client.close())
    const profile: Profile = { base: `${origin}/v1`, collections: [things], names: usualNames, open: [] }
    const { rules } = await check({ profile, client, credential: [], only: ['QRY-8'] })
    const cases = rules.flatMap((rule) => rule.cases)
    const why = effect === 'refused' ? 'is refused with 400' : 'has no effect'
    for (const name of ['fields', 'sort']) {
      const found = cases.find(({ id }) => id === `QRY-8/${name}`)
      assert.equal(found?.verdict, 'not applicable', `${name}: ${found?.why}`)
      assert.equal(found?.why, `the parameter ${name} ${why}`)
    }
  }
})

test('a HEAD without Content-Length and a list that is a bare array break no rule, and keep none', async (context) => {
  const records = new Map<string, string>()
  const origin = await served(context, (request, response, text) => {
    const send = (status: number, body?: unknown) => {
      const sent = body === undefined ? '' : JSON.stringify(body)
      const length = request.method === 'HEAD' ? {} : { 'Content-Length': Buffer.byteLength(sent) }
      response.writeHead(status, { 'Content-Type': 'application/json', ...length }).end(sent)
    }
    const id = (request.url ?? '').replace(/^\/v1\/things\/?|\?.*/g, '')
    const shown = (key: string) => ({ id: key, ...JSON.parse(records.get(key) as string) })
    if (request.method === 'POST') {
      const key = `t${randomUUID()}`
      records.set(key, text)
      return send(201, shown(key))
    }
    if (id === '') return send(200, [...records.keys()].map(shown))
    if (!records.has(id)) return send(404, {})
    return request.method === 'DELETE' && records.delete(id) ? send(204) : send(200, shown(id))
  })
  const client = new Client()
  context.after(() => client.close())
  const names = { ...usualNames, items: '' }
  const profile: Profile = { base: `${origin}/v1`, collections: [things], names, open: [] }
  const { rules } = await check({ profile, client, credential: [], only: ['HED-1', 'RES-7'] })
  const verdicts = new Map<string, string>(rules.flatMap((rule) => rule.cases.map(({ id, verdict }) => [id, verdict])))
  const ids = ['HED-1/record', 'HED-1/length', 'RES-7/records', 'RES-7/lists']
  assert.deepEqual(
    ids.map((id) => verdicts.get(id)),
    ['holds', 'not applicable', 'holds', 'not applicable'],
  )
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Records whose identifiers are integers, with addresses that end with a slash, and pages of a fixed size. */
function serveIntegers(context: TestContext): Promise<string> {
  const records = new Map([1, 2, 3].map((id) => [id, { id, name: `a${id}` } as Record<string, unknown>]))
  let last = 3
  return served(context, ({ method, url = '' }, response, body) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const answer = (status: number, value?: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(value && JSON.stringify(value))
    }
    const [, id] = /^\/v1\/things\/(?:([^/]*)\/)?$/.exec(pathname) ?? [null]
    if (id === null) return answer(404, {})
    if (id === undefined && method === 'POST') {
      const sent = parsed(body)
      if (!isObject(sent)) return answer(422, {})
      const made = { ...sent, id: ++last }
      records.set(last, made)
      return answer(201, made)
    }
    if (id === undefined)
      return Number(searchParams.get('page') ?? 1) > 9 ? answer(404) : answer(200, [...records.values()])
    if (!/^\d+$/.test(id)) return answer(422, {})
    const record = records.get(Number(id))
    if (record === undefined) return answer(404, {})
    if (method === 'GET') return answer(200, record)
    if (method !== 'DELETE') return answer(405, {})
    records.delete(Number(id))
    return answer(204)
  })
}

test('a refusal with another status is no failure, and a parameter without effect is not judged', async (context) => {
  const origin = await serveIntegers(context)
  const found = await judged(origin, ['holds', 'fails', 'advice', 'blocked'], {
    ...{ ...things, operations: ['list', 'create', 'read', 'delete'], slashes: ['collection', 'record'] },
    names: { items: '' },
  })
  for (const id of ['PAG-7/far', 'DEL-3/odd', 'RES-1/lower-case']) assert.ok(found.includes(`${id} holds`), id)
  assert.deepEqual(
    found.filter((each) => /^(?:PAG-1\/(?!default)|ERR-3\/parameters)/.test(each)),
    [],
  )
})
