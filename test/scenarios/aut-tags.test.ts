/** AUT-9: entity tags of lists and request ids reveal nothing of other callers' activity. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { type Sent, type Trial, trialFor } from '../harness.ts'

const diaries = defineInterface({
  name: 'diaries',
  resources: {
    diaries: {
      fields: { name: Type.String(), owner_id: Type.String({ readOnly: true }) },
      owner: 'owner_id',
      access: { read: 'anyone', create: 'anyone' },
    },
    entries: {
      fields: {
        text: Type.String({ search: true, sort: true, filter: true }),
        rank: Type.Integer({ default: 0, sort: true }),
        diary_id: reference('diaries'),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      within: 'diary_id',
      access: {
        read: ['role:editor', 'role:admin', 'owner'],
        readDeleted: 'anyone',
        create: 'anyone',
        update: 'owner',
        delete: 'owner',
        restore: 'owner',
      },
    },
  },
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'entries', rename: { body: 'text' }, add: ['rank'] }],
})

const tagOf = async ({ send }: Trial, sent: Sent): Promise<string> => {
  const answer = await send(sent)
  assert.equal(answer.status, 200, answer.text)
  return String(answer.headers.etag)
}

/** Every form of list that a caller may ask for. */
function listsOf(diary: string, as: string): Sent[] {
  const paths = [
    ...[
      '/v2/entries',
      '/v2/entries?text=mine',
      '/v2/entries?q=mine',
      '/v2/entries?sort=-rank',
      '/v2/entries?fields=text',
    ],
    ...['/v2/entries?page=1&per_page=1', '/v2/entries?offset=1&limit=1', '/v2/entries?include_deleted=true'],
    ...['/v1/entries', '/v1/entries?q=mine', `/v2/diaries/${diary}/entries`, '/v2/jobs'],
  ]
  const lists: Sent[] = paths.map((path) => ({ path, as }))
  return [...lists, { method: 'QUERY', path: '/v2/entries', body: { 'text[starts_with]': 'm' }, as }]
}

it('AUT-9: the tag of a list changes with the records that its caller may read, and with no others', async (context) => {
  const current = await trialFor(context, diaries)
  const { app, send, make } = current
  const diary = (await make('diaries', { name: 'a' })).id
  const own: string[] = []
  for (const text of ['mine', 'mine too']) own.push((await make('entries', { text, diary_id: diary }, 'bob')).id)
  const lists = [...listsOf(diary, 'bob'), ...listsOf(diary, 'ann')]
  const tags = async () => await Promise.all(lists.map((sent) => tagOf(current, sent)))
  const before = await tags()
  // Elsewhere: all that can happen to records.
  const { id } = await make('entries', { text: 'mine', diary_id: diary }, 'eve')
  const path = `/v2/entries/${id}`
  await send({ method: 'PATCH', path, body: { text: 'mine as well' }, as: 'eve' })
  await send({ method: 'DELETE', path, as: 'eve' })
  await send({ method: 'POST', path: `${path}/restore`, as: 'eve' })
  await send({ path: '/v2/exports', body: { collection: 'entries', format: 'json' }, as: 'eve' })
  await app.runner.idle()
  assert.deepEqual(await tags(), before)
  for (const [index, sent] of lists.entries()) {
    const headers = { 'if-none-match': before[index] as string }
    for (const _ of 'ab') assert.equal((await send({ ...sent, headers })).status, 304, sent.path)
    assert.equal((await send({ ...sent, headers: { 'if-match': '"x"' } })).status, 412, sent.path)
  }
  await send({ method: 'PATCH', path: `/v2/entries/${own[0]}`, body: { text: 'mine still', rank: 9 }, as: 'bob' })
  const after = await tags()
  // Version 1 sees its text change, and what is asked for by fields, order or name has changed too; ann's have not.
  const moved = lists.filter((_, index) => before[index] !== after[index]).map((sent) => `${sent.as} ${sent.path}`)
  const expected = listsOf(diary, 'bob').filter((sent) => sent.path !== '/v2/jobs')
  const stay = new Set(['/v2/entries?offset=1&limit=1'])
  assert.deepEqual(
    moved.filter((each) => !stay.has(each.slice(4))),
    expected.map((sent) => `bob ${sent.path}`).filter((each) => !stay.has(each.slice(4))),
  )
  for (const [index, sent] of lists.entries()) {
    const headers = { 'if-none-match': before[index] as string }
    const status = before[index] === after[index] ? 304 : 200
    assert.equal((await send({ ...sent, headers })).status, status, sent.path)
  }
})

