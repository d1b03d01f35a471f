/**
 * An interface on a database of a given address, filled with awkward records, asked the same before and after a move.
 */
import assert from 'node:assert/strict'
import type { HttpRequest } from '../packages/server/src/http/message.ts'
import { hashOfKey, hintOfKey, newKey } from '../packages/server/src/policy/api-keys.ts'
import { type Application, assemble } from '../packages/server/src/server/app.ts'
import { openStorage } from '../packages/server/src/server/open-database.ts'
import { completeVersions } from '../packages/server/src/versions/versions.ts'
import { bodyText } from './body-text.ts'
import { everythingWithEvents } from './declarations-everything.ts'

const versions = completeVersions(everythingWithEvents)
const { stored: catalog } = versions

/** An answer, without what no two answers have in common. */
export interface Recorded {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/** Somebody's way to a server on a database. */
export interface Client {
  readonly app: Application
  send(
    path: string,
    more?: { readonly method?: string; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Recorded>
}

/**
 * Makes a server on a database, whose clock stands still.
 *
 * @param options `idle`: it does no long work
 */
export async function serverOn(
  address: string,
  key: string,
  now: number,
  { idle = false }: { readonly idle?: boolean } = {},
): Promise<Client> {
  const storage = await openStorage({ database: address, databaseUnsafe: true }, catalog)
  if (idle) Object.assign(storage.jobs, { open: async () => [] })
  const app = assemble(catalog, storage, {
    versions,
    now: () => now,
    rateLimit: 'off',
    webhookNetworks: ['127.0.0.1/32'],
  })
  return {
    app,
    async send(path, { method, body, headers = {} } = {}) {
      const bytes = body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body))
      const content = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
      const request: HttpRequest = {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        target: path,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : content), ...headers },
        secure: true,
        address: '127.0.0.1',
        readBody: async () => bytes,
      }
      const answer = await app.respond(request)
      const { 'X-Request-Id': requestId = 'none', ...others } = answer.headers as Record<string, string>
      const text = await bodyText(answer.body)
      return { status: answer.status, headers: others, text: text.replaceAll(requestId, 'ID') }
    },
  }
}

/** Adds an administrator's key; gives its secret. */
async function addKey(app: Application, id: string, now: number): Promise<string> {
  const key = newKey()
  await app.storage.keys.add({
    ...{ id, hash: hashOfKey(key), hint: hintOfKey(key), subject: 'root', roles: ['admin'] },
    ...{ expires_at: null, created_at: new Date(now).toISOString(), revoked_at: null },
  })
  return key
}

const awkward = [
  { title: 'numbers', count: 9_007_199_254_740_991, ratio: 1e-7, flag: true, moment: '2026-01-02T03:04:05.678+05:30' },
  { title: 'others', count: -9_007_199_254_740_991, ratio: 1.7976931348623157e308, flag: false },
  { title: 'small', count: 0, ratio: 5e-324, moment: '1999-12-31T23:59:60Z', anything: 0.1 },
  { title: 'Zürich 東京 🏔️ \\ " \' \t\n {a,b} NULL', code: '', list: [], payload: {}, origin: '\\N' },
  { title: 'ratio', ratio: -0.000001, anything: 'text', pin: 'secret' },
  {
    title: 'json',
    payload: { a: [1, { b: null }], 'ü"': '\\u0000', n: 1e21 },
    list: [null, '', [], 1e-7],
    anything: false,
  },
  { title: 'nested', anything: [1, 'zwei', { drei: [] }], strict: { size: 3 }, stage: 'used' },
]

/**
 * Fills a database: records of every kind, deleted ones, revisions, jobs that are finished and not, files, answers that
 * are kept.
 *
 * @returns addresses whose answers say all of it
 */
