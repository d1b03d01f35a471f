/** DEL-12: what a deletion would do, without doing it. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { defineInterface, type InterfaceDeclaration, reference, Type } from '../../packages/server/src/index.ts'
import { forest, studio } from '../declarations.ts'
import { desk } from '../declarations-desk.ts'
import { type Received, type Sent, type Trial, trialFor } from '../harness.ts'
import { fill, nowhere, stateOf } from '../steps.ts'

function preview({ send }: Trial, path: string, more: Partial<Sent> = {}): Promise<Received> {
  return send({ path: `/v1/${path}/deletion`, ...more })
}

function dryRun(collection: string, ids: readonly string[], more: Partial<Sent> = {}): Sent {
  return { path: `/v1/${collection}/bulk-delete`, body: { ids, dry_run: true }, ...more }
}

/** A folder with all that depends on it, of which nothing blocks its deletion. */
async function branch({ make }: Trial) {
  const top = await make('folders', { name: 'Top' })
  const below = await make('folders', { name: 'Below', parent_id: top.id })
  const elsewhere = await make('folders', { name: 'Elsewhere' })
  const file = await make('files', { name: 'File', folder_id: below.id })
  await make('files', { name: 'Its twin', folder_id: top.id, cover_id: file.id })
  await make('files', { name: 'Stays', folder_id: elsewhere.id, cover_id: file.id })
  const remark = await make('remarks', { text: 'Good', file_id: file.id })
  await make('bookmarks', { name: 'One', folder_id: below.id })
  await make('bookmarks', { name: 'Two', folder_id: top.id, file_id: file.id })
  return { top, below, elsewhere, file, remark }
}

const everywhere = Object.keys(forest.resources)

/** Both lists in an order that does not depend on how they were found. */
function sorted({ deletes, clears }: Received['json']): unknown {
  return [deletes, clears].map((each) => each.map((one: object) => Object.values(one).join(' ')).sort())
}

const whole = [
  ['files 2', 'folders 2', 'remarks 1'],
  ['bookmarks file_id 1', 'bookmarks folder_id 2', 'files cover_id 1'],
]

it('DEL-12: it counts what is deleted and cleared, changes nothing, and the deletion does just that', async (context) => {
  const current = await trialFor(context, forest)
  const { top } = await branch(current)
  const before = await stateOf(current, everywhere)
  const answer = await preview(current, `folders/${top.id}`)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual([answer.headers['cache-control'], answer.headers.etag], ['private, no-cache', undefined])
  const { id, allowed, blocked_by, complete, asynchronous, purged_at } = answer.json
  assert.deepEqual([id, allowed, blocked_by, complete, asynchronous], [top.id, true, [], true, false])
  assert.deepEqual(sorted(answer.json), whole)
  const days = (Date.parse(purged_at) - Date.now()) / 86_400_000
  assert.ok(days > 29.9 && days <= 30, purged_at)
  assert.deepEqual(await stateOf(current, everywhere), before)
  assert.equal((await current.send({ method: 'DELETE', path: `/v1/folders/${top.id}` })).status, 200)
  const counts = everywhere.map((name) => `select count(*) as n from ${name} where deleted_at is null`)
  const left = await Promise.all(counts.map(async (text) => Number((await current.database.rows(text))[0]?.['n'])))
  assert.deepEqual(left, [1, 1, 0, 0, 2])
  const cleared = 'select count(*) as n from bookmarks where folder_id is null and'
  const [{ n } = {}] = await current.database.rows(`${cleared} file_id is null`)
  assert.equal(Number(n), 2)
})

it('DEL-12: a record that is not kept has no time of its purge', async (context) => {
  const current = await trialFor(context, forest)
  const { file } = await branch(current)
  const { json } = await preview(current, `files/${file.id}`)
  assert.deepEqual([json.purged_at, json.allowed], [null, true])
})

