/** DEL-4, DEL-5: the effect of a deletion on dependents. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { forest } from '../../declarations.ts'
import { places, type Trial, trialFor } from '../../harness.ts'
import { countOf, stateOf } from '../../steps.ts'

it('DEL-4: a dependent with restrict blocks, and errors name it', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const one = await make('folders', { name: 'One' })
  const two = await make('folders', { name: 'Two', twin_id: one.id })
  const before = await stateOf(current, Object.keys(forest.resources))
  const blocked = await send({ method: 'DELETE', path: `/v1/folders/${one.id}` })
  assert.deepEqual([blocked.status, blocked.json.code, ...places(blocked)], [409, 'HAS_DEPENDENTS', 'HAS_DEPENDENTS'])
  assert.match(blocked.json.detail, /folders.*twin_id/)
  assert.deepEqual(await stateOf(current, Object.keys(forest.resources)), before)
  await send({ method: 'PATCH', path: `/v1/folders/${two.id}`, body: { twin_id: null } })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${one.id}` })).status, 200)
})

it('DEL-4: a soft-deleted dependent does not block', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const one = await make('folders', { name: 'One' })
  const two = await make('folders', { name: 'Two', twin_id: one.id })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${two.id}` })).status, 200)
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${one.id}` })).status, 200)
})

/** A folder, a branch below it, files in it, remarks on them; bookmarks beside. */
async function grow({ make }: Trial) {
  const root = await make('folders', { name: 'Root' })
  const branch = await make('folders', { name: 'Branch', parent_id: root.id })
  const twig = await make('folders', { name: 'Twig', parent_id: branch.id })
  const cover = await make('files', { name: 'Cover', folder_id: twig.id })
  const file = await make('files', { name: 'File', folder_id: branch.id, cover_id: cover.id })
  const remark = await make('remarks', { text: 'Remark', file_id: cover.id })
  const mark = await make('bookmarks', { name: 'Mark', folder_id: twig.id, file_id: cover.id })
  const apart = await make('folders', { name: 'Apart' })
  const other = await make('files', { name: 'Other', folder_id: apart.id, cover_id: cover.id })
  return { root, branch, twig, cover, file, remark, mark, apart, other }
}

it('DEL-5: cascade deletes all descendants, each in its own way, and clears other references', async (context) => {
  const current = await trialFor(context, forest)
  const { send } = current
  const { root, twig, cover, file, remark, mark, apart, other } = await grow(current)
  const markTag = (await send({ path: `/v1/bookmarks/${mark.id}` })).headers.etag
  const deleted = await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })
  assert.equal(deleted.status, 200)
  for (const path of [`/folders/${twig.id}`, `/files/${cover.id}`, `/files/${file.id}`, `/remarks/${remark.id}`]) {
    assert.equal((await send({ path: `/v1${path}` })).status, 404, path)
  }
  const all = async (name: string) =>
    (await send({ path: `/v1/${name}?include_deleted=true&sort=created_at` })).json.data
  const folders = await all('folders')
  assert.deepEqual(
    folders.map((each: { name: string; deleted_at?: string }) => [each.name, each.deleted_at]),
    [...['Root', 'Branch', 'Twig'].map((name) => [name, deleted.json.deleted_at]), ['Apart', undefined]],
  )
  assert.deepEqual(
    (await all('files')).map((each: { name: string }) => each.name),
    ['Other'],
    'files are hard-deleted',
  )
  const [kept] = await all('remarks')
  assert.deepEqual([kept.text, kept.deleted_at], ['Remark', deleted.json.deleted_at], 'remarks are soft-deleted')
  const cleared = await send({ path: `/v1/bookmarks/${mark.id}` })
  assert.deepEqual([cleared.json.folder_id, cleared.json.file_id], [null, null])
  assert.notEqual(cleared.headers.etag, markTag, 'what was cleared has changed')
  assert.ok(cleared.json.updated_at >= mark.updated_at)
  const still = await send({ path: `/v1/files/${other.id}` })
  assert.deepEqual([still.json.cover_id, still.json.folder_id], [null, apart.id])
  assert.deepEqual(
    [await countOf(current, 'folders'), await countOf(current, 'files'), await countOf(current, 'remarks')],
    [1, 1, 0],
  )
})

