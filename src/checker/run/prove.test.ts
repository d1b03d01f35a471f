import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Client } from '../client/client.ts'
import { served } from '../client/served.fixture.ts'
import { bareCollection, type CollectionProfile, type Profile, usualNames } from '../profile/profile.ts'
import { check, type Verdict } from './check.ts'

const things: CollectionProfile = {
  ...bareCollection('things'),
  operations: ['list', 'create', 'read', 'replace', 'update', 'delete'],
  ...{ example: { name: 'a', size: 1 }, required: ['name'], change: { name: 'b' }, optional: { size: 2 } },
  ...{ invalid: { size: 'much' }, filters: ['name', 'size'], sorts: ['name', 'size'], marker: 'name', pages: ['page'] },
}

/** The cases of a run that have a verdict. */
async function judged(origin: string, verdicts: readonly Verdict[]): Promise<string[]> {
  const client = new Client()
  try {
    const profile: Profile = { base: `${origin}/v1`, collections: [things], names: usualNames, open: [] }
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

test('a parameter that is ignored, or taken for a filter, proves nothing while other records come and go', async (context) => {
  for (const isFilter of [false, true]) {
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
      // Each list has a record that no other has.
      const data =
        isFilter && isOdd ? [] : [...[...records.keys()].map(shown), { id: `n${asked++}`, name: 'x', size: 3 }]
      return send(200, { data })
    })
    const client = new Client()
    context.after(() => client.close())
    const profile: Profile = { base: `${origin}/v1`, collections: [things], names: usualNames, open: [] }
    const { rules } = await check({ profile, client, credential: [], only: ['QRY-8'] })
    const cases = rules.flatMap((rule) => rule.cases)
    for (const name of ['QRY-8/fields', 'QRY-8/sort']) {
      const found = cases.find(({ id }) => id === name)
      assert.equal(found?.verdict, 'not applicable', `${name}: ${found?.why}`)
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
