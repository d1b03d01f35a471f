/** Tenants that have something of everything, for tests that try what is of one with the credential of another. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { InterfaceDeclaration, ResourceDeclaration } from 'resourced-contract/model/declaration'
import { reference } from 'resourced-contract/model/type'
import { uuidv7 } from 'uuidv7'
import { administer, backUpDatabase, restoreDatabase } from '../../packages/server/src/server/open-database.ts'
import { movedTables } from '../../packages/server/src/storage/move/move.ts'
import type { Received } from '../harness.ts'
import { until } from '../until.ts'
import { type member, outcomeOf, type TenantTrial } from './tenants.ts'

const access: NonNullable<ResourceDeclaration['access']> = {
  ...{ read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' },
  ...{ readDeleted: 'anyone', readHistory: 'anyone' },
}
const name = { type: 'string', unique: true, filter: true, sort: true, search: true } as const

/** A tree with events, histories, sequences and jobs, in two versions. */
export const declaration: InterfaceDeclaration = {
  name: 'apart',
  tenants: { caller: 'claims.team' },
  versions: { v1: {}, v2: {} },
  resources: {
    teams: {
      ...{ access: { ...access, read: ['role:admin', { where: { name: 'red team' } }] }, events: true, history: true },
      fields: { name },
      deletion: { asynchronous: { above: 2 }, byFilter: true },
    },
    members: {
      ...{ access, events: true, history: true, within: 'team_id' },
      fields: {
        name,
        number: { type: 'integer', sequence: {} },
        team_id: reference('teams', { onDelete: 'cascade' }),
        chief_id: { ...reference('members', { onDelete: 'clear' }), optional: true },
      },
    },
  },
}

export const bases = ['/v1', '/v2'] as const

export type Caller = ReturnType<typeof member>

/** Gives a tenant something of everything, with the same values as every other tenant. */
export async function fillTenant({ send }: TenantTrial, as: Caller): Promise<{ readonly key: string }> {
  const make = async (path: string, body: object, headers = {}) => {
    const answer = await send({ path: `/v1${path}`, as, body, headers })
    assert.ok(answer.status < 300, `${path}: ${answer.text}`)
    return answer.json
  }
  const teams: string[] = []
  for (const each of ['red', 'green', 'blue']) {
    const { id } = await make('/teams', { name: each }, { 'idempotency-key': `"${each}"` })
    teams.push(id)
    let chief_id: string | undefined
    for (let index = 0; index < 4; index++) {
      chief_id = (await make(`/teams/${id}/members`, { name: `${each} ${index}`, chief_id })).id
    }
    await send({ method: 'PATCH', path: `/v1/teams/${id}`, as, body: { name: `${each} team` } })
  }
  const { data } = (await send({ path: '/v1/members?sort=name', as })).json
  await send({ method: 'DELETE', path: `/v1/members/${data[0].id}`, as })
  const { id: webhook_id } = await make('/webhooks', { url: 'https://nowhere.invalid/hook' })
  const [{ id: event_id }] = (await send({ path: '/v1/events', as })).json.data
  await make('/deliveries', { webhook_id, event_id })
  await until(async () => (await send({ path: '/v1/deliveries', as })).json.data.every(isTried))
  // What is not active changes no more by itself.
  await send({ method: 'PATCH', path: `/v1/webhooks/${webhook_id}`, as, body: { active: false } })
  for (const format of ['ndjson', 'csv', 'json']) await make('/exports', { collection: 'members', format })
  await send({ method: 'DELETE', path: `/v1/teams/${teams[2]}?wait=false`, as, headers: { prefer: 'respond-async' } })
  const { key } = await make('/api-keys', { subject: 'bob', roles: ['admin'] })
  await until(async () => (await send({ path: '/v1/jobs', as })).json.data.every(isFinished))
  return { key }
}

const isTried = ({ attempts }: { readonly attempts: number }) => attempts > 0
const isFinished = ({ finished_at }: { readonly finished_at: string | null }) => finished_at !== null