it('DEL-5: a restriction at any depth keeps everything unchanged', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const { root, remark } = await grow(current)
  const lock = await make('locks', { name: 'Lock', remark_id: remark.id })
  const before = await stateOf(current, Object.keys(forest.resources))
  const blocked = await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })
  assert.deepEqual([blocked.status, blocked.json.code], [409, 'HAS_DEPENDENTS'])
  assert.match(blocked.json.detail, /locks.*remark_id/)
  assert.deepEqual(await stateOf(current, Object.keys(forest.resources)), before)
  assert.equal((await send({ method: 'DELETE', path: `/v1/locks/${lock.id}` })).status, 204)
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })).status, 200)
})

it('DEL-5: one response names every restriction', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const { root, twig, remark, apart } = await grow(current)
  await make('locks', { name: 'One', remark_id: remark.id })
  await make('locks', { name: 'Two', remark_id: remark.id })
  await send({ method: 'PATCH', path: `/v1/folders/${apart.id}`, body: { twin_id: twig.id } })
  const blocked = await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })
  assert.equal(blocked.status, 409)
  const messages = blocked.json.errors.map((each: { message: string }) => each.message).sort()
  assert.equal(messages.length, 2)
  assert.match(messages[0], /1 record of folders/)
  assert.match(messages[1], /2 records of locks/)
})

it('DEL-5: a record that refers to itself can be deleted, and so can a cycle', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const own = await make('folders', { name: 'Own' })
  await send({ method: 'PATCH', path: `/v1/folders/${own.id}`, body: { parent_id: own.id, twin_id: own.id } })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${own.id}` })).status, 200)
  const ring: { id: string }[] = []
  for (let index = 0; index < 5; index++)
    ring.push(await make('folders', { name: `Ring ${index}`, parent_id: ring.at(-1)?.id }))
  await send({ method: 'PATCH', path: `/v1/folders/${ring[0]?.id}`, body: { parent_id: ring[4]?.id } })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${ring[2]?.id}` })).status, 200)
  assert.equal(await countOf(current, 'folders'), 0)
})

it('DEL-5: a record that the same deletion deletes does not block', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const root = await make('folders', { name: 'Root' })
  const branch = await make('folders', { name: 'Branch', parent_id: root.id })
  await make('folders', { name: 'Twin', parent_id: root.id, twin_id: branch.id })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${branch.id}` })).status, 409)
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })).status, 200)
  assert.equal(await countOf(current, 'folders'), 0)
})

it('DEL-5: a deep and a wide tree are deleted in one deletion', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const root = await make('folders', { name: 'Root' })
  let parent = root
  for (let depth = 0; depth < 60; depth++)
    parent = await make('folders', { name: `Deep ${depth}`, parent_id: parent.id })
  await Promise.all(
    Array.from({ length: 300 }, (_, index) => make('files', { name: `File ${index}`, folder_id: parent.id })),
  )
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })).status, 200)
  assert.deepEqual([await countOf(current, 'folders'), await countOf(current, 'files')], [0, 0])
  assert.equal(await countOf(current, 'folders', '?include_deleted=true'), 61)
})

it('DEL-5: only live dependents are changed', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const root = await make('folders', { name: 'Root' })
  const branch = await make('folders', { name: 'Branch', parent_id: root.id })
  const first = await send({ method: 'DELETE', path: `/v1/folders/${branch.id}` })
  await new Promise((resolve) => setTimeout(resolve, 5))
  const second = await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })
  assert.notEqual(first.json.deleted_at, second.json.deleted_at)
  const { data } = (await send({ path: '/v1/folders?include_deleted=true&sort=created_at' })).json
  assert.deepEqual(
    data.map((each: { deleted_at: string }) => each.deleted_at),
    [second.json.deleted_at, first.json.deleted_at],
  )
})

it('DEL-5: no child can be created under a parent that is deleted at the same time', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  for (let round = 0; round < 10; round++) {
    const { id } = await make('folders', { name: `Folder ${round}` })
    const [made, gone] = await Promise.all([
      send({ path: '/v1/files', body: { name: 'File', folder_id: id } }),
      send({ method: 'DELETE', path: `/v1/folders/${id}` }),
    ])
    assert.equal(gone.status, 200)
    assert.ok([201, 400].includes(made.status), made.text)
  }
  assert.equal(await countOf(current, 'files'), 0, 'what was made in time went along')
})

it('DEL-5: a reference to a deleted record is a validation error', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const { id } = await make('folders', { name: 'Folder' })
  await send({ method: 'DELETE', path: `/v1/folders/${id}` })
  const answer = await send({ path: '/v1/files', body: { name: 'File', folder_id: id } })
  assert.deepEqual([answer.status, ...places(answer)], [400, 'INVALID_REFERENCE /folder_id'])
})