it('DEL-12, DEL-4: what blocks it is what the 409 of the deletion says', async (context) => {
  const current = await trialFor(context, forest)
  const { top, below, elsewhere, remark } = await branch(current)
  await current.make('locks', { name: 'One', remark_id: remark.id })
  await current.make('locks', { name: 'Two', remark_id: remark.id })
  await current.make('folders', { name: 'Twin', twin_id: below.id })
  for (const { id } of [top, below]) {
    const { json } = await preview(current, `folders/${id}`)
    const refused = await current.send({ method: 'DELETE', path: `/v1/folders/${id}` })
    assert.deepEqual([refused.status, json.allowed, json.blocked_by], [409, false, refused.json.errors])
    assert.equal(json.blocked_by.length, 2)
  }
  assert.equal((await preview(current, `folders/${elsewhere.id}`)).json.allowed, true)
})

const ruled = defineInterface({
  name: 'ruled',
  resources: {
    boxes: {
      fields: { name: Type.String(), sealed: Type.Boolean({ default: false }) },
      rules: [
        {
          on: 'delete',
          check: ({ current }) =>
            current?.['sealed'] === true
              ? { code: 'BOX_SEALED', message: 'Open it first.', pointer: '/sealed' }
              : undefined,
        },
        {
          on: 'delete',
          code: 'BOX_IN_USE',
          message: 'Return the loans first.',
          unless: { none: 'loans', where: { box: { record: 'name' } } },
        },
      ],
    },
    items: { fields: { box_id: reference('boxes', { onDelete: 'cascade' }) } },
    loans: { fields: { box: Type.String() } },
  },
})

it('DEL-12: it asks the rules of the declaration, those that are functions too', async (context) => {
  const current = await trialFor(context, ruled)
  const free = await current.make('boxes', { name: 'free' })
  const shut = await current.make('boxes', { name: 'shut', sealed: true })
  await current.make('loans', { box: 'shut' })
  assert.deepEqual((await preview(current, `boxes/${free.id}`)).json.blocked_by, [])
  const { json } = await preview(current, `boxes/${shut.id}`)
  assert.deepEqual(json.blocked_by.map((each: { code: string }) => each.code).sort(), ['BOX_IN_USE', 'BOX_SEALED'])
  const refused = await current.send({ method: 'DELETE', path: `/v1/boxes/${shut.id}` })
  assert.deepEqual(json.blocked_by, refused.json.errors)
  const bulk = (await current.send(dryRun('boxes', [free.id, shut.id]))).json
  assert.deepEqual(new Set(bulk.blocked_by.map((each: { pointer: string }) => each.pointer)), new Set(['/ids/1']))
  assert.equal(bulk.blocked_by.length, 2)
})

it('DEL-12: of so many records that functions cannot be asked, it says that more may block', async (context) => {
  const current = await trialFor(context, ruled)
  const shut = await current.make('boxes', { name: 'shut', sealed: true })
  await fill(
    current,
    'items',
    Array.from({ length: 1_100 }, () => ({ box_id: shut.id })),
  )
  const { json } = await preview(current, `boxes/${shut.id}`)
  assert.ok(!json.allowed || !json.complete, JSON.stringify(json))
  assert.deepEqual(json.deletes, [
    { collection: 'boxes', count: 1 },
    { collection: 'items', count: 1_100 },
  ])
  assert.equal(json.asynchronous, true)
})

it('DEL-12, CON-6: it needs a credential, the permissions to read and to delete, and a record', async (context) => {
  const current = await trialFor(context, studio)
  const { id } = await current.make('projects', { name: 'Foreign', visibility: 'public' })
  const secret = await current.make('projects', { name: 'Secret' })
  const own = await current.make('projects', { name: 'Own' }, 'ann')
  const statusOf = async (path: string, more: Partial<Sent>) => (await preview(current, path, more)).status
  assert.equal(await statusOf(`projects/${id}`, { as: null }), 401)
  assert.equal(await statusOf(`projects/${id}`, { as: 'ann' }), 403)
  assert.equal(await statusOf(`projects/${secret.id}`, { as: 'ann' }), 403)
  assert.equal(await statusOf(`projects/${own.id}`, { as: 'ann' }), 200)
  assert.equal(await statusOf(`projects/${nowhere}`, { as: 'ann' }), 404)
  assert.equal(await statusOf(`users/${nowhere}`, { as: 'ann' }), 403)
  assert.equal(await statusOf(`jobs/${nowhere}`, {}), 404)
  assert.equal((await current.send({ path: `/v1/projects/${id}/deletion/more` })).status, 404)
  assert.equal((await current.send({ path: `/v1/projects/${id}/deletion?fields=id` })).status, 400)
  const wrong = await preview(current, `projects/${id}`, { method: 'POST', body: {} })
  assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'GET, HEAD, OPTIONS'])
  await current.send({ method: 'DELETE', path: `/v1/projects/${id}` })
  assert.equal(await statusOf(`projects/${id}`, {}), 404)
})