it('AUT-9, AUT-15: the tag of a list says nothing of the records that its lookups do not find', async (context) => {
  const current = await trialFor(context, {
    name: 'rooms',
    resources: {
      guests: { fields: { user: { type: 'string' }, room: { type: 'string' } }, access: { read: 'role:admin' } },
      messages: {
        fields: { text: { type: 'string', sort: true }, room: { type: 'string' } },
        access: { read: { some: 'guests', where: { user: { caller: 'id' }, room: { record: 'room' } } } },
      },
    },
  })
  const { make, send } = current
  for (const room of ['red', 'blue']) await make('messages', { text: `in ${room}`, room })
  await make('guests', { user: 'bob', room: 'red' })
  const lists = ['/v1/messages', '/v1/messages?sort=text', '/v1/messages?page=1&per_page=1']
  const tags = () => Promise.all(lists.map((path) => tagOf(current, { path, as: 'bob' })))
  const before = await tags()
  const eve = await make('guests', { user: 'eve', room: 'red' })
  await make('guests', { user: 'bob', room: 'green' })
  await make('messages', { text: 'in blue', room: 'blue' })
  await send({ method: 'DELETE', path: `/v1/guests/${eve.id}`, as: 'root' })
  assert.deepEqual(await tags(), before)
  await make('guests', { user: 'bob', room: 'blue' })
  for (const [index, tag] of (await tags()).entries()) assert.notEqual(tag, before[index])
})

it('AUT-9: the tag of a list that its caller may read completely counts nothing', async (context) => {
  const first = await trialFor(context, diaries)
  const second = await trialFor(context, diaries)
  // Databases of tests may be copies of one.
  second.app.storage.cursorSecret.fill(0)
  const diaryOf = async (current: Trial) => (await current.make('diaries', { name: 'a' })).id
  const ids = new Map([
    [first, await diaryOf(first)],
    [second, await diaryOf(second)],
  ])
  const seen = new Set<string>()
  for (let time = 0; time < 4; time++) {
    for (const current of [first, second]) {
      // The same has happened in both.
      const tag = await tagOf(current, { path: '/v2/entries', as: 'eve' })
      assert.match(tag, /^"[\w-]{22}"$/)
      seen.add(tag)
      await current.make('entries', { text: 'a', diary_id: ids.get(current) }, 'ann')
    }
  }
  assert.equal(seen.size, 8)
})

it('AUT-9: the tag of a list is the same on every server, and after a restart', async (context) => {
  const first = await trialFor(context, diaries)
  const { id: diary_id } = await first.make('diaries', { name: 'a' })
  await first.make('entries', { text: 'a', diary_id }, 'ann')
  const ask = (current: Trial) => Promise.all(['ann', 'eve'].map((as) => tagOf(current, { path: '/v2/entries', as })))
  const before = await ask(first)
  const second = await trialFor(context, diaries, { database: first.database })
  assert.deepEqual(await ask(second), before)
})

it('AUT-9: a request id does not reveal the number of requests', async (context) => {
  const { send } = await trialFor(context, diaries, { memory: true })
  const ids: string[] = []
  for (let time = 0; time < 50; time++) ids.push(String((await send({ path: '/v2/entries' })).headers['x-request-id']))
  assert.equal(new Set(ids).size, 50)
  // No place of an id is that of the one before more often than chance has it.
  for (const length of [8, 4]) {
    assert.ok(new Set(ids.map((id) => id.slice(0, length))).size > 45, `the first ${length} characters`)
    assert.ok(new Set(ids.map((id) => id.slice(-length))).size > 45, `the last ${length} characters`)
  }
})
