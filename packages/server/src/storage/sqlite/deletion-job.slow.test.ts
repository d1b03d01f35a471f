/** A deletion that runs as a job, at the level of storage: batch by batch, and through changes of the declaration. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { ResourceDeclaration } from 'resourced-contract/model/declaration'
import { always } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import type { Storage } from '../storage.ts'
import { openSqlite } from './storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-jobs-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0

const name = { type: 'string', search: true, unique: true } as const
const boxes: ResourceDeclaration = { fields: { name }, deletion: { asynchronous: 'always' } }
const things: ResourceDeclaration = { fields: { name, box_id: { reference: 'boxes', onDelete: 'cascade' } } }
const parts: ResourceDeclaration = { fields: { name, thing_id: { reference: 'things', onDelete: 'cascade' } } }
const declared = { boxes, things, parts }

function catalogOf(resources: Readonly<Record<string, ResourceDeclaration>>): Catalog {
  return completeCatalog({ name: 'jobs', resources })
}

const caller = { id: 'ann', roles: ['admin'], claims: {} }
const shared = { permitted: always, caller, now: Date.now() }

async function create(storage: Storage, resource: Resource | undefined, body: object): Promise<string> {
  const id = uuidv7()
  const plan = {
    kind: 'create',
    resource: resource as Resource,
    id,
    parent: undefined,
    body,
    mayAssignOwner: true,
  } as const
  assert.equal((await storage.run({ ...plan, ...shared })).kind, 'created')
  return id
}

/** A box of things, each of parts, and the job that deletes it. */
async function begun(things = 3, parts = 2) {
  const catalog = catalogOf(declared)
  const path = join(folder, `${++files}.db`)
  const storage = openSqlite(catalog, { path })
  const of = (collection: string) => catalog.resources.get(collection)
  const box = await create(storage, of('boxes'), { name: 'box' })
  for (let thing = 0; thing < things; thing++) {
    const id = await create(storage, of('things'), { name: `thing ${thing}`, box_id: box })
    for (let part = 0; part < parts; part++) {
      await create(storage, of('parts'), { name: `part ${thing} ${part}`, thing_id: id })
    }
  }
  const deletion = uuidv7()
  const readable = new Map(['boxes', 'things', 'parts'].map((name) => [name, always]))
  const removal = { deletion, statusUrl: '', above: 0, readable }
  const plan = { kind: 'delete', resource: of('boxes') as Resource, id: box, conditions: {} } as const
  assert.equal((await storage.run({ ...plan, ...removal, ...shared })).kind, 'accepted')
  return { path, storage, job: { id: deletion, task: 'deletion' } as const }
}

/** How many records of a table are live, and how many there are. */
function countsOf(path: string, table: string): readonly [live: number, all: number] {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare(`select count(*) - count(deleted_at) as live, count(*) as whole from ${table}`).get()
  database.close()
  return [Number(row?.['live']), Number(row?.['whole'])]
}

function jobOf(path: string): Record<string, unknown> {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = { ...database.prepare('select status, progress, result, error from jobs').get() }
  database.close()
  return row
}

async function finish(storage: Storage, job: Awaited<ReturnType<typeof begun>>['job']): Promise<number> {
  let steps = 1
  while ((await storage.jobs.step(job, Date.now())) === 'more') assert.ok(++steps < 100)
  return steps
}

test('JOB-3: the result is the same after a crash behind any batch', async () => {
  const whole = await begun()
  const steps = await finish(whole.storage, whole.job)
  await whole.storage.close()
  assert.ok(steps > 5)
  for (let before = 0; before < steps; before++) {
    const { path, storage, job } = await begun()
    for (let step = 0; step < before; step++) await storage.jobs.step(job, Date.now())
    // Nothing of the first server lives on.
    await storage.close()
    const next = openSqlite(catalogOf(declared), { path })
    assert.deepEqual(await next.jobs.open(), [job])
    assert.equal(before + (await finish(next, job)), steps)
    assert.deepEqual(await next.jobs.open(), [])
    await next.close()
    assert.deepEqual(['boxes', 'things', 'parts'].map((table) => countsOf(path, table)), [[0, 1], [0, 3], [0, 6]]) // biome-ignore format: a line
    assert.deepEqual(jobOf(path)['progress'], '{"done":10,"total":10}')
  }
})

test('JOB-3: a deletion can be undone until its last record is marked', async () => {
  for (const before of [0, 1, 2]) {
    const { path, storage, job } = await begun()
    for (let step = 0; step < before; step++) await storage.jobs.step(job, Date.now())
    assert.equal(await storage.jobs.fail(job, { code: 'WHATEVER' }, Date.now()), true)
    assert.deepEqual(await storage.jobs.open(), [])
    await storage.close()
    assert.deepEqual(['boxes', 'things', 'parts'].map((table) => countsOf(path, table)), [[1, 1], [3, 3], [6, 6]]) // biome-ignore format: a line
    const { status, error } = jobOf(path)
    assert.deepEqual([status, error], ['failed', '{"code":"WHATEVER"}'])
  }
  const { storage, job } = await begun()
  for (let step = 0; step < 5; step++) await storage.jobs.step(job, Date.now())
  assert.equal(await storage.jobs.fail(job, {}, Date.now()), false)
  await finish(storage, job)
  await storage.close()
})

test('JOB-5: a server that reaches a job which another server has ended does not report its end', async () => {
  const { storage, job } = await begun()
  await finish(storage, job)
  assert.equal(await storage.jobs.step(job, Date.now()), 'elsewhere')
  for (const task of ['purge', 'deletion', 'export'] as const) {
    assert.equal(await storage.jobs.fail({ ...job, task }, {}, Date.now()), false, task)
  }
  assert.equal(await storage.jobs.step({ ...job, task: 'purge' }, Date.now()), 'elsewhere')
  await storage.close()
})

test('JOB-3: a unique value that was taken meanwhile blocks undoing, and nothing is undone', async () => {
  const { path, storage, job } = await begun()
  await storage.jobs.step(job, Date.now())
  const other = catalogOf(declared).resources.get('boxes')
  await create(storage, other, { name: 'box' })
  await assert.rejects(storage.jobs.fail(job, {}, Date.now()), { kind: 'failed' })
  assert.deepEqual(await storage.jobs.open(), [job])
  await finish(storage, job)
  await storage.close()
  assert.deepEqual(countsOf(path, 'boxes'), [1, 2])
})

test('JOB-3: an accepted job is finished, even if the declaration has changed', async () => {
  const hard = { ...things, deletion: { variant: 'hard' } } as const
  const guards = { fields: { name, thing_id: { reference: 'things', onDelete: 'restrict' } } } as const
  const declarations = [
    { resources: { ...declared, things: hard }, things: [0, 0], parts: [0, 6] },
    { resources: { ...declared, guards }, things: [0, 3], parts: [0, 6] },
    // Its table is gone, and all that was in it.
    { resources: { boxes, things }, things: [0, 3], parts: undefined },
    { resources: { boxes }, things: undefined, parts: undefined },
  ] as const
  for (const { resources, things: left, parts: under } of declarations) {
    const { path, storage, job } = await begun()
    await storage.jobs.step(job, Date.now())
    await storage.close()
    const next = openSqlite(catalogOf(resources), { path, migrate: 'all' })
    await finish(next, job)
    await next.close()
    assert.equal(jobOf(path)['status'], 'succeeded')
    assert.deepEqual(countsOf(path, 'boxes'), [0, 1])
    if (left !== undefined) assert.deepEqual(countsOf(path, 'things'), left)
    if (under !== undefined) assert.deepEqual(countsOf(path, 'parts'), under)
  }
})