const guarded = defineInterface({
  name: 'guarded',
  resources: {
    boxes: { fields: { name: Type.String() }, access: { read: 'anyone', delete: 'anyone' } },
    letters: {
      fields: { box_id: reference('boxes', { onDelete: 'cascade' }), to: Type.String({ filter: true }) },
      access: { read: { where: { to: { caller: 'id' } } } },
    },
    stamps: {
      fields: { letter_id: reference('letters', { onDelete: 'cascade', requires: 'none' }) },
      access: { read: 'anyone' },
    },
    tags: {
      fields: { box_id: Type.Optional(reference('boxes', { onDelete: 'clear' })), to: Type.String({ filter: true }) },
      access: { read: { where: { to: { caller: 'id' } } } },
    },
    seals: { fields: { box_id: Type.Optional(reference('boxes', { onDelete: 'restrict' })) } },
  },
})

it('DEL-12, AUT-9: it counts and names only what the caller may read', async (context) => {
  const current = await trialFor(context, guarded)
  const box = await current.make('boxes', { name: 'One' })
  for (const to of ['ann', 'bob', 'bob']) {
    const letter = await current.make('letters', { box_id: box.id, to })
    await current.make('stamps', { letter_id: letter.id })
    await current.make('tags', { box_id: box.id, to })
  }
  const seen = async (as: string) => sorted((await preview(current, `boxes/${box.id}`, { as })).json)
  assert.deepEqual(await seen('ann'), [['boxes 1', 'letters 1', 'stamps 3'], ['tags box_id 1']])
  assert.deepEqual(await seen('bob'), [['boxes 1', 'letters 2', 'stamps 3'], ['tags box_id 2']])
  assert.deepEqual(await seen('eve'), [['boxes 1', 'stamps 3'], []])
  await current.make('seals', { box_id: box.id })
  const { json } = await preview(current, `boxes/${box.id}`, { as: 'eve' })
  const refused = await current.send({ method: 'DELETE', path: `/v1/boxes/${box.id}`, as: 'eve' })
  assert.deepEqual([json.allowed, json.blocked_by], [false, refused.json.errors])
  assert.deepEqual(Object.keys(json.blocked_by[0]), ['code', 'message', 'collection'])
})

it('DEL-12, VER-2: an older version has its own names, and no collections that it does not have', async (context) => {
  const current = await trialFor(context, desk)
  const person = (await current.send({ path: '/v3/people', body: { name: 'Ann' } })).json
  for (const headline of ['One', 'Two']) {
    const body = { headline, person_id: person.id }
    const { id } = (await current.send({ path: '/v3/cases', body })).json
    await current.send({ path: '/v3/remarks', body: { text: 'Yes', case_id: id } })
  }
  const deletesIn = async (version: string) =>
    (await current.send({ path: `/${version}/people/${person.id}/deletion` })).json.deletes
  const shared = { collection: 'people', count: 1 }
  assert.deepEqual(await deletesIn('v3'), [
    shared,
    { collection: 'cases', count: 2 },
    { collection: 'remarks', count: 2 },
  ])
  assert.deepEqual(await deletesIn('v2'), [
    shared,
    { collection: 'tickets', count: 2 },
    { collection: 'remarks', count: 2 },
  ])
  assert.deepEqual(await deletesIn('v1'), [shared, { collection: 'tickets', count: 2 }])
})

const renamed: InterfaceDeclaration = {
  name: 'renamed',
  versions: { v1: {}, v2: {} },
  changes: [
    { version: 'v2', resource: 'labels', was: 'marks', rename: { place_id: 'shelf_id' } },
    { version: 'v2', resource: 'pins', was: 'nails', rename: { place_id: 'shelf_id' } },
  ],
  resources: {
    shelves: { fields: { name: { type: 'string' } } },
    labels: { fields: { shelf_id: { reference: 'shelves', onDelete: 'clear', optional: true } } },
    pins: { fields: { shelf_id: { reference: 'shelves', onDelete: 'restrict', optional: true } } },
  },
}

