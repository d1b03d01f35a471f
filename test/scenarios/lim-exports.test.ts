/** LIM-8: the number and size of a caller's exports, and their deletion. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { it, type TestContext } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { company } from '../declarations-company.ts'
import { type Received, type Sent, type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

const few = { ...company, limits: { exports: { count: 3, bytes: 20_000 } } }
const day = 86_400_000

function asking(more: Partial<Sent> = {}): Sent {
  return { path: '/v1/exports', body: { collection: 'companies', format: 'ndjson' }, ...more }
}

/** A company, and callers' exports of it. */
async function companyFor(context: TestContext, declaration: InterfaceDeclaration = few): Promise<Trial> {
  const current = await trialFor(context, declaration)
  await current.make('companies', { name: 'One' })
  return current
}

async function exported(current: Trial, as = 'root'): Promise<string> {
  const answer = await current.send(asking({ as }))
  assert.equal(answer.status, 202, answer.text)
  await current.app.runner.idle()
  return answer.json.job_id
}

function outcome({ status, json }: Received) {
  return [status, json?.code]
}

/** The exports of whose files anything is kept, beside the database or in it. */
async function keptExports({ app, database }: Trial): Promise<unknown[]> {
  const content = app.files.contentOf(nowhere)
  if ('path' in content) return readdirSync(dirname(content.path))
  return (await database.rows('select distinct job from resourced_pieces')).map(({ job }) => job)
}

it('LIM-8: a caller has at most 20 exports, until one is deleted or expires', async (context) => {
  const current = await companyFor(context, company)
  const { app, send, clock } = current
  const keyed = asking({ headers: { 'idempotency-key': 'one' } })
  const first = await send(keyed)
  for (let number = 1; number < 20; number++) assert.equal((await send(asking())).status, 202)
  const refused = await send(asking())
  assert.deepEqual(outcome(refused), [409, 'EXPORT_QUOTA'])
  assert.match(refused.json.detail, /20 of at most 20 exports.*DELETE \/exports\/ID/)
  assert.equal((await send({ path: '/v1/jobs' })).json.pagination.total_count, 20)
  const repeated = await send(keyed)
  assert.deepEqual([repeated.status, repeated.json.job_id], [202, first.json.job_id])
  assert.deepEqual(outcome(await send(asking({ body: { collection: 'companies' } }))), [400, 'VALIDATION_FAILED'])
  await app.runner.idle()
  assert.equal((await send(asking())).status, 409, 'those that are finished count too')
  assert.equal((await send({ method: 'DELETE', path: `/v1/exports/${first.json.job_id}` })).status, 204)
  assert.equal((await send(asking())).status, 202)
  assert.equal((await send(asking())).status, 409)
  await app.runner.idle()
  clock.ahead = day + 60_000
  assert.equal((await send(asking())).status, 202)
})

it('LIM-8: each caller has a quota of their own, administrators too', async (context) => {
  const current = await companyFor(context)
  const { send } = current
  for (let number = 0; number < 3; number++) await exported(current)
  assert.equal((await send(asking())).status, 409)
  const other = await current.send(asking({ as: 'eve' }))
  assert.notEqual(other.status, 409, other.text)
})

it('LIM-8: concurrent requests to two servers begin no more than 20', async (context) => {
  const one = await companyFor(context, company)
  const two = await trialFor(context, company, { database: one.database })
  const both = [
    { send: one.send, as: 'root' },
    { send: two.send, as: 'root' },
  ]
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, number) => {
      const { send, as } = both[number % 2] as (typeof both)[number]
      return send(asking({ as }))
    }),
  )
  const begun = answers.filter(({ status }) => status === 202)
  assert.equal(begun.length, 20, `${answers.map(({ status }) => status)}`)
  for (const answer of answers) if (answer.status !== 202) assert.deepEqual(outcome(answer), [409, 'EXPORT_QUOTA'])
  assert.equal((await one.send({ path: '/v1/jobs' })).json.pagination.total_count, 20)
})

