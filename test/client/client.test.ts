/** The client against a server, over HTTP: every call, with its entity tags, conflicts, jobs and problems. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import {
  type ClientOptions,
  createClient,
  etagOf,
  Job,
  type OnConflict,
  ProblemError,
} from '../../packages/client/src/index.ts'
import type { Infer } from '../../packages/server/src/index.ts'
import { isSignedBy, startReceiver } from '../receiver.ts'
import { until } from '../until.ts'
import { type notebooks, serveNotes } from './notes.ts'

type Note = Infer<typeof notebooks, 'notes'>

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly status: number
}

/** A client of a new server, and what it sends. */
async function typedClient(context: TestContext, options: Partial<ClientOptions> = {}) {
  const url = await serveNotes(context)
  const sent: Sent[] = []
  const client = createClient<typeof notebooks>({
    url,
    version: 'v1',
    async fetch(address, init) {
      const response = await fetch(address, init)
      const path = address.slice(url.length)
      sent.push({ method: init.method ?? '', path, headers: init.headers as Sent['headers'], status: response.status })
      return response
    },
    ...options,
  })
  return { client, sent, url }
}

it('CON-3: a record carries its entity tag, and a change of it sends the tag', async (context) => {
  const { client, sent } = await typedClient(context)
  const note = await client.notes.create({ title: 'Tea' })
  const other = await client.notes.get(note.id)
  assert.deepEqual(other, note)
  assert.equal(etagOf(other), etagOf(note))
  const changed = await client.notes.update(note, { status: 'done' })
  assert.equal(sent.at(-1)?.headers['if-match'], etagOf(note))
  assert.deepEqual([changed.status, changed.title], ['done', 'Tea'])
  assert.notEqual(etagOf(changed), etagOf(note))
  const stale = { status: 412, code: 'PRECONDITION_FAILED' }
  await assert.rejects(client.notes.update(other, { title: 'Coffee' }), stale)
  await assert.rejects(client.notes.replace(other, { title: 'Coffee' }), stale)
  await assert.rejects(client.notes.delete(other), stale)
  // An id alone says nothing about what was read, and `*` asks for any state.
  assert.equal((await client.notes.update(note.id, { count: 1 })).count, 1)
  assert.equal((await client.notes.update(other, { count: 2 }, { ifMatch: '*' })).count, 2)
})

it('CON-8: a record of which fields were selected has the tag of the whole record', async (context) => {
  const { client } = await typedClient(context)
  const { id } = await client.notes.create({ title: 'Tea', count: 1 })
  const part = await client.notes.get(id, { fields: 'title' })
  assert.deepEqual(part, { id, title: 'Tea' })
  assert.equal((await client.notes.update(part, { title: 'Oil' })).count, 1)
  // The other reader saw the title only, and still must not lose what has changed since.
  await assert.rejects(client.notes.update(part, { title: 'Rice' }), { status: 412 })
  const again = await client.notes.get(id, { fields: ['title', 'count'] })
  assert.deepEqual(again, { id, title: 'Oil', count: 1 })
})

it('CON-3: a record of a list has no tag: it must still be as the list showed it', async (context) => {
  const { client, sent } = await typedClient(context)
  await client.notes.create({ title: 'Tea' })
  const [note] = (await client.notes.list()).data
  const [part] = (await client.notes.list({ fields: ['title'] })).data
  assert.ok(note && part)
  assert.equal(etagOf(note), undefined)
  const counted = await client.notes.update(note, { count: 1 })
  assert.deepEqual(
    sent.slice(-2).map(({ method, headers }) => [method, headers['if-match'] === undefined]),
    [
      ['GET', true],
      ['PATCH', false],
    ],
  )
  await assert.rejects(client.notes.update(note, { count: 2 }), { status: 412, code: 'PRECONDITION_FAILED' })
  await assert.rejects(client.notes.delete(note), { status: 412 })
  // What this list showed is still so.
  const titled = await client.notes.update(part, { count: 3 })
  assert.deepEqual([counted.count, titled.count], [1, 3])
  await client.notes.update(titled, { title: 'Oil' })
  await assert.rejects(client.notes.update(part, { count: 4 }), { status: 412 })
})