it('DEL-12, DEL-9, VER-2: an older version names references and blockers as its clients do', async (context) => {
  const { send } = await trialFor(context, renamed)
  const { id } = (await send({ path: '/v2/shelves', body: { name: 'One' } })).json
  for (const collection of ['labels', 'pins']) await send({ path: `/v2/${collection}`, body: { shelf_id: id } })
  const { json } = await send({ path: `/v1/shelves/${id}/deletion` })
  assert.deepEqual(json.clears, [{ collection: 'marks', field: 'place_id', count: 1 }])
  const message = '1 record of nails refers to shelves by place_id; delete or change it first.'
  const { ids, ...blocker } = json.blocked_by[0]
  assert.deepEqual(blocker, { code: 'HAS_DEPENDENTS', message, collection: 'nails', count: 1 })
  const refused = await send({ method: 'DELETE', path: `/v1/shelves/${id}` })
  assert.deepEqual(refused.json.errors, json.blocked_by)
  const bulk = { path: '/v1/shelves/bulk-delete', body: { ids: [id] } }
  const pointed = json.blocked_by.map((each: object) => ({ ...each, pointer: '/ids/0' }))
  assert.deepEqual((await send(bulk)).json.errors, pointed)
  assert.deepEqual((await send({ ...bulk, body: { ids: [id], dry_run: true } })).json.blocked_by, pointed)
})

/** A trial in which a deletion of a branch has begun, and its job does nothing. */
async function begun(context: TestContext) {
  const current = await trialFor(context, forest)
  const { jobs } = current.app.storage
  const { step } = jobs
  Object.assign(jobs, { step: async () => 'elsewhere' })
  context.after(() => Object.assign(jobs, { step }))
  const made = await branch(current)
  const headers = { prefer: 'respond-async' }
  const accepted = await current.send({ method: 'DELETE', path: `/v1/folders/${made.top.id}`, headers })
  assert.equal(accepted.status, 202, accepted.text)
  return { current, made }
}

it('DEL-12: a record that a job is about to delete is blocked by that', async (context) => {
  const { current, made } = await begun(context)
  const codes = (answer: Received) =>
    answer.json.blocked_by.map(({ code, pointer }: Record<string, string>) => [code, pointer])
  const one = await preview(current, `folders/${made.below.id}`)
  assert.deepEqual([one.json.allowed, codes(one)], [false, [['BEING_DELETED', undefined]]])
  const listed = await current.send(dryRun('folders', [made.elsewhere.id, made.below.id]))
  assert.deepEqual([listed.json.allowed, codes(listed)], [false, [['BEING_DELETED', '/ids/1']]])
})

const large = defineInterface({
  name: 'large',
  resources: {
    boxes: { fields: { name: Type.String() }, deletion: { asynchronous: { above: 20_000 } } },
    items: { fields: { box_id: reference('boxes', { onDelete: 'cascade' }) } },
    // It is deleted with its box: it blocks nothing, and no reference of it becomes null.
    pins: {
      fields: {
        box_id: reference('boxes', { onDelete: 'cascade' }),
        item_id: reference('items', { onDelete: 'restrict' }),
        other_id: Type.Optional(reference('items', { onDelete: 'clear' })),
      },
    },
    seals: { fields: { item_id: reference('items', { onDelete: 'restrict' }) } },
    notes: { fields: { box_id: Type.Optional(reference('boxes', { onDelete: 'clear' })) } },
  },
})