it('LIM-8: an export that exceeds the remaining bytes fails, and its file is deleted at once', async (context) => {
  const current = await companyFor(context)
  const { app, send, make, seen } = current
  for (let number = 0; number < 60; number++) await make('companies', { name: `${number} ${'x'.repeat(190)}` })
  const small = await send(asking({ body: { collection: 'companies', format: 'csv', fields: ['name'] } }))
  await app.runner.idle()
  assert.deepEqual(await keptExports(current), [small.json.job_id])
  const large = await send(asking())
  assert.equal(large.status, 202)
  await app.runner.idle()
  const { json } = await send({ path: large.json.status_url })
  assert.deepEqual([json.status, json.error.code, json.error.status], ['failed', 'EXPORT_QUOTA', 409])
  assert.match(json.error.detail, /Delete exports, or ask for fewer records/)
  assert.deepEqual(await keptExports(current), [small.json.job_id])
  assert.equal((await send({ path: `/v1/exports/${large.json.job_id}/content` })).status, 404)
  assert.deepEqual(seen.filter(({ kind }) => kind === 'failure'), []) // biome-ignore format: a line
  assert.equal((await send({ method: 'DELETE', path: `/v1/exports/${small.json.job_id}` })).status, 204)
  // What failed takes nothing from the quota.
  const csv = { collection: 'companies', format: 'csv', fields: ['name'] }
  const again = await send(asking({ body: csv }))
  await app.runner.idle()
  assert.equal((await send({ path: again.json.status_url })).json.status, 'succeeded')
})

it('LIM-8: a caller who has used all allowed bytes gets no further export', async (context) => {
  const current = await companyFor(context, { ...company, limits: { exports: { bytes: 1_024 } } })
  const { app, send, make } = current
  for (let number = 0; number < 4; number++) await make('companies', { name: `${number} ${'x'.repeat(190)}` })
  let refused = await send(asking({ body: { collection: 'companies', format: 'csv', fields: ['name'] } }))
  await app.runner.idle()
  const body = { collection: 'companies', filter: { name: 'One' }, format: 'csv', fields: ['name'] }
  for (let number = 0; number < 5 && refused.status === 202; number++) {
    refused = await send(asking({ body }))
    await app.runner.idle()
  }
  const jobs = (await send({ path: '/v1/jobs?kind=export' })).json.data
  const bytes = jobs.map((job: { result: { bytes: number } | null }) => job.result?.bytes ?? 0)
  const sum = bytes.reduce((all: number, each: number) => all + each, 0)
  assert.ok(sum <= 1_024 && sum > 900, `${bytes}`)
  assert.ok(jobs.every(({ status, error }: { status: string; error: { code: string } }) => status === 'succeeded' || error.code === 'EXPORT_QUOTA')) // biome-ignore format: a line
})

