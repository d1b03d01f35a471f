/** JOB-6, HED-2: exports, from the request to the last byte. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { it } from 'node:test'
import { parse } from 'csv-parse/sync'
import { samples, studio } from '../declarations.ts'
import { company } from '../declarations-company.ts'
import { engine, sqliteOnly } from '../engine.ts'
import { places, type Sent, type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

function asking(body: unknown, more: Partial<Sent> = {}): Sent {
  return { path: '/v1/exports', body, ...more }
}

/** Asks for an export, waits for it, and gives where its file is. */
async function exported({ app, send }: Trial, body: unknown, as = 'root') {
  const answer = await send(asking(body, { as }))
  assert.equal(answer.status, 202, answer.text)
  await app.runner.idle()
  const { json } = await send({ path: answer.json.status_url, as })
  assert.equal(json.status, 'succeeded', JSON.stringify(json))
  return { job: json, path: json.result.content_url as string }
}

/** The exports of whose files anything is kept, beside the database or in it. */
async function keptExports({ app, database }: Trial): Promise<unknown[]> {
  const content = app.files.contentOf(nowhere)
  if ('path' in content) return readdirSync(dirname(content.path))
  return (await database.rows('select distinct job from resourced_pieces')).map(({ job }) => job)
}

it('JOB-6: a collection is exported to a file in each format, and the job links to the file', async (context) => {
  const current = await trialFor(context, company)
  const { send, make } = current
  for (const name of ['=cmd|x', 'with "quotes", and a comma', 'zwei\nZeilen']) await make('companies', { name })
  const { data } = (await send({ path: '/v1/companies?sort=created_at' })).json
  const json = await exported(current, { collection: 'companies', format: 'json' })
  const { result, progress, kind, started_by } = json.job
  assert.deepEqual([kind, started_by, progress], ['export', 'root', { done: 3, total: 3 }])
  assert.deepEqual(Object.keys(result), ['collection', 'format', 'content_url', 'record_count', 'bytes', 'expires_at'])
  const whole = await send({ path: json.path })
  assert.equal(whole.status, 200)
  assert.deepEqual(JSON.parse(whole.text), data)
  assert.equal(whole.headers['content-type'], 'application/json')
  assert.equal(Buffer.byteLength(whole.text), result.bytes)
  assert.match(String(whole.headers['content-disposition']), /^attachment; filename="companies-\d{8}T\d{6}Z\.json"$/)
  assert.deepEqual([whole.headers['cache-control'], whole.headers['accept-ranges']], ['private, no-cache', 'bytes'])
  const lines = await exported(current, { collection: 'companies', format: 'ndjson' })
  const read = await send({ path: lines.path })
  assert.equal(read.headers['content-type'], 'application/x-ndjson')
  assert.deepEqual(read.text.trimEnd().split('\n').map((line) => JSON.parse(line)), data) // biome-ignore format: a line
  const csv = await exported(current, { collection: 'companies', format: 'csv', fields: ['name'] })
  const table = await send({ path: csv.path, headers: { accept: 'text/csv' } })
  assert.equal(table.headers['content-type'], 'text/csv; charset=utf-8')
  assert.deepEqual(parse(table.text), [['id', 'name'], [data[0].id, "'=cmd|x"], ...[1, 2].map((row) => [data[row].id, data[row].name])]) // biome-ignore format: a line
  assert.equal((await send({ path: csv.path, headers: { accept: 'application/json' } })).status, 406)
})

it('JOB-6: an export follows filter, sort and fields, and contains no deleted records', async (context) => {
  const current = await trialFor(context, company)
  const { send, make } = current
  for (const name of ['Birch', 'Ash', 'Cedar', 'Beech']) await make('companies', { name })
  const gone = await make('companies', { name: 'Bald cypress' })
  await send({ method: 'DELETE', path: `/v1/companies/${gone.id}` })
  const filter = { or: [{ name: { startsWith: 'b' } }, { name: 'Cedar' }] }
  const { path } = await exported(current, {
    collection: 'companies',
    filter,
    sort: '-created_at',
    fields: 'name',
    format: 'json',
  })
  const read = JSON.parse((await send({ path })).text)
  assert.deepEqual(read.map((each: object) => Object.keys(each)), Array(3).fill(['id', 'name'])) // biome-ignore format: a line
  assert.deepEqual(read.map((each: { name: string }) => each.name), ['Beech', 'Cedar', 'Birch']) // biome-ignore format: a line
  const nothing = await exported(current, { collection: 'companies', filter: { name: 'Elm' }, format: 'json' })
  assert.deepEqual(JSON.parse((await send({ path: nothing.path })).text), [])
})