it('DEL-12: beyond 10,000 records counts are lower bounds, and only certain blockers are named', async (context) => {
  const current = await trialFor(context, large)
  const box = await current.make('boxes', { name: 'One' })
  const ids = await fill(
    current,
    'items',
    Array.from({ length: 10_200 }, () => ({ box_id: box.id })),
  )
  await fill(
    current,
    'pins',
    ids.slice(0, 20).map((item_id) => ({ item_id, other_id: item_id, box_id: box.id })),
  )
  await fill(current, 'notes', [{ box_id: box.id }])
  const { json } = await preview(current, `boxes/${box.id}`)
  assert.deepEqual([json.allowed, json.complete, json.asynchronous], [true, false, false])
  const [, items, ...others] = json.deletes
  assert.ok(items.collection === 'items' && items.count >= 9_999 && items.count <= 10_200, JSON.stringify(items))
  assert.deepEqual(others, [])
  assert.deepEqual(json.clears, [{ collection: 'notes', field: 'box_id', count: 1 }])
  await fill(
    current,
    'seals',
    ids.slice(0, 5).map((item_id) => ({ item_id })),
  )
  const blocked = (await preview(current, `boxes/${box.id}`)).json
  assert.deepEqual([blocked.allowed, blocked.blocked_by.map((each: { collection: string }) => each.collection)], [
    false, ['seals'],
  ]) // biome-ignore format: one row reads best
  const listed = (await current.send(dryRun('boxes', [box.id]))).json
  assert.deepEqual([listed.complete, listed.blocked_by], [false, blocked.blocked_by])
})

it('DEL-9, DEL-12: a dry run of a bulk deletion says what would happen to the list, and changes nothing', async (context) => {
  const current = await trialFor(context, forest)
  const { top, elsewhere } = await branch(current)
  const before = await stateOf(current, everywhere)
  const answer = await current.send(dryRun('folders', [elsewhere.id, top.id]))
  assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'no-store'], answer.text)
  const { ids, allowed, blocked_by, complete } = answer.json
  assert.deepEqual([ids, allowed, blocked_by, complete], [[elsewhere.id, top.id], true, [], true])
  assert.equal('id' in answer.json, false)
  assert.deepEqual(sorted(answer.json), [
    ['files 3', 'folders 3', 'remarks 1'],
    ['bookmarks file_id 1', 'bookmarks folder_id 2'],
  ])
  assert.deepEqual(await stateOf(current, everywhere), before)
})

it('DEL-9, DEL-12: every reason of a dry run points at its id, and the deletion gives the same', async (context) => {
  const current = await trialFor(context, studio)
  const own = await current.make('projects', { name: 'Own' }, 'ann')
  const foreign = await current.make('projects', { name: 'Foreign' })
  const busy = await current.make('projects', { name: 'Busy' }, 'ann')
  await current.make('tasks', { title: 'Open', project_id: busy.id })
  const asked = [busy.id, foreign.id, own.id, nowhere]
  const dry = await current.send(dryRun('projects', asked, { as: 'ann' }))
  const refused = await current.send({ path: '/v1/projects/bulk-delete', body: { ids: asked }, as: 'ann' })
  assert.deepEqual([dry.status, dry.json.allowed, dry.json.blocked_by], [200, false, refused.json.errors])
  // What goes along with those that could go.
  assert.deepEqual(sorted(dry.json), [['projects 2', 'tasks 1'], []])
  assert.equal((await current.send(dryRun('users', [nowhere], { as: 'ann' }))).status, 403)
  const invalid = await current.send({ path: '/v1/projects/bulk-delete', body: { ids: asked, dry_run: 'yes' } })
  assert.deepEqual([invalid.status, invalid.json.errors[0].pointer], [400, '/dry_run'])
})

it('DEL-9, MET-9: a dry run is not kept under an Idempotency-Key', async (context) => {
  const current = await trialFor(context, studio)
  const { id } = await current.make('projects', { name: 'One' })
  const headers = { 'idempotency-key': 'one' }
  const deletion = { path: '/v1/projects/bulk-delete', body: { ids: [id] }, headers }
  assert.equal((await current.send(dryRun('projects', [id], { headers }))).json.allowed, true)
  const done = await current.send(deletion)
  assert.equal(done.status, 200, done.text)
  assert.deepEqual((await current.send(deletion)).json, done.json)
  const after = await current.send(dryRun('projects', [id], { headers }))
  assert.deepEqual([after.status, after.json.allowed, after.json.deletes], [200, false, []])
  const explicit = { ...deletion, headers: {}, body: { ids: [id], dry_run: false } }
  assert.equal((await current.send(explicit)).status, 404)
})
