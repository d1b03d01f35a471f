/**
 * TEN-3: a copy of a tenant has everything of it, from either engine to either: records, deleted ones, histories,
 * events, kept summaries, sums, numbers, keys of idempotency and jobs. Servers serve both databases meanwhile.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { commandFile } from '../command-file.ts'
import type { TrialDatabase } from '../engine.ts'
import { purgeAt } from '../harness.ts'
import { fastFolder } from '../postgres/account.ts'
import { databaseFor, whyNoDatabase } from '../postgres/database.ts'
import { until } from '../until.ts'
import { createTenants, member, operator, type TenantTrial, tenantTrial } from './tenants.ts'

const everybody = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const
const kept = {
  ...{ events: true, history: true, deletion: { gracePeriod: 'PT1H' } },
  access: { ...everybody, readHistory: 'anyone', readDeleted: 'anyone' },
} as const
const declaration: InterfaceDeclaration = {
  name: 'shop',
  tenants: { caller: 'claims.team', gracePeriod: 'PT2H' },
  resources: {
    invoices: {
      ...kept,
      fields: {
        title: { type: 'string', unique: true },
        number: { type: 'integer', sequence: {} },
        status: { type: 'string', enum: ['open', 'paid'], filter: true },
        price: { type: 'decimal', precision: 10, scale: 2 },
        total: { type: 'decimal', precision: 12, scale: 2, sumOf: 'lines.amount', filter: true, sort: true },
      },
      summaries: { by_status: { group: ['status'], sum: ['price'] } },
    },
    lines: {
      ...kept,
      fields: {
        invoice_id: { reference: 'invoices', onDelete: 'cascade' },
        amount: { type: 'decimal', precision: 10, scale: 2 },
      },
      within: 'invoice_id',
    },
  },
} as never

const folder = mkdtempSync(join(fastFolder(), 'resourced-copies-'))
after(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'resources.json'), JSON.stringify(declaration))

const hour = 3_600_000
const path = '/v1/invoices'
const merge = { 'content-type': 'application/merge-patch+json' }
const repeated = { 'idempotency-key': '"once"' }

let files = 0
const engines = {
  sqlite: async (_: TestContext) => `sqlite:${join(folder, `${files++}.db`)}`,
  postgres: databaseFor,
}
type Engine = keyof typeof engines

/** A server on a new database. */
async function serverOn(context: TestContext, engine: Engine) {
  const address = await engines[engine](context)
  const database = { address } as TrialDatabase
  const trial = await tenantTrial(declaration, { database })
  context.after(() => trial.stop())
  return trial
}

/** Runs a command as a process, while the servers of this process go on. */
async function run(trial: TenantTrial, ...words: readonly string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: trial.database.address, DATABASE_UNSAFE: 'true' }
  const child = spawn(process.execPath, [commandFile, ...words], { cwd: folder, env })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  const status = await new Promise((resolve) => child.on('close', resolve))
  assert.equal(status, 0, said)
  return said
}