it('CON-5: onConflict gets both sides, and decides', async (context) => {
  const seen: unknown[] = []
  const merge: OnConflict = ({ mine, theirs, before }) => {
    seen.push([mine, Reflect.get(theirs, 'title'), before && Reflect.get(before, 'title')])
    return { ...mine, title: `${Reflect.get(theirs, 'title')} and ${Reflect.get(mine, 'title')}` }
  }
  const { client } = await typedClient(context, { onConflict: merge })
  const note = await client.notes.create({ title: 'Tea' })
  await client.notes.update(note.id, { title: 'Oil', count: 1 })
  const merged = await client.notes.update(note, { title: 'Rice' })
  assert.deepEqual([merged.title, merged.count], ['Oil and Rice', 1])
  assert.deepEqual(seen, [[{ title: 'Rice' }, 'Oil', 'Tea']])
  const refused = client.notes.update(note, { title: 'Salt' }, { onConflict: () => undefined })
  await assert.rejects(refused, { code: 'PRECONDITION_FAILED' })
  const replaced = await client.notes.replace(
    note,
    { title: 'Salt' },
    { onConflict: async ({ mine, theirs }) => ({ ...mine, count: theirs.count }) },
  )
  assert.deepEqual([replaced.title, replaced.count], ['Salt', 1])
})

it('CON-5: clients that count one record up with onConflict lose no step', async (context) => {
  const { client, url } = await typedClient(context)
  const { id } = await client.notes.create({ title: 'Tea', count: 0 })
  const count = async () => {
    const { notes } = createClient<typeof notebooks>({ url: `${url}/v1` })
    for (let step = 0; step < 10; step++) {
      const note = await notes.get(id)
      const onConflict: OnConflict<Infer<typeof notebooks, 'notes', 'patch'>, Note> = ({ theirs }) => ({
        count: (theirs.count ?? 0) + 1,
      })
      await notes.update(note, { count: (note.count ?? 0) + 1 }, { onConflict })
    }
  }
  await Promise.all([count(), count(), count()])
  assert.equal((await client.notes.get(id)).count, 30)
})

it('CON-7: a collection that requires conditions takes records, but not ids', async (context) => {
  const { client } = await typedClient(context)
  const draft = await client.drafts.create({ text: 'a' })
  await assert.rejects(client.drafts.update(draft.id, { text: 'b' }), { code: 'PRECONDITION_REQUIRED' })
  const changed = await client.drafts.update(draft, { text: 'b' })
  const deletion = await client.drafts.delete(changed)
  assert.ok(deletion !== undefined && 'deleted_at' in deletion && deletion.id === draft.id)
})

it('CON-4: a repeated read is a 304, and every reader has an object of its own', async (context) => {
  const { client, sent } = await typedClient(context)
  const { id } = await client.notes.create({ title: 'Tea' })
  const [first, second] = [await client.notes.get(id), await client.notes.get(id)]
  assert.deepEqual([second, sent.at(-1)?.status], [first, 304])
  assert.notEqual(second, first)
  assert.equal(etagOf(second), etagOf(first))
  const page = await client.notes.list({ sort: 'title' })
  assert.deepEqual(await client.notes.list({ sort: 'title' }), page)
  assert.equal(sent.at(-1)?.status, 304)
  await client.notes.update(second, { title: 'Oil' })
  assert.equal((await client.notes.get(id)).title, 'Oil')
  assert.equal((await client.notes.list({ sort: 'title' })).data[0]?.title, 'Oil')
})

it('PAG-6: all() walks every page, also within a record', async (context) => {
  const { client } = await typedClient(context)
  const [home, work] = [
    await client.notebooks.create({ name: 'home' }),
    await client.notebooks.create({ name: 'work' }),
  ]
  const { pages } = client.notebooks.within(home)
  const texts = Array.from({ length: 7 }, (_, index) => `page ${index}`)
  for (const text of texts) await pages.create({ text })
  await client.pages.create({ text: 'another', notebook_id: work.id })
  const found = await Array.fromAsync(pages.all({ limit: 2, sort: '-text' }), ({ text }) => text)
  assert.deepEqual(found, texts.toReversed())
  assert.equal((await client.notebooks.within(work.id).pages.list()).pagination.total_count, 1)
  assert.equal((await Array.fromAsync(client.pages.all({ limit: 3, fields: ['text'] }))).length, 8)
  for await (const { text } of client.pages.all({ limit: 1 })) {
    assert.equal(typeof text, 'string')
    break
  }
})

it('DEL-13: a restoration that is a job is waited for', async (context) => {
  const { client, sent } = await typedClient(context, { headers: { prefer: 'respond-async' } })
  const { id } = await client.notes.create({ title: 'a' })
  await client.notes.bulkDelete([id]).then((job) => (job as Job).finished())
  assert.equal((await client.notes.restore(id)).title, 'a')
  const [restored] = sent.filter(({ path }) => path.endsWith('/restore'))
  assert.equal(restored?.status, 202)
})