/** Makes a tenant of a copy of another: everything in it has the same ids and revisions, but its secrets are new. */
export async function copyTenant({ app, database }: TenantTrial, id: string, named: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-twin-'))
  const work = { signal: AbortSignal.timeout(60_000), onProgress() {}, version: '1.0.0', now: Date.now() }
  const of = (tenant: string) => ({ database: database.address, databaseUnsafe: true, tenant })
  try {
    const [file, twin] = [join(folder, 'backup.db'), uuidv7()]
    await backUpDatabase(of(id), file, work)
    await app.storage.tenants?.create({ id: twin, name: named, state: 'importing', most: 100, now: Date.now() })
    await restoreDatabase(file, of(twin), { ...work, renewsSecrets: true })
    await app.storage.tenants?.activate(twin, Date.now())
    return twin
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Everything in the database of a tenant but the notes of when keys were used, as text. */
export async function dumpOf({ database }: TenantTrial, tenant: string): Promise<string> {
  const administration = await administer({ database: database.address, databaseUnsafe: true, tenant })
  const source = await administration.openSource()
  try {
    await source.begin()
    const lines: string[] = []
    for (const table of movedTables(await source.schema())) {
      lines.push(table.name)
      for await (const rows of source.rows(table)) {
        for (const row of rows) lines.push(inspect(row, { maxStringLength: null, maxArrayLength: null, depth: 9 }))
      }
    }
    return lines.join('\n')
  } finally {
    await source.close()
  }
}

/** Waits until the tenant is served. */
export async function whenServed({ send }: TenantTrial, as: Caller): Promise<void> {
  await until(async () => (await send({ path: '/v1/caller', as })).status === 200)
}

/** A list that is read in pages. */
export interface Paged {
  readonly address: string
  readonly method: 'GET' | 'QUERY'
  readonly body?: object
  readonly cursor: string
}

/** What a tenant has, as its callers see it. */
export interface Holdings {
  /** Ids by collection. */
  readonly ids: ReadonlyMap<string, readonly string[]>
  /** Addresses that can be read, with their answers. */
  readonly answers: ReadonlyMap<string, Received>
  readonly pages: readonly Paged[]
}

const collections = ['teams', 'members', 'jobs', 'api-keys', 'events', 'webhooks', 'deliveries'] as const

/** Reads all that a tenant has, through one version. */
export async function holdingsOf({ send }: TenantTrial, as: Caller, base: string): Promise<Holdings> {
  const ids = new Map<string, string[]>()
  const answers = new Map<string, Received>()
  const pages: Paged[] = []
  const read = async (address: string) => {
    const answer = await send({ path: address, as })
    answers.set(address, answer)
    return answer
  }
  const readList = async (address: string) => {
    const separator = address.includes('?') ? '&' : '?'
    const found = await read(address)
    assert.equal(found.status, 200, `${address}: ${outcomeOf(found)}`)
    const sorts = /\/(?:teams|members)(?:\?|$)/.test(address) ? ['', '&sort=name', '&sort=-created_at,name'] : ['']
    for (const sort of sorts) {
      const first = (await send({ path: `${address}${separator}limit=1${sort}`, as })).json?.pagination
      if (typeof first?.next_cursor !== 'string') continue
      const at = `${address}${separator}limit=1${sort}`
      pages.push({ address: at, method: 'GET', cursor: first.next_cursor })
      const second = await send({ path: `${at}&cursor=${encodeURIComponent(first.next_cursor)}`, as })
      const { previous_cursor: back } = second.json?.pagination ?? {}
      if (typeof back === 'string') pages.push({ address: at, method: 'GET', cursor: back })
    }
    return (found.json?.data ?? []) as { readonly id: string }[]
  }
  for (const collection of collections) {
    const found = (await readList(`${base}/${collection}`)).map(({ id }) => id)
    ids.set(collection, found)
    for (const id of found) await read(`${base}/${collection}/${id}`)
  }
  const lists = [
    `${base}/members?include=team`,
    `${base}/teams?include_deleted=true`,
    `${base}/members?where={"name":{"startsWith":"r"}}`,
  ]
  for (const id of ids.get('teams') ?? []) {
    lists.push(`${base}/teams/${id}/members`, `${base}/teams/${id}/revisions`)
    await read(`${base}/teams/${id}/deletion`)
  }
  for (const id of ids.get('webhooks') ?? []) lists.push(`${base}/webhooks/${id}/deliveries`)
  ids.set('revisions', [])
  for (const each of lists) {
    const found = await readList(each)
    if (each.endsWith('/revisions')) ids.get('revisions')?.push(...found.map(({ id }) => id))
  }
  for (const id of ids.get('revisions') ?? []) await read(`${base}/revisions/${id}`)
  const exports = (await send({ path: `${base}/jobs?limit=100`, as })).json.data.filter(
    ({ kind }: { readonly kind: string }) => kind === 'export',
  )
  ids.set(
    'exports',
    exports.map(({ id }: { readonly id: string }) => id),
  )
  for (const id of ids.get('exports') ?? []) await read(`${base}/exports/${id}/content`)
  for (const collection of ['teams', 'members']) {
    await read(`${base}/${collection}/summary`)
    const body = { limit: 1, sort: ['name'] }
    const queried = await send({ method: 'QUERY', path: `${base}/${collection}`, as, body })
    const cursor = queried.json?.pagination?.next_cursor
    if (typeof cursor === 'string') pages.push({ address: `${base}/${collection}`, method: 'QUERY', body, cursor })
  }
  return { ids, answers, pages }
}