it('JOB-6: one response names all mistakes, each with its place', async (context) => {
  const { send } = await trialFor(context, samples)
  const body = {
    collection: 'samples',
    filter: { pin: '1', count: 'x' },
    sort: ['size'],
    fields: ['pin'],
    format: 'xml',
    colour: 1,
  }
  const answer = await send(asking(body))
  assert.deepEqual([answer.status, answer.json.code], [400, 'VALIDATION_FAILED'])
  assert.deepEqual(places(answer).sort(), [
    'INVALID_TYPE /filter/count',
    'NOT_IN_ENUM /format',
    'UNKNOWN_FIELD /colour',
    'UNKNOWN_FIELD /fields/0',
    'UNKNOWN_FIELD /filter/pin',
    'UNKNOWN_FIELD /sort/0',
  ])
  for (const hostile of [
    null,
    [],
    'samples',
    { collection: '__proto__', format: 'csv' },
    { collection: 'jobs', format: 'csv' },
  ]) {
    assert.equal((await send(asking(hostile))).status, 400, JSON.stringify(hostile))
  }
  const put = await send({ method: 'PUT', path: '/v1/exports', body: {} })
  assert.deepEqual([put.status, put.headers['allow']], [405, 'POST, OPTIONS'])
})

it('JOB-6: an export contains the records that its caller may read, and is served to its caller and administrators only', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  await make('projects', { name: 'Own' }, 'ann')
  await make('projects', { name: 'Public', visibility: 'public' }, 'bob')
  await make('projects', { name: 'Secret' }, 'bob')
  const { path } = await exported(current, { collection: 'projects', sort: 'name', format: 'json' }, 'ann')
  const names = JSON.parse((await send({ path, as: 'ann' })).text).map((each: { name: string }) => each.name)
  assert.deepEqual(names, ['Own', 'Public'])
  assert.deepEqual(
    await Promise.all(['root', 'bob', 'eve', null].map(async (as) => (await send({ path, as })).status)),
    [200, 403, 403, 401],
  )
  assert.equal((await send({ path: `/v1/exports/${nowhere}/content` })).status, 404)
  const closed = await trialFor(context, samples)
  const refused = await closed.send(asking({ collection: 'selects', format: 'csv' }, { as: 'ann' }))
  assert.deepEqual([refused.status, refused.json.code], [403, 'FORBIDDEN'])
})

it('HED-2: until the file is ready GET and HEAD get 202 with Retry-After', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  await make('companies', { name: 'One' })
  const { readExport } = app.storage.jobs
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  Object.assign(app.storage.jobs, { readExport: async (job: string) => opened.then(() => readExport(job)) })
  const { json } = await send(asking({ collection: 'companies', format: 'csv' }))
  const path = `/v1/exports/${json.job_id}/content`
  for (const method of ['GET', 'HEAD']) {
    const answer = await send({ method, path })
    assert.deepEqual([answer.status, answer.headers['retry-after']], [202, '1'])
    assert.deepEqual([answer.json.job_id, answer.json.status_url], [json.job_id, json.status_url])
  }
  open()
  await app.runner.idle()
  assert.equal((await send({ method: 'HEAD', path })).status, 200)
  // A job that makes no file has none.
  const { id } = await make('companies', { name: 'Two' })
  const deletion = await send({ method: 'DELETE', path: `/v1/companies/${id}`, headers: { prefer: 'respond-async' } })
  assert.equal((await send({ path: `/v1/exports/${deletion.json.job_id}/content` })).status, 404)
})

