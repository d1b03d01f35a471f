/** DEL-6: a restoration undoes a deletion, with exactly the records that it deleted. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { forest, studio } from '../declarations.ts'
import { places, purgeAt, type Sent, type Trial, trialFor } from '../harness.ts'
import { countOf, nowhere, stateOf } from '../steps.ts'

const day = 24 * 3_600_000

function restore(collection: string, id: string, more: Partial<Sent> = {}): Sent {
  return { method: 'POST', path: `/v1/${collection}/${id}/restore`, ...more }
}

async function erase({ send }: Trial, collection: string, id: string): Promise<void> {
  const { status, text } = await send({ method: 'DELETE', path: `/v1/${collection}/${id}` })
  assert.ok(status === 200 || status === 204, text)
}

it('DEL-6: a restored record is live again in every respect', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make, clock } = current
  const project = await make('projects', { name: 'Green house', description: 'x' })
  const path = `/v1/projects/${project.id}`
  const etag = (await send({ path })).headers.etag
  await erase(current, 'projects', project.id)
  clock.ahead = 5_000
  const answer = await send(restore('projects', project.id))
  assert.equal(answer.status, 200, answer.text)
  const { updated_at, ...kept } = answer.json
  const { updated_at: before, ...made } = project
  assert.deepEqual(kept, made)
  assert.ok(updated_at > before)
  assert.notEqual(answer.headers.etag, etag)
  const read = await send({ path })
  assert.deepEqual([read.status, read.headers.etag, read.text], [200, answer.headers.etag, answer.text])
  assert.equal(await countOf(current, 'projects'), 1)
  assert.equal(await countOf(current, 'projects', '?q=green'), 1)
  assert.equal(await countOf(current, 'projects', '?visibility=private'), 1)
  assert.equal(await countOf(current, 'projects', '?include_deleted=true'), 1)
  const clash = await send({ path: '/v1/projects', body: { name: 'Green house' } })
  assert.equal(clash.status, 409)
})

it('DEL-6: restores what the same deletion cascaded to, and nothing that was deleted before', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'One' })
  const user = await make('users', { name: 'Ann', email: 'ann@example.org' })
  const task = async (title: string) =>
    (await make('tasks', { title, status: 'done', project_id: project.id, assignee_id: user.id })).id as string
  const [early, ...others] = [await task('Early'), await task('Late'), await task('Later')] as [string, ...string[]]
  await erase(current, 'tasks', early)
  await erase(current, 'users', user.id)
  await erase(current, 'projects', project.id)
  assert.equal(await countOf(current, 'tasks'), 0)
  const answer = await send(restore('projects', project.id))
  assert.equal(answer.status, 200, answer.text)
  const { data } = (await send({ path: `/v1/projects/${project.id}/tasks` })).json
  assert.deepEqual(data.map((each: { id: string }) => each.id).sort(), [...others].sort())
  // References that were cleared stay so.
  for (const each of data) assert.equal(each.assignee_id, null)
  assert.equal((await send({ path: `/v1/tasks/${early}` })).status, 404)
})

/**
 * Shelves keep what is deleted for ten days, their books for two, pages of these for thirty, and notes on shelves for
 * ten.
 */
const library: InterfaceDeclaration = {
  name: 'library',
  resources: {
    shelves: { fields: { name: { type: 'string' } }, deletion: { gracePeriod: 'P10D' } },
    books: {
      fields: { title: { type: 'string', unique: true }, shelf_id: { reference: 'shelves', onDelete: 'cascade' } },
      deletion: { gracePeriod: 'P2D' },
    },
    pages: { fields: { book_id: { reference: 'books', onDelete: 'cascade' } } },
    notes: {
      fields: { shelf_id: { reference: 'shelves', onDelete: 'cascade' } },
      deletion: { gracePeriod: 'P10D' },
    },
  },
}

