/** JOB: background jobs, as clients see them, with several servers on one database. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { type Application, assemble } from '../../../packages/server/src/server/app.ts'
import { company, levels } from '../../declarations-company.ts'
import { type Trial, trialFor } from '../../harness.ts'
import { countOf } from '../../steps.ts'

/** The members of a job that JOB-1 promises. */
const promised = ['job_id', 'status', 'status_url', 'kind', 'progress', 'created_at', 'started_at', 'finished_at', 'result', 'error'] // biome-ignore format: one row reads best

async function fill({ make }: Trial, departments: number) {
  const { id } = await make('companies', { name: 'Acme' })
  const names = Array.from({ length: departments }, (_, number) => `Department ${number}`).values()
  const making = Array.from({ length: 16 }, async () => {
    for (const name of names) await make('departments', { name, company_id: id })
  })
  await Promise.all(making)
  return id as string
}

it('JOB-1: a job is a complete resource at the path that the response names', async (context) => {
  const current = await trialFor(context, company)
  const { app, send } = current
  const id = await fill(current, 6)
  const { json } = await send({ method: 'DELETE', path: `/v1/companies/${id}` })
  await app.runner.idle()
  const job = (await send({ path: json.status_url })).json
  for (const name of promised) assert.ok(name in job, name)
  assert.deepEqual([job.job_id, job.id, job.status_url], [json.job_id, json.job_id, json.status_url])
  assert.deepEqual(Object.keys(job.progress), ['done', 'total'])
  const some = await send({ path: `${json.status_url}?fields=status,progress` })
  assert.deepEqual(Object.keys(some.json), ['id', 'status', 'progress'])
})

it('JOB-2: a job is pending, then running, then succeeded, with Retry-After until it ends', async (context) => {
  const current = await trialFor(context, company)
  const { app, send } = current
  const id = await fill(current, 6)
  const { step } = app.storage.jobs
  let steps = 0
  Object.assign(app.storage.jobs, { step: async () => 'more' })
  const { json } = await send({ method: 'DELETE', path: `/v1/companies/${id}` })
  const job = { id: json.job_id, task: 'deletion' } as const
  const seen: [status: string, retry: string | undefined][] = []
  const look = async () => {
    const answer = await send({ path: json.status_url })
    seen.push([answer.json.status, answer.headers['retry-after']])
    assert.equal(answer.json.started_at === null, answer.json.status === 'pending')
    assert.equal(answer.json.finished_at === null, answer.json.status !== 'succeeded')
  }
  await look()
  do {
    steps++
    if (steps === 2) await look()
  } while ((await step(job, Date.now())) === 'more')
  await look()
  assert.deepEqual(seen, [['pending', '1'], ['running', '1'], ['succeeded', undefined]]) // biome-ignore format: a line
  // Once more changes nothing, and whoever comes too late is not told that it has ended it.
  assert.equal(await step(job, Date.now()), 'elsewhere')
  Object.assign(app.storage.jobs, { step })
})

/** Another server on the database of a trial. */
async function besides(context: TestContext, { app, database }: Trial, now?: () => number): Promise<Application> {
  const other = assemble(app.catalog, await database.open(app.catalog), { rateLimit: 'off', now })
  context.after(() => other.close())
  return other
}

it('JOB-5: with two servers on one database, each batch runs on one of them', async (context) => {
  const current = await trialFor(context, company)
  const { app, send } = current
  const id = await fill(current, 1_500)
  const other = await besides(context, current)
  const ran = new Set<string>()
  const bothCame = Promise.withResolvers<void>()
  for (const [name, { storage }] of [
    ['one', app],
    ['two', other],
  ] as const) {
    // biome-ignore format: a line
    const { step } = storage.jobs
    Object.assign(storage.jobs, {
      step: async (...given: Parameters<typeof step>) => {
        if (ran.add(name).size === 2) bothCame.resolve()
        await bothCame.promise
        return step(...given)
      },
    })
  }
  const { json } = await send({ method: 'DELETE', path: `/v1/companies/${id}` })
  other.runner.wake()
  await Promise.all([app.runner.idle(), other.runner.idle()])
  const job = (await send({ path: json.status_url })).json
  assert.deepEqual([job.status, job.progress], ['succeeded', { done: 1_501, total: 1_501 }])
  assert.deepEqual(await Promise.all(levels.map((name) => countOf(current, name))), [0, 0, 0, 0])
  // Each record was deleted once: its revision has moved by one.
  const revisions = await current.database.rows('select distinct _revision & 1048575 as revision from departments')
  assert.deepEqual(revisions.map(({ revision }) => revision), [2]) // biome-ignore format: a line
})

it('JOB-5: one server writes an export, and the other continues it if the first is gone', async (context) => {
  const current = await trialFor(context, company)
  const { app, send } = current
  await fill(current, 2_500)
  const { json } = await send({ path: '/v1/departments?per_page=100&sort=created_at' })
  const { claimExport } = app.storage.jobs
  const claims: number[] = []
  // It claims the export, and is never heard of again.
  Object.assign(app.storage.jobs, {
    async claimExport(...given: Parameters<typeof claimExport>) {
      if (claims.push(given[2]) === 1) await claimExport(...given)
      return undefined
    },
  })
  const asked = await send({
    path: '/v1/exports',
    body: { collection: 'departments', sort: 'created_at', format: 'ndjson' },
  })
  await app.runner.idle()
  let now = claims[0] as number
  const other = await besides(context, current, () => now)
  const jobAfter = async (milliseconds: number) => {
    now += milliseconds
    await other.runner.idle()
    return (await send({ path: asked.json.status_url })).json
  }
  assert.notEqual((await jobAfter(2_999)).status, 'succeeded')
  const { id, status, result } = await jobAfter(1)
  assert.equal(status, 'succeeded')
  assert.ok(await other.files.has(id, result.bytes))
  const lines = (await send({ path: result.content_url })).text.trimEnd().split('\n')
  assert.equal(lines.length, 2_500)
  assert.deepEqual(lines.slice(0, 100).map((line) => JSON.parse(line)), json.data) // biome-ignore format: a line
  assert.equal(new Set(lines.map((line) => JSON.parse(line).id)).size, 2_500)
})
