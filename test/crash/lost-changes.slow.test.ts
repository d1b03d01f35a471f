/**
 * CON-2, EVT-5: a database that has lost its last changes, and counts on from before them. An older copy of it takes
 * other changes than the lost ones: nothing that a client remembers of these may fit.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { openStream } from '../events/stream.ts'
import { type Received, type Trial, trial, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const declaration = defineInterface({
  name: 'diary',
  resources: {
    notes: {
      fields: {
        text: { type: 'string', filter: true },
        folder_id: { reference: 'folders', onDelete: 'clear', optional: true },
      },
      access: anyone,
      events: true,
    },
    folders: { fields: { text: { type: 'string' } }, access: anyone },
  },
})

const tag = (answer: Received) => String(answer.headers['etag'])

/** A database with a note in a folder, and an older copy of it. Both are served: what the first takes is lost. */
async function twoHistories(context: TestContext) {
  const first = await trial(declaration)
  const folder = (await first.make('folders', { text: 'one' })).id
  const id = (await first.make('notes', { text: 'common', folder_id: folder })).id
  const path = `/v1/notes/${id}`
  await first.send({ method: 'PATCH', path, body: { text: 'unchanged' } })
  const before = await first.send({ path })
  const beforeList = await first.send({ path: '/v1/notes' })
  await first.app.close()
  const copy = await first.database.copy()
  const lost = await trialFor(context, declaration, { database: first.database })
  const present = await trialFor(context, declaration, { database: copy })
  return { lost, present, path, before, beforeList, folder }
}

test('CON-2: what neither history has changed keeps its tags', async (context) => {
  const { present, path, before, beforeList } = await twoHistories(context)
  for (const [asked, known] of [[path, before], ['/v1/notes', beforeList]] as const) {
    const answer = await present.send({ path: asked, headers: { 'if-none-match': tag(known) } })
    assert.equal(answer.status, 304, asked)
  }
  const changed = await present.send({ method: 'PATCH', path, body: { text: 'new' }, headers: { 'if-match': tag(before) } })
  assert.equal(changed.status, 200)
}) // biome-ignore format: a table

/** Changes of the note, each of which makes its revision and the clock of its collection as large on both sides. */
const changes: Readonly<Record<string, (trial: Trial, about: { path: string; folder: string }) => Promise<unknown>>> = {
  PATCH: ({ send, database }, { path }) => send({ method: 'PATCH', path, body: { text: `at ${database.address}` } }),
  PUT: ({ send, database }, { path }) => send({ method: 'PUT', path, body: { text: `at ${database.address}` } }),
  'two changes': async ({ send, database }, { path }) => {
    for (const time of [1, 2]) await send({ method: 'PATCH', path, body: { text: `${time} at ${database.address}` } })
  },
  'a deletion and a restoration': async ({ send }, { path }) => {
    await send({ method: 'DELETE', path })
    await send({ method: 'POST', path: `${path}/restore` })
  },
  'the deletion of the folder': ({ send }, { folder }) => send({ method: 'DELETE', path: `/v1/folders/${folder}` }),
}

for (const [what, change] of Object.entries(changes)) {
  test(`CON-2, CON-3: ${what}: no tag of a lost state fits`, async (context) => {
    const { lost, present, path, folder } = await twoHistories(context)
    for (const trial of [lost, present]) await change(trial, { path, folder })
    const [record, list] = [await lost.send({ path }), await lost.send({ path: '/v1/notes' })]
    for (const [asked, known] of [[path, record], ['/v1/notes', list]] as const) {
      assert.equal(known.status, 200)
      const answer = await present.send({ path: asked, headers: { 'if-none-match': tag(known) } })
      assert.equal(answer.status, 200, asked)
    }
    for (const method of ['PATCH', 'PUT', 'DELETE']) {
      const body = method === 'DELETE' ? undefined : { text: 'overwritten' }
      const answer = await present.send({ method, path, body, headers: { 'if-match': tag(record) } })
      assert.equal(answer.status, 412, method)
    }
    const own = await present.send({ path })
    assert.equal((await present.send({ path, headers: { 'if-none-match': tag(own) } })).status, 304)
    const changed = await present.send({ method: 'PATCH', path, body: { text: 'z' }, headers: { 'if-match': tag(own) } })
    assert.deepEqual([changed.status, tag(changed)], [200, tag(await present.send({ path }))])
  }) // biome-ignore format: a table
}

/** What a stream that continues after an id begins with: an id, or the status of its refusal. */
async function continued({ app, keys }: Trial, lastEventId?: string): Promise<string | number> {
  const stream = await openStream(app, String(keys.get('root')), lastEventId)
  stream.close()
  return stream.lastEventId ?? stream.status
}

test('EVT-5, EVT-6: who continues after a lost event gets 410, however many events there are since', async (context) => {
  const { lost, present, path } = await twoHistories(context)
  const common = String(await continued(lost))
  for (const trial of [lost, present])
    await trial.send({ method: 'PATCH', path, body: { text: trial.database.address } })
  const ofLost = String(await continued(lost))
  const event = (await lost.send({ path: '/v1/events' })).json.data.at(-1).id
  for (const id of [ofLost, event]) assert.equal(typeof (await continued(lost, id)), 'string')
  for (let time = 0; time < 3; time++) {
    assert.equal(await continued(present, ofLost), 410)
    assert.equal(await continued(present, event), 410)
    assert.equal((await present.send({ path: `/v1/events?after=${event}` })).status, 410)
    assert.equal(typeof (await continued(present, common)), 'string')
    await present.send({ method: 'PATCH', path, body: { text: `${time}` } })
  }
})