async function fill({ app, send }: Client): Promise<string[]> {
  const { jobs } = app.storage
  const made = async (path: string, body: unknown, headers = {}) => {
    const answer = await send(path, { body, headers })
    assert.ok(answer.status === 201 || answer.status === 202, answer.text)
    return JSON.parse(answer.text)
  }
  const ids: string[] = []
  for (const body of awkward) ids.push((await made('/v1/samples', body)).id)
  // More than a transaction tries numbers that are taken.
  for (let number = 0; number < 12; number++) await made('/v1/samples', { title: `Sample ${number}` })
  await send(`/v1/samples/${ids[0]}`, {
    method: 'PATCH',
    body: { count: 7 },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  const remove = (path: string) => send(path, { method: 'DELETE' })
  await remove(`/v1/samples/${ids[1]}`)
  await made('/v1/selects', { order: 'Ä', select: '', group: 0, json: 'Wörter zum Suchen', t: 'x' })
  for (const title of ['first', 'second']) await made('/v1/tickets', { title })
  await made('/v1/badges', { name: 'once' }, { 'idempotency-key': 'again' })

  for (const price of ['-0.5', '9.99', '12345678901234567890.123456789012345678', '100', '-20'])
    await made('/v1/prices', { price })

  // One export that is finished, one that another server was at.
  const { job_id: exported } = await made('/v1/exports', { collection: 'samples', sort: 'moment', format: 'ndjson' })
  await app.runner.idle()
  const { claimExport, step } = jobs
  Object.assign(jobs, { claimExport: async () => undefined })
  const { job_id: begun } = await made('/v1/exports', { collection: 'samples', format: 'csv' })
  await claimExport(begun, 'gone', 0)
  await jobs.keepExport(
    begun,
    'gone',
    { count: 3, bytes: 300, after: ['x'] },
    0,
    app.storage.pieces && Buffer.alloc(300),
  )

  // A deletion that has done one batch.
  Object.assign(jobs, { step: async () => false })
  const { id: acme } = await made('/v1/companies', { name: 'Acme' })
  for (let number = 0; number < 12; number++) {
    await made('/v1/departments', { name: `Department ${number}`, company_id: acme })
  }
  const deletion = JSON.parse((await remove(`/v1/companies/${acme}`)).text).job_id
  await step({ id: deletion, task: 'deletion' }, Date.now())
  assert.notEqual(JSON.parse((await send(`/v1/jobs/${deletion}`)).text).status, 'succeeded')

  const lists = Object.keys(everythingWithEvents.resources).flatMap((name) => [
    `/v1/${name}`,
    `/v1/${name}?include_deleted=true&sort=-created_at&limit=3`,
  ])
  return [
    ...lists,
    ...ids.map((id) => `/v1/samples/${id}`),
    ...['q=zurich', 'count=7', 'ratio[lt]=0.001', 'moment[lt]=2000-01-01T00:00:00Z', 'title[contains]=OTHER'].map(
      (query) => `/v1/samples?${query}`,
    ),
    '/v1/samples?sort=moment&limit=2',
    '/v1/selects?q=suchen',
    '/v1/prices?sort=-price&price[gt]=-20.00&limit=3',
    '/v1/prices?price=9.990',
    '/v1/tickets/summary?group=created_at:month&sum=number',
    '/v1/api-keys',
    '/v1/jobs?sort=created_at',
    `/v1/jobs/${exported}`,
    `/v1/jobs/${begun}`,
    `/v1/exports/${exported}/content`,
    `/v1/exports/${begun}/content`,
    `/v1/jobs/${deletion}`,
  ]
}

/** Asks for addresses. */
export async function ask({ send }: Client, paths: readonly string[]): Promise<Map<string, Recorded>> {
  const answers = new Map<string, Recorded>()
  for (const path of paths) answers.set(path, await send(path))
  return answers
}

/** Fills the database of an address, and asks for everything in it. */
export async function fillAddress(address: string, now: number) {
  const opening = await serverOn(address, '', now)
  const key = await addKey(opening.app, '01a1fde6-1be6-7f7d-a2ef-25a8bed79d72', now)
  await opening.app.close()
  const client = await serverOn(address, key, now)
  const paths = await fill(client)
  // Whatever a list of keys says of when this one was used, it says from now on.
  await client.app.keyUses.close()
  return { client, key, paths, answers: await ask(client, paths) }
}

/** Jobs end, files of exports are there, and a request that is sent again creates nothing. */
export async function assertGoesOn({ app, send }: Client, paths: readonly string[]): Promise<void> {
  for (const path of paths.filter((each) => each.startsWith('/v1/jobs/'))) {
    while (JSON.parse((await send(path)).text).status !== 'succeeded') await app.runner.idle()
  }
  for (const path of paths.filter((each) => each.endsWith('/content'))) {
    assert.equal((await send(path)).status, 200, path)
  }
  const again = await send('/v1/badges', { body: { name: 'once' }, headers: { 'idempotency-key': 'again' } })
  assert.equal(again.status, 201)
  assert.equal(JSON.parse((await send('/v1/badges')).text).pagination.total_count, 1)
}