it('DEL-9: a bulk deletion takes ids and records; a deletion may be a job', async (context) => {
  const { client } = await typedClient(context)
  const notes = [await client.notes.create({ title: 'a' }), await client.notes.create({ title: 'b' })] as const
  const deleted = await client.notes.bulkDelete([notes[0], notes[1].id])
  assert.ok(!(deleted instanceof Job))
  assert.deepEqual(
    deleted.map(({ id }) => id),
    notes.map(({ id }) => id),
  )
  assert.equal((await client.notes.restore(notes[0])).title, 'a')
  const job = await client.notes.delete(notes[0].id, { respondAsync: true })
  assert.ok(job instanceof Job)
  const states: string[] = []
  const ended = await job.finished({ onProgress: ({ status }) => states.push(status) })
  assert.deepEqual([ended.status, states.at(-1)], ['succeeded', 'succeeded'])
  assert.equal((await client.jobs.get(job.job_id)).status, 'succeeded')
  assert.ok((await client.jobs.list()).pagination.total_count >= 1)
  await client.jobs.delete(job.job_id)
  await assert.rejects(client.jobs.get(job.job_id), { status: 404 })
})

it('JOB-6: an export is a job, and its file a stream', async (context) => {
  const { client } = await typedClient(context)
  for (const title of ['Tea', 'Oil']) await client.notes.create({ title })
  const job = await client.exports.create({ collection: 'notes', format: 'ndjson', sort: 'title', fields: ['title'] })
  await job.finished()
  const file = await client.exports.content(job.job_id)
  const lines = (await file.text()).trim().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).title),
    ['Oil', 'Tea'],
  )
  await client.exports.delete(job.job_id)
  await assert.rejects(client.exports.content(job.job_id), { status: 404 })
})

it('ERR-3: a problem has its code, and its errors by pointer', async (context) => {
  const { client } = await typedClient(context)
  await assert.rejects(client.notes.create({ title: '' }), (error: unknown) => {
    assert.ok(error instanceof ProblemError && error.code === 'VALIDATION_FAILED')
    assert.deepEqual(
      error.errorsAt('/title').map(({ code }) => code),
      ['TOO_SHORT'],
    )
    assert.deepEqual(error.errorsAt('/status'), [])
    assert.match(error.message, /^400 VALIDATION_FAILED: /)
    return true
  })
  for (const id of ['..', '.', '', 'a/b', 'a?b', '%', 'x\0', '\u{1f600}'])
    await assert.rejects(client.notes.get(id), { status: 404 }, id)
  const nowhere = createClient({ url: 'http://127.0.0.1:1', retry: false })
  await assert.rejects(nowhere.caller.get(), { name: 'ProblemError', status: 0, code: 'NO_RESPONSE' })
})

it('AUT-11: the client says who calls', async (context) => {
  const { client } = await typedClient(context)
  const { id, roles, permissions } = await client.caller.get()
  assert.deepEqual([id, roles, permissions['notes']?.['read']?.granted], ['ann', ['admin'], 'all'])
})

it('EVT-8, EVT-11: webhooks and their deliveries are called like collections', async (context) => {
  const { client } = await typedClient(context)
  const receiver = await startReceiver(context)
  const { secret, ...webhook } = await client.webhooks.create({ url: receiver.url, collections: ['notebooks'] })
  assert.deepEqual(await client.webhooks.get(webhook.id), webhook)
  const { secret: rotated, disabled_at } = await client.webhooks.update(webhook.id, { rotate_secret: true })
  const paused = await client.webhooks.update(webhook.id, { active: false })
  assert.deepEqual([paused.active, disabled_at, secret === rotated], [false, null, false])
  const { active } = await client.webhooks.update(paused, { active: true })
  assert.ok(active)
  const { id } = await client.notebooks.create({ name: 'Recipes' })
  const deliveries = () => client.webhooks.within(webhook).deliveries.list({ status: 'succeeded' })
  await until(async () => (await deliveries()).data.length === 1)
  const [first] = (await deliveries()).data
  assert.deepEqual([first?.record, first?.kind, first?.answer?.status], [id, 'created', 204])
  const again = await client.deliveries.create({ webhook_id: webhook.id, event_id: String(first?.event_id) })
  assert.deepEqual([again.status, (await client.deliveries.get(again.id)).event_id], ['pending', first?.event_id])
  await until(async () => (await deliveries()).data.length === 2)
  assert.ok(receiver.got.every((message) => isSignedBy(secret, message) && isSignedBy(rotated, message)))
  await client.webhooks.delete(webhook.id)
  assert.deepEqual((await client.webhooks.list()).data, [])
})