it('HED-3: an interrupted download can be resumed', async (context) => {
  const current = await trialFor(context, company)
  const { send, make } = current
  for (let number = 0; number < 50; number++) await make('companies', { name: `Company ${number}` })
  const { path } = await exported(current, { collection: 'companies', format: 'ndjson' })
  const whole = await send({ path })
  const { etag = '' } = whole.headers
  const first = await send({ path, headers: { range: 'bytes=0-999' } })
  const rest = await send({ path, headers: { range: 'bytes=1000-', 'if-range': etag } })
  assert.deepEqual([first.status, rest.status], [206, 206])
  assert.equal(first.text + rest.text, whole.text)
  assert.equal(rest.headers['content-range'], `bytes 1000-${whole.text.length - 1}/${whole.text.length}`)
  assert.equal((await send({ path, headers: { range: `bytes=${whole.text.length}-` } })).status, 416)
  assert.equal((await send({ path, headers: { 'if-none-match': etag } })).status, 304)
  assert.equal((await send({ path, headers: { 'if-match': '"other"' } })).status, 412)
})

it('JOB-6: the file is kept for a day, and then deleted', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, clock } = current
  const { path, job } = await exported(current, { collection: 'companies', format: 'csv' })
  assert.deepEqual(await keptExports(current), [job.id])
  const day = 86_400_000
  clock.ahead = day - 60_000
  await app.runner.maintain()
  assert.equal((await send({ path })).status, 200)
  clock.ahead = day + 60_000
  assert.equal((await send({ path })).status, 404)
  await app.runner.maintain()
  assert.deepEqual(await keptExports(current), [])
  assert.equal((await send({ path: job.status_url })).status, 200)
})

it('JOB-6: an export that cannot continue fails, says so, and leaves no file', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  await make('companies', { name: 'One' })
  const { readExport } = app.storage.jobs
  let pieces = 0
  Object.assign(app.storage.jobs, {
    async readExport(job: string) {
      if (pieces++ > 0) throw new Error('a secret path')
      return { ...(await readExport(job)), after: [] }
    },
  })
  const { json } = await send(asking({ collection: 'companies', format: 'csv' }))
  let job = await send({ path: json.status_url })
  for (let waits = 0; job.json.status !== 'failed' && waits < 200; waits++) {
    app.runner.wake()
    await new Promise((resolve) => setTimeout(resolve, 50))
    job = await send({ path: json.status_url })
  }
  assert.deepEqual([job.json.status, job.json.error.code], ['failed', 'INTERNAL_ERROR'])
  assert.doesNotMatch(job.text, /secret/)
  const content = await send({ path: `/v1/exports/${json.job_id}/content` })
  assert.equal(content.status, 404)
  assert.match(content.json.detail, /has failed/)
  // The file is removed after the job has failed.
  await app.runner.idle()
  assert.deepEqual(await keptExports(current), [])
})

const skip = sqliteOnly('it keeps databases in memory')
it('JOB-6: the export files of a database in memory are temporary', { skip }, async (context) => {
  const current = await trialFor(context, company, { memory: true })
  const { send, make } = current
  await make('companies', { name: 'One' })
  const { path } = await exported(current, { collection: 'companies', format: 'ndjson' })
  assert.equal((await send({ path })).status, 200)
  assert.equal(current.app.storage.exportsFolder, undefined)
  assert.equal(existsSync('.exports'), false)
})

const inDatabase = engine === 'sqlite' ? 'Only where the database keeps the files itself.' : false
it('JOB-5: a server that loses its claim on an export writes no further piece', {
  skip: inDatabase,
}, async (context) => {
  const current = await trialFor(context, company)
  const { claimExport, keepExport, finishExport } = current.app.storage.jobs
  Object.assign(current.app.storage.jobs, { claimExport: async () => undefined })
  const id = (await current.send(asking({ collection: 'companies', format: 'ndjson' }))).json.job_id
  const content = Buffer.alloc(1_200_000, 'x')
  const progress = { count: 1, bytes: content.length, after: [] }
  const start = Date.now()
  await claimExport(id, 'one', start)
  await claimExport(id, 'two', start + 5_000)
  assert.equal(await keepExport(id, 'two', progress, start + 5_000, content), true)
  // By then nobody is at it.
  assert.equal(await keepExport(id, 'one', progress, start + 10_000, content), false)
  const result = { record_count: 1, bytes: content.length }
  assert.equal(await finishExport(id, 'one', result, start + 20_000, content), false)
  const rows = await current.database.rows(
    'select start, length(content) as length from resourced_pieces order by start',
  )
  assert.deepEqual(rows.map((row) => row['start']), [0, 524_288, 1_048_576]) // biome-ignore format: a line
  assert.deepEqual(rows.reduce((sum, row) => sum + Number(row['length']), 0), content.length) // biome-ignore format: a line
})