for (const isPurged of [false, true]) {
  const how = isPurged ? 'once they are purged' : 'though they are not purged yet'
  it(`DEL-7: children whose own grace period is over stay deleted when their parent is restored, ${how}`, async (context) => {
    const current = await trialFor(context, library)
    const { send, make, clock, app } = current
    const { id: shelf } = await make('shelves', { name: 'One' })
    const { id: book } = await make('books', { title: 'Ulysses', shelf_id: shelf })
    const { id: page } = await make('pages', { book_id: book })
    const { id: note } = await make('notes', { shelf_id: shelf })
    await erase(current, 'shelves', shelf)
    clock.ahead = 3 * day
    // Its title is free again: nobody could take it back.
    if (isPurged) await purgeAt(app, Date.now() + clock.ahead)
    await make('books', { title: 'Ulysses', shelf_id: (await make('shelves', { name: 'Two' })).id })
    const answer = await send(restore('shelves', shelf))
    assert.equal(answer.status, 200, answer.text)
    for (const [path, status] of [
      [`/v1/notes/${note}`, 200],
      [`/v1/books/${book}`, 404],
      [`/v1/pages/${page}`, 404],
    ] as const) {
      assert.equal((await send({ path })).status, status, path)
    }
    assert.deepEqual([await countOf(current, 'books'), await countOf(current, 'pages')], [1, 0])
    assert.equal((await send(restore('books', book))).status, 404)
    // What is left of them goes when it is due.
    await purgeAt(app, Date.now() + 40 * day)
    for (const table of ['books', 'pages']) {
      const left = await current.database.rows(`select count(*) as n from ${table} where deleted_at is not null`)
      assert.equal(Number(left[0]?.['n']), 0, table)
    }
  })
}

it('DEL-6: children are restored with their parent until the end of their own grace period', async (context) => {
  const current = await trialFor(context, library)
  const { send, make, clock } = current
  const { id: shelf } = await make('shelves', { name: 'One' })
  const { id: book } = await make('books', { title: 'Ulysses', shelf_id: shelf })
  const { id: page } = await make('pages', { book_id: book })
  await erase(current, 'shelves', shelf)
  clock.ahead = 2 * day - 60_000
  assert.equal((await send(restore('shelves', shelf))).status, 200)
  for (const path of [`/v1/books/${book}`, `/v1/pages/${page}`]) assert.equal((await send({ path })).status, 200)
})

it('DEL-6: a tree four levels deep is restored completely, repeatedly', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  let parent_id: string | null = null
  const ids: string[] = []
  for (const name of ['Root', 'Branch', 'Twig', 'Leaf']) {
    const folder: { id: string } = await make('folders', { name, parent_id })
    parent_id = folder.id
    ids.push(folder.id)
  }
  const shape = async () =>
    (await send({ path: '/v1/folders?sort=created_at' })).json.data.map((each: Record<string, unknown>) => [
      each['name'],
      each['parent_id'],
    ])
  const before = await shape()
  for (let turn = 0; turn < 3; turn++) {
    await erase(current, 'folders', ids[turn] as string)
    assert.equal(await countOf(current, 'folders'), turn)
    assert.equal((await send(restore('folders', ids[turn] as string))).status, 200)
    assert.deepEqual(await shape(), before)
  }
})

it('DEL-6: a record under a deleted parent cannot be restored alone', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'One' })
  const task = await make('tasks', { title: 'T', status: 'done', project_id: project.id })
  await erase(current, 'projects', project.id)
  const answer = await send(restore('tasks', task.id))
  assert.deepEqual([answer.status, answer.json.code], [409, 'REFERENCE_DELETED'])
  assert.deepEqual(places(answer), ['REFERENCE_DELETED /project_id'])
  assert.equal((await send(restore('projects', project.id))).status, 200)
  assert.equal((await send({ path: `/v1/tasks/${task.id}` })).status, 200)
})

it('DEL-6: unique values taken meanwhile block a restoration, each is named, and nothing is restored in part', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const root = await make('folders', { name: 'Root' })
  await make('folders', { name: 'Branch', parent_id: root.id })
  await erase(current, 'folders', root.id)
  const usurper = await make('folders', { name: 'Branch' })
  const other = await make('folders', { name: 'Root' })
  const before = await stateOf(current, ['folders'])
  const both = await send(restore('folders', root.id))
  assert.deepEqual([both.status, both.json.code], [409, 'DUPLICATE_VALUE'])
  assert.deepEqual(places(both), ['DUPLICATE_VALUE /name', 'DUPLICATE_VALUE'])
  assert.deepEqual(await stateOf(current, ['folders']), before)
  await erase(current, 'folders', other.id)
  assert.equal((await send(restore('folders', root.id))).status, 409)
  await erase(current, 'folders', usurper.id)
  assert.equal((await send(restore('folders', root.id))).status, 200)
  assert.equal(await countOf(current, 'folders'), 2)
})