/** Sends a request that succeeds, once an imported tenant is brought up to the declaration, and gives its body. */
async function ask({ send }: TenantTrial, sent: Parameters<TenantTrial['send']>[0]) {
  for (let attempt = 0; ; attempt++) {
    const { status, text, json } = await send(sent)
    if (status < 300) return json
    assert.ok(
      json?.code === 'TENANT_MIGRATING' && attempt < 3_000,
      `${sent.method ?? ''} ${sent.path}: ${status} ${text}`,
    )
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Gives a tenant records of every state. */
async function fill(trial: TenantTrial, team: string): Promise<void> {
  const as = member(team)
  const ids: string[] = []
  for (const [index, title] of ['one', 'two', 'three', 'four'].entries()) {
    const body = { title, status: index % 2 === 0 ? 'open' : 'paid', price: `${index + 1}.50` }
    const { id } = await ask(trial, { path, as, body, ...(index === 0 && { headers: repeated }) })
    ids.push(id)
    for (const amount of ['1.25', '2.50']) await ask(trial, { path: `${path}/${id}/lines`, as, body: { amount } })
  }
  const [one, two, three] = ids.map((id) => `${path}/${id}`) as [string, string, string]
  await ask(trial, { method: 'PATCH', path: one, as, body: { status: 'paid', price: '9.75' }, headers: merge })
  const { data } = await ask(trial, { path: `${one}/lines`, as })
  await ask(trial, { method: 'PATCH', path: `/v1/lines/${data[0].id}`, as, body: { amount: '5.00' }, headers: merge })
  // One invoice stays deleted, with its lines, and one is restored.
  for (const each of [two, three]) await ask(trial, { method: 'DELETE', path: each, as })
  await ask(trial, { method: 'POST', path: `${three}/restore`, as })
}

/** Everything that a tenant shows, apart from what its own secrets sign. */
async function shown(trial: TenantTrial, team: string): Promise<unknown> {
  const as = member(team)
  const all = '?include_deleted=true&limit=100'
  const found: Record<string, unknown> = {}
  const read = async (address: string) => {
    const { data, pagination } = await ask(trial, { path: address, as })
    found[address] = [data, pagination?.total_count]
    return data as readonly { readonly id: string }[]
  }
  for (const { id } of await read(path)) await read(`${path}/${id}/lines${all}`)
  for (const more of [all, '?status=paid', '?sort=-total']) await read(path + more)
  for (const group of ['status', 'created_at:day']) await read(`${path}/summary?group=${group}&sum=price`)
  await read('/v1/jobs')
  const events = (await read('/v1/events?limit=100')) as never as readonly {
    readonly collection: string
    readonly record: string
  }[]
  for (const record of new Set(events.map((event) => `/v1/${event.collection}/${event.record}`))) {
    await read(`${record}/revisions?include_deleted=true`)
  }
  return found
}

/** What `doctor` says of the kept figures of a tenant, which it counts again. */
async function requireExact(trial: TenantTrial, team: string): Promise<void> {
  const said = await run(trial, 'doctor', '--tenant', team, '--port', '0')
  assert.match(said, /ok +summaries +2 kept summaries are exact\./, said)
}

/** Changes a copy: what is kept goes on from where it was. */
async function goOn(trial: TenantTrial, team: string): Promise<void> {
  const as = member(team)
  const list = async (address: string) => (await ask(trial, { path: address, as })).data
  const [before] = await list(`${path}/summary?group=status&sum=price&status=paid`)
  const events = await list('/v1/events?limit=100')
  const body = { title: 'new', status: 'paid', price: '100.00' }
  const made = await ask(trial, { path, as, body })
  assert.equal(made.number, 5, 'numbers go on')
  const again = await trial.send({ path, as, body: { ...body, title: 'two', status: 'open' } })
  assert.equal(again.status, 201, 'the unique value of a deleted record is free')
  const [paid] = await list(`${path}/summary?group=status&sum=price&status=paid`)
  assert.deepEqual([paid.count - before.count, Number(paid.sum.price) - Number(before.sum.price)], [1, 100])
  await ask(trial, { path: `${path}/${made.id}/lines`, as, body: { amount: '7.50' } })
  assert.equal((await ask(trial, { path: `${path}/${made.id}`, as })).total, '7.50')
  const [one] = (await list(path)).filter(({ number }: { number: number }) => number === 1)
  assert.equal(one.total, '7.50', '5.00 and 2.50')
  await ask(trial, { path: `${path}/${one.id}/lines`, as, body: { amount: '0.25' } })
  assert.equal((await ask(trial, { path: `${path}/${one.id}`, as })).total, '7.75')
  // The first answer of a key, whatever became of its record.
  const first = { title: 'one', status: 'open', price: '1.50' }
  const repetition = await ask(trial, { path, as, body: first, headers: repeated })
  assert.equal(repetition.id, one.id)
  const later = await list('/v1/events?limit=100')
  assert.deepEqual(later.slice(0, events.length), events)
  // A line changes the sum of its invoice, too.
  const added = later
    .slice(events.length)
    .map(({ kind, collection }: Record<string, string>) => `${kind} ${collection}`)
  const line = ['created lines', 'updated invoices']
  assert.deepEqual(added.sort(), ['created invoices', 'created invoices', ...line, ...line].sort())
  await requireExact(trial, team)
}

/** Ends the grace periods of records of a copy, and then that of the copy itself. */
async function endGrace(trial: TenantTrial, team: string): Promise<void> {
  const as = member(team)
  const deleted = async () => (await ask(trial, { path: `${path}?include_deleted=only`, as })).data.length
  assert.equal(await deleted(), 1)
  await trial.stop()
  const { database } = trial
  const later = await tenantTrial(declaration, { database, ahead: 1.5 * hour })
  await until(async () => {
    return (await ask(later, { path: `${path}?include_deleted=only`, as })).data.length === 0
  }, 'the deleted invoice is removed')
  await requireExact(later, team)
  const { id } = (await ask(later, { path: `/v1/tenants?name=${team}`, as: operator })).data[0]
  await ask(later, { method: 'DELETE', path: `/v1/tenants/${id}`, as: operator })
  await ask(later, { method: 'POST', path: `/v1/tenants/${id}/restore`, as: operator })
  assert.ok((await ask(later, { path, as })).data.length > 0)
  await ask(later, { method: 'DELETE', path: `/v1/tenants/${id}`, as: operator })
  const end = Date.now() + 4 * hour
  later.clock.ahead = 4 * hour
  assert.equal(await purgeAt(later.app, end), 1)
  assert.ok(!(await run(later, 'tenants', 'list')).includes(id))
  await later.stop()
}

const ways: readonly (readonly [Engine, Engine])[] = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
  ['postgres', 'postgres'],
]
for (const [one, other] of ways) {
  const skip = one === 'postgres' || other === 'postgres' ? (whyNoDatabase ?? false) : false
  test(`TEN-3: a tenant is copied from ${one} to ${other} and back, whole`, { skip }, async (context) => {
    const [source, target] = await Promise.all([serverOn(context, one), serverOn(context, other)])
    await createTenants(source, 'acme', 'globex')
    await fill(source, 'acme')
    const expected = await shown(source, 'acme')
    // Another tenant changes meanwhile.
    let isDone = false
    const changing = (async () => {
      for (let number = 0; !isDone; number++) {
        const body = { title: `${number}`, status: 'open', price: '1.00' }
        await ask(source, { path, as: member('globex'), body })
      }
    })()
    const [there, back] = [1, 2].map((name) => join(folder, `${one}-${other}-${name}.backup`)) as [string, string]
    await run(source, 'tenants', 'export', 'acme', there)
    await run(target, 'tenants', 'import', 'copy', there)
    assert.deepEqual(await shown(target, 'copy'), expected)
    await run(target, 'tenants', 'export', 'copy', back)
    await run(source, 'tenants', 'import', 'returned', back)
    isDone = true
    await changing
    assert.deepEqual(await shown(source, 'returned'), expected)
    assert.deepEqual(await shown(source, 'acme'), expected, 'the original is as it was')
    await goOn(target, 'copy')
    await goOn(source, 'returned')
    assert.deepEqual(await shown(source, 'acme'), expected, 'a copy is apart from it')
    await endGrace(target, 'copy')
  })
}

for (const engine of ['sqlite', 'postgres'] as const) {
  const skip = engine === 'postgres' ? (whyNoDatabase ?? false) : false
  test(`TEN-3: a copy that is made on ${engine} while its tenant changes is of one moment`, {
    skip,
  }, async (context) => {
    const trial = await serverOn(context, engine)
    await createTenants(trial, 'acme')
    const as = member('acme')
    let isDone = false
    let made = 0
    const changing = async (writer: number) => {
      for (let number = 0; !isDone; number++) {
        const body = { title: `${writer} ${number}`, status: number % 2 === 0 ? 'open' : 'paid', price: '1.00' }
        const { id } = await ask(trial, { path, as, body })
        await ask(trial, { path: `${path}/${id}/lines`, as, body: { amount: '2.00' } })
        made++
      }
    }
    const writers = Promise.all([1, 2, 3].map(changing))
    await until(() => made > 20, 'there are some')
    const file = join(folder, `${engine}-moment.backup`)
    await run(trial, 'tenants', 'export', 'acme', file)
    isDone = true
    await writers
    await run(trial, 'tenants', 'import', 'moment', file)
    const copy = member('moment')
    const total = async (address: string) => (await ask(trial, { path: address, as: copy })).pagination.total_count
    const { data } = await ask(trial, { path: `${path}/summary?group=status&sum=price`, as: copy })
    const counted = data.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
    const invoices = await total(path)
    assert.ok(counted >= 20 && counted < made + 3, `${counted} of ${made}`)
    assert.equal(counted, invoices)
    const created = await total('/v1/events?collection=invoices&kind=created')
    assert.equal(created, invoices)
    const { data: totals } = await ask(trial, { path: `${path}/summary?sum=total`, as: copy })
    assert.equal(Number(totals[0].sum.total), 2 * (await total('/v1/events?collection=lines')))
    await requireExact(trial, 'moment')
  })
}