it('LIM-8: exports of other callers count only against the bytes of all callers', async (context) => {
  const limits = { exports: { bytes: 20_000, total: 5_000 } }
  const current = await companyFor(context, { ...company, limits })
  const { app, send, make } = current
  for (let number = 0; number < 8; number++) await make('companies', { name: `${number} ${'x'.repeat(190)}` })
  await exported(current)
  const late = await send(asking({ as: 'ann' }))
  await app.runner.idle()
  const { json } = await send({ path: late.json.status_url, as: 'ann' })
  assert.deepEqual([json.status, json.error.code, json.error.status], ['failed', 'EXPORT_SPACE', 503])
  assert.doesNotMatch(json.error.detail, /\//)
  assert.equal((await keptExports(current)).length, 1)
})

it('LIM-8: the caller of an export and administrators can delete it, with its file and its job', async (context) => {
  const current = await companyFor(context, company)
  const { send } = current
  for (const [address, as] of [
    ['exports', 'ann'],
    ['jobs', 'ann'],
    ['exports', 'root'],
  ] as const) {
    const id = await exported(current, 'ann')
    const path = `/v1/${address}/${id}`
    assert.deepEqual(await keptExports(current), [id])
    assert.deepEqual(outcome(await send({ method: 'DELETE', path, as: 'bob' })), [403, 'FORBIDDEN'])
    assert.equal((await send({ method: 'DELETE', path, as: null })).status, 401)
    assert.deepEqual(outcome(await send({ method: 'DELETE', path, as, headers: { 'if-match': '"x"' } })), [412, 'PRECONDITION_FAILED']) // biome-ignore format: a line
    assert.deepEqual(outcome(await send({ method: 'DELETE', path: `${path}?x=1`, as })), [400, 'INVALID_QUERY'])
    assert.deepEqual(await keptExports(current), [id])
    const gone = await send({ method: 'DELETE', path, as, headers: { prefer: 'return=representation, respond-async' } })
    assert.deepEqual([gone.status, gone.text, gone.headers['preference-applied']], [204, '', undefined])
    assert.deepEqual(await keptExports(current), [])
    for (const after of [path, `/v1/jobs/${id}`, `/v1/exports/${id}`]) {
      assert.deepEqual(outcome(await send({ method: 'DELETE', path: after, as })), [404, 'NOT_FOUND'])
    }
    assert.equal((await send({ path: `/v1/jobs/${id}`, as })).status, 404)
    assert.equal((await send({ path: `/v1/exports/${id}/content`, as })).status, 404)
    assert.equal((await send({ path: '/v1/jobs', as: 'ann' })).json.pagination.total_count, 0)
  }
})

it('LIM-8: a running job cannot be deleted', async (context) => {
  const current = await companyFor(context)
  const { app, send } = current
  const { readExport } = app.storage.jobs
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  Object.assign(app.storage.jobs, { readExport: async (job: string) => opened.then(() => readExport(job)) })
  const { job_id } = (await send(asking())).json
  for (const address of ['jobs', 'exports']) {
    const refused = await send({ method: 'DELETE', path: `/v1/${address}/${job_id}` })
    assert.deepEqual(outcome(refused), [409, 'JOB_NOT_FINISHED'])
    assert.match(refused.json.detail, /once its status is succeeded or failed/)
  }
  open()
  await app.runner.idle()
  assert.equal((await send({ path: `/v1/exports/${job_id}/content` })).status, 200)
  assert.equal((await send({ method: 'DELETE', path: `/v1/jobs/${job_id}` })).status, 204)
})

it('LIM-8: jobs without a file are deleted at the path of the job only', async (context) => {
  const current = await companyFor(context)
  const { app, send, make } = current
  const { id } = await make('companies', { name: 'Two' })
  const { json } = await send({ method: 'DELETE', path: `/v1/companies/${id}`, headers: { prefer: 'respond-async' } })
  await app.runner.idle()
  assert.equal((await send({ method: 'DELETE', path: `/v1/exports/${json.job_id}` })).status, 404)
  assert.equal((await send({ method: 'DELETE', path: json.status_url })).status, 204)
  assert.equal((await send({ path: json.status_url })).status, 404)
  // The record that the job deleted is there still, to be restored.
  const restored = await send({ method: 'POST', path: `/v1/companies/${id}/restore` })
  assert.equal(restored.status, 200, restored.text)
})

it('LIM-8: the paths report their methods', async (context) => {
  const { send } = await companyFor(context)
  for (const [path, allow] of [
    [`/v1/exports/${nowhere}`, 'DELETE, OPTIONS'],
    [`/v1/jobs/${nowhere}`, 'GET, HEAD, DELETE, OPTIONS'],
  ] as const) {
    const options = await send({ method: 'OPTIONS', path })
    assert.deepEqual([options.status, options.headers['allow']], [204, allow])
    const put = await send({ method: 'PUT', path, body: {} })
    assert.deepEqual([put.status, put.headers['allow']], [405, allow])
    assert.equal((await send({ method: 'DELETE', path })).status, 404)
  }
  assert.equal((await send({ path: `/v1/exports/${nowhere}` })).status, 405)
  assert.equal((await send({ path: `/v1/exports/${nowhere}/other` })).status, 404)
})

it('LIM-8: a download while another server deletes the export is complete, or 404', async (context) => {
  const one = await companyFor(context, company)
  const two = await trialFor(context, company, { database: one.database })
  const id = await exported(one)
  const path = `/v1/exports/${id}/content`
  // From here on the second server has a copy of its own, where it needs one.
  assert.equal((await two.send({ path })).status, 200)
  assert.equal((await one.send({ method: 'DELETE', path: `/v1/exports/${id}` })).status, 204)
  for (const { send } of [one, two]) assert.equal((await send({ path })).status, 404)
})