it('WHR-5: more ids than fit into an address are sent as a body (MET-10)', async (context) => {
  const { client } = await typedClient(context)
  const note = await client.notes.create({ title: 'Tea' })
  const ids = Array.from({ length: 999 }, (_, number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`)
  const { data, pagination } = await client.notes.list({
    'id[in]': [...ids, note.id],
    sort: ['title'],
    fields: ['title'],
    limit: 100,
  })
  assert.deepEqual([data.map(({ title }) => title), pagination.total_count], [['Tea'], 1])
  const all = await Array.fromAsync(client.notes.all({ id: [...ids, note.id], q: undefined }))
  assert.deepEqual(all.map(({ id }) => id), [note.id]) // biome-ignore format: a line
})

it('QRY-1: filters, lists of values, and fields are what the server reads', async (context) => {
  const { client, url } = await typedClient(context)
  for (const title of ['a & b', 'c=d', 'e,f', '100 %+'])
    await client.notes.create({ title, status: title.length > 4 ? 'done' : 'open' })
  for (const title of ['a & b', 'c=d', 'e,f', '100 %+']) {
    const { data } = await client.notes.list({ title })
    assert.deepEqual(
      data.map((note) => note.title),
      [title],
    )
  }
  const untyped = createClient({ url: `${url}/v1/` })
  const page = await untyped['notes']?.list({ title: ['a & b', 'c=d'], sort: ['-title', 'created_at'], q: undefined })
  assert.deepEqual(
    page?.data.map((note) => note['title']),
    ['c=d', 'a & b'],
  )
})

it('SUM-1: summaries have the groups and figures that are asked for, with their types', async (context) => {
  const { client, sent } = await typedClient(context)
  for (const count of [2, 3, null]) await client.notes.create({ title: `Tea ${count}`, count })
  await client.notes.create({ title: 'Other', status: 'done', count: 100 })
  const { data, pagination } = await client.notes.summary({
    ...{ group: ['status', 'created_at:year'], sum: 'count', avg: ['count'], max: 'title' },
    ...{ 'title[starts_with]': 'tea', sort: ['-sum.count'] },
  })
  const [row] = data
  const status: 'open' | 'done' | undefined = row?.group.status
  const year: string | undefined = row?.group['created_at:year']
  const figures: [string | null | undefined, string | null | undefined, string | null | undefined] = [
    ...([row?.sum.count, row?.avg.count, row?.max.title] as const),
  ]
  assert.deepEqual([status, year?.length, row?.count, ...figures], ['open', 4, 3, '5', '2.500000', 'Tea null'])
  assert.equal(pagination.total_count, 1)
  const titles = Array.from({ length: 900 }, (_, index) => `a title ${index}`)
  assert.deepEqual((await client.notes.summary({ group: 'status', title: [...titles, 'Other'] })).data, [
    { group: { status: 'done' }, count: 1 },
  ])
  assert.deepEqual([sent.at(-1)?.method, sent.at(-1)?.path], ['QUERY', '/v1/notes/summary'])
})

it('HIS-2, HIS-3: a record has its states, and is read as it was', async (context) => {
  const { client, sent } = await typedClient(context)
  const note = await client.notes.create({ title: 'Tea' })
  await client.notes.update(note, { title: 'Coffee' })
  const { data, pagination } = await client.notes.revisions(note)
  const titles: (string | undefined)[] = data.map(({ record }) => record?.title)
  assert.deepEqual([titles, pagination.total_count, data[0]?.caller], [['Coffee', 'Tea'], 2, 'ann'])
  const [oldest] = (await client.notes.revisions(note.id, { sort: 'created_at', limit: 1 })).data
  assert.deepEqual(oldest?.record, note)
  const former = await client.notes.at(note, new Date(Date.now() + 60_000), { fields: 'title' })
  assert.deepEqual(former, { id: note.id, title: 'Coffee' })
  assert.match(String(sent.at(-1)?.headers['accept-datetime']), / GMT$/)
  await assert.rejects(client.notes.at(note, '2020-01-01T00:00:00Z'), { status: 404 })
})