it('DEL-6: a record that is not deleted is a 409, a record that is not retained a 404', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make, clock } = current
  const folder = await make('folders', { name: 'One' })
  const live = await send(restore('folders', folder.id))
  assert.deepEqual([live.status, live.json.code], [409, 'NOT_DELETED'])
  for (const id of [nowhere, 'x', '%00', "'"]) assert.equal((await send(restore('folders', id))).status, 404, id)
  await erase(current, 'folders', folder.id)
  clock.ahead = 30 * day - 60_000
  assert.equal((await send(restore('folders', folder.id, { as: 'bob' }))).status, 403)
  clock.ahead = 30 * day + 1
  const late = await send(restore('folders', folder.id))
  assert.deepEqual([late.status, late.json.code], [404, 'NOT_FOUND'])
  clock.ahead = 30 * day - 60_000
  assert.equal((await send(restore('folders', folder.id))).status, 200)
})

it('DEL-6: the path does not exist if nothing is retained', async (context) => {
  const unrestorable: InterfaceDeclaration = {
    name: 'x',
    resources: { notes: { fields: { text: { type: 'string' } }, deletion: { restorable: false } } },
  }
  const kept = await trialFor(context, unrestorable)
  const note = await kept.make('notes', { text: 'a' })
  await erase(kept, 'notes', note.id)
  assert.equal((await kept.send(restore('notes', note.id))).status, 404)
  const { send, make } = await trialFor(context, forest)
  const folder = await make('folders', { name: 'One' })
  const file = await make('files', { name: 'File', folder_id: folder.id })
  assert.equal((await send(restore('files', file.id))).status, 404)
  const wrong = await send({ path: `/v1/folders/${folder.id}/restore` })
  assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'POST, OPTIONS'])
})

it('AUT-4: restoration needs a declared permission, and other callers learn nothing', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'One' }, 'ann')
  await erase(current, 'projects', project.id)
  assert.equal((await send(restore('projects', project.id, { as: null }))).status, 401)
  assert.equal((await send(restore('projects', project.id, { as: 'bob' }))).status, 403)
  assert.equal((await send(restore('projects', project.id, { as: 'ann' }))).status, 200)
  assert.equal((await send(restore('projects', project.id, { as: 'bob' }))).status, 403)
  assert.equal((await send(restore('users', nowhere, { as: 'ann' }))).status, 403)
})

it('CON-3: a condition that does not hold stops a restoration', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'One' })
  const path = `/v1/projects/${project.id}`
  const etag = String((await send({ path })).headers.etag)
  await erase(current, 'projects', project.id)
  const stale = await send(restore('projects', project.id, { headers: { 'if-match': etag } }))
  assert.equal(stale.status, 412)
  assert.equal((await send({ path })).status, 404)
  assert.equal((await send(restore('projects', project.id, { headers: { 'if-match': '*' } }))).status, 200)
})

it('CON-5: of many concurrent restorations one succeeds', async (context) => {
  const current = await trialFor(context, studio)
  const project = await current.make('projects', { name: 'One' })
  await erase(current, 'projects', project.id)
  const answers = await Promise.all(Array.from({ length: 16 }, () => current.send(restore('projects', project.id))))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(15).fill(409)])
})

it('DEL-6: a business rule can block a restoration', async (context) => {
  const ruled: InterfaceDeclaration = {
    name: 'x',
    resources: {
      notes: {
        fields: { text: { type: 'string', filter: true } },
        rules: [
          { on: 'restore', code: 'TOO_MANY', message: 'Another one is there.', unless: { none: 'notes', where: {} } },
        ],
      },
    },
  }
  const current = await trialFor(context, ruled)
  const [one, two] = [await current.make('notes', { text: 'a' }), await current.make('notes', { text: 'b' })]
  await erase(current, 'notes', one.id)
  const answer = await current.send(restore('notes', one.id))
  assert.deepEqual([answer.status, answer.json.code], [409, 'TOO_MANY'])
  await erase(current, 'notes', two.id)
  assert.equal((await current.send(restore('notes', one.id))).status, 200)
})
