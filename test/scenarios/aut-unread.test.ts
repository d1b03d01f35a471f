/**
 * AUT-9: no response shows what its caller may not read. The caller may change or delete the records, and never read
 * them.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { places, type Received, type Sent, type Trial, trialFor, unmarkedTag } from '../harness.ts'

const readers = ['role:admin', 'owner'] as const

/** Anyone may change, delete and restore a letter; only its owner and administrators may read it. */
const post = defineInterface({
  name: 'post',
  resources: {
    boxes: {
      fields: { name: Type.String(), owner_id: Type.String({ readOnly: true }) },
      owner: 'owner_id',
      access: {
        read: readers,
        create: 'anyone',
        update: 'anyone',
        delete: 'anyone',
        restore: 'anyone',
        readDeleted: 'anyone',
      },
      deletion: { asynchronous: { above: 4 } },
    },
    letters: {
      fields: {
        text: Type.String({ filter: true, sort: true, search: true }),
        state: Type.Enum(['draft', 'sent', 'read'], {
          default: 'draft',
          transitions: { draft: ['sent'], sent: ['read'] },
        }),
        stamp: Type.Optional(Type.String({ immutable: true })),
        serial: Type.Integer({ readOnly: true, default: 7 }),
        extra: Type.Optional(Type.Object({ a: Type.Optional(Type.Integer()) }, { minProperties: 1 })),
        number: Type.Optional(Type.String({ unique: true })),
        box_id: Type.Optional(reference('boxes', { onDelete: 'cascade', requires: 'none' })),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      deletion: { byFilter: true },
      access: {
        read: readers,
        create: 'anyone',
        update: 'anyone',
        delete: 'anyone',
        restore: 'anyone',
        readDeleted: 'anyone',
      },
    },
    // What refers to a letter keeps it.
    receipts: {
      fields: { letter_id: reference('letters', { requires: 'none' }), owner_id: Type.String({ readOnly: true }) },
      owner: 'owner_id',
      access: { read: readers, create: 'anyone', delete: readers },
    },
  },
})

const jsonPatch = { 'content-type': 'application/json-patch+json' }
const strict = (most: number) => ({ prefer: `max-affected=${most}, handling=strict` })
const told = (answer: Received) => [answer.status, answer.text.replace(/"request_id":"[^"]*"/, ''), unmarkedTag(answer)]

/**
 * What somebody who may not read a record is answered must be the same whatever it holds: made with each of two
 * contents.
 */
async function alike(
  trial: Trial,
  contents: readonly [object, object],
  sent: (path: string) => Sent,
): Promise<Received> {
  const answers: Received[] = []
  const ids: string[] = []
  for (const content of contents) {
    const { id } = await trial.make('letters', { text: 'x', ...content }, 'ann')
    ids.push(id)
    answers.push(await trial.send({ as: 'bob', ...sent(`/v1/letters/${id}`) }))
  }
  const [one, other] = answers.map((answer, index) =>
    told({ ...answer, text: answer.text.replaceAll(ids[index] as string, 'ID') }),
  )
  assert.deepEqual(one, other)
  return answers[0] as Received
}

describe('records that a caller may change but not read', () => {
  it('AUT-9: an update gets the same response for any content of the record', async (context) => {
    const current = await trialFor(context, post, { memory: true })
    const patching =
      (body: unknown, headers = {}) =>
      (path: string) => ({ method: 'PATCH', path, body, headers })
    const cases: readonly (readonly [object, object, unknown, number, readonly string[]])[] = [
      // The same value, or another one.
      [{ text: 'same' }, { text: 'else' }, { text: 'same' }, 204, []],
      // What cannot change is not compared.
      [{ stamp: 'a' }, { stamp: 'b' }, { stamp: 'a' }, 400, ['IMMUTABLE /stamp']],
      [{}, { stamp: 'b' }, { stamp: null }, 400, ['IMMUTABLE /stamp']],
      [{}, {}, { serial: 7 }, 400, ['READ_ONLY /serial']],
      [{}, {}, { serial: 8 }, 400, ['READ_ONLY /serial']],
      [{}, {}, { owner_id: 'ann' }, 400, ['READ_ONLY /owner_id']],
      [{}, {}, { deleted_at: null }, 400, ['READ_ONLY /deleted_at']],
      // Which state may follow depends on the present one.
      [{ state: 'draft' }, { state: 'sent' }, { state: 'sent' }, 403, []],
      [{ state: 'read' }, { state: 'sent' }, { state: 'read' }, 403, []],
      // What an object is merged with decides whether it is valid.
      [{ extra: { a: 1 } }, {}, { extra: { a: null } }, 403, []],
      [{ extra: { a: 1 } }, {}, { extra: null }, 204, []],
    ]
    for (const [one, other, body, status, errors] of cases) {
      const answer = await alike(current, [one, other], patching(body))
      assert.deepEqual([answer.status, ...places(answer)], [status, ...errors], JSON.stringify(body))
      assert.deepEqual([answer.headers.etag, answer.headers['last-modified']], [undefined, undefined])
      assert.equal(answer.headers['cache-control'], 'no-store')
    }
    const operations = [{ op: 'test', path: '/text', value: 'x' }]
    assert.equal((await alike(current, [{ text: 'x' }, { text: 'y' }], patching(operations, jsonPatch))).status, 403)
    const put = (path: string) => ({ method: 'PUT', path, body: { text: 'x' } })
    assert.equal((await alike(current, [{ state: 'draft' }, { state: 'read' }], put)).status, 403)
  })

  it('AUT-9: a PUT without permission to read keeps immutable fields, and counts as a change', async (context) => {
    const { send, make } = await trialFor(context, post)
    const { id } = await make('boxes', { name: 'a' }, 'ann')
    const path = `/v1/boxes/${id}`
    for (let time = 2; time < 4; time++) {
      const answer = await send({ method: 'PUT', path, body: { name: 'a' }, as: 'bob' })
      assert.deepEqual([answer.status, answer.text, answer.headers.etag], [204, '', undefined])
      assert.match(String(unmarkedTag(await send({ path, as: 'ann' }))), new RegExp(`^"${time}-`))
    }
    // Whoever may read hears of what changed, and of what did not.
    const same = await send({ method: 'PUT', path, body: { name: 'a' }, as: 'ann' })
    assert.match(String(unmarkedTag(same)), /^"3-/)
  })

  it('AUT-9: a condition needs permission to read: without it every condition is a 403', async (context) => {
    const { send, make } = await trialFor(context, post)
    const { id } = await make('letters', { text: 'x' }, 'ann')
    const path = `/v1/letters/${id}`
    const tag = String((await send({ path, as: 'ann' })).headers.etag)
    const past = 'Thu, 01 Jan 2026 00:00:00 GMT'
    const future = 'Thu, 01 Jan 2099 00:00:00 GMT'
    const conditions: readonly (readonly [string, string])[] = [
      ...[tag, '"9-x"', `W/${tag}`, `"9-x", ${tag}`].flatMap(
        (value) =>
          [
            ['if-match', value],
            ['if-none-match', value],
          ] as const,
      ),
      ['if-unmodified-since', past],
      ['if-unmodified-since', future],
    ]
    for (const [name, value] of conditions) {
      const headers = { [name]: value }
      for (const sent of [
        { method: 'PATCH', path, body: { text: 'y' } },
        { method: 'DELETE', path },
      ]) {
        assert.equal((await send({ ...sent, headers, as: 'bob' })).status, 403, JSON.stringify(headers))
      }
    }
    assert.equal((await send({ path, as: 'ann', headers: { 'if-none-match': tag } })).status, 304)
    // That there is a record 403 and 404 tell anyhow.
    const star = { method: 'PATCH', path, body: { text: 'y' }, headers: { 'if-match': '*' }, as: 'bob' }
    assert.equal((await send(star)).status, 204)
    assert.equal((await send({ method: 'DELETE', path, headers: { 'if-match': '*' }, as: 'bob' })).status, 204)
    const restore = { method: 'POST', path: `${path}/restore`, as: 'bob' }
    for (const value of [tag, '"9-x"'])
      assert.equal((await send({ ...restore, headers: { 'if-match': value } })).status, 403)
    assert.deepEqual(told(await send(restore)), [204, '', undefined])
    assert.equal(
      (await send({ method: 'PATCH', path, body: { text: 'z' }, headers: { 'if-match': tag }, as: 'ann' })).status,
      412,
    )
  })

  it('AUT-9: deletion by filter finds no records that the caller may not read', async (context) => {
    const { send, make } = await trialFor(context, post)
    const { id } = await make('letters', { text: 'secret' }, 'ann')
    const own = await make('letters', { text: 'season' }, 'bob')
    const removing = (query: string, most?: number) =>
      send({
        method: 'DELETE',
        path: `/v1/letters?${query}`,
        as: 'bob',
        headers: most === undefined ? {} : strict(most),
      })
    for (const query of ['text=secret', 'text[starts_with]=sec', 'text[gt]=seb&text[lt]=sed']) {
      const answer = await removing(query, 0)
      assert.deepEqual([answer.status, answer.json.deleted_count], [200, 0], `${query} ${answer.text}`)
    }
    const most = await removing('text[starts_with]=se', 0)
    assert.deepEqual([most.status, most.json.errors[0].count], [409, 1])
    const gone = await removing('text[starts_with]=se')
    assert.deepEqual([gone.status, gone.json.deleted_count], [200, 1])
    assert.equal((await send({ path: `/v1/letters/${own.id}`, as: 'bob' })).status, 404)
    assert.equal((await send({ path: `/v1/letters/${id}`, as: 'ann' })).status, 200)
  })

  it('AUT-9: bulk deletion reports an unreadable record as forbidden, without details', async (context) => {
    const { send, make } = await trialFor(context, post)
    const kept = await make('letters', { text: 'kept' }, 'ann')
    await make('receipts', { letter_id: kept.id }, 'ann')
    const free = await make('letters', { text: 'free' }, 'ann')
    const own = await make('letters', { text: 'own' }, 'bob')
    const ids = [kept.id, free.id, own.id]
    const refused = await send({ path: '/v1/letters/bulk-delete', body: { ids }, as: 'bob' })
    assert.deepEqual([refused.status, ...places(refused)], [403, 'FORBIDDEN /ids/0', 'FORBIDDEN /ids/1'])
    const done = await send({ path: '/v1/letters/bulk-delete', body: { ids: [own.id] }, as: 'bob' })
    assert.equal(done.status, 200)
  })
})

describe('records that block a deletion or cascade with it', () => {
  it('AUT-9, DEL-4: of the blocking records, readable ones are named, and none is counted unless all are readable', async (context) => {
    const { send, make } = await trialFor(context, post)
    const { id } = await make('letters', { text: 'x' }, 'bob')
    const path = `/v1/letters/${id}`
    const asked = async (as: string) => {
      const { status, json } = await send({ method: 'DELETE', path, as })
      const { count, ids, message } = json.errors[0]
      return [status, count, ids?.length, /^\w+/.exec(message)?.[0]]
    }
    await make('receipts', { letter_id: id }, 'ann')
    const one = await asked('bob')
    await make('receipts', { letter_id: id }, 'ann')
    assert.deepEqual(one, [409, undefined, undefined, 'Records'])
    assert.deepEqual(await asked('bob'), one)
    await make('receipts', { letter_id: id }, 'bob')
    assert.deepEqual(await asked('bob'), [409, undefined, 1, 'Records'])
    assert.deepEqual(await asked('root'), [409, 3, 3, '3'])
  })

  it('AUT-9, JOB-2: the job of a deletion counts records that its caller may read', async (context) => {
    const { app, send, make } = await trialFor(context, post)
    const jobOf = async (letters: number, as: string) => {
      const { id } = await make('boxes', { name: 'a' }, as)
      for (let letter = 0; letter < letters; letter++) await make('letters', { text: 'x', box_id: id }, 'ann')
      const answer = await send({ method: 'DELETE', path: `/v1/boxes/${id}`, as })
      assert.equal(answer.status, 202, answer.text)
      await app.runner.idle()
      const { json } = await send({ path: answer.headers.location ?? '', as })
      return [json.status, json.progress, json.result.affected_count]
    }
    const expected = ['succeeded', { done: 1, total: 1 }, 1]
    assert.deepEqual(await jobOf(5, 'bob'), expected)
    assert.deepEqual(await jobOf(8, 'bob'), expected)
    assert.deepEqual(await jobOf(5, 'root'), ['succeeded', { done: 6, total: 6 }, 6])
  })

  it('AUT-9, DEL-6: a restoration names no records that the caller may not read', async (context) => {
    const { send, make } = await trialFor(context, post)
    const box = await make('boxes', { name: 'a' }, 'bob')
    const hidden = await make('letters', { text: 'x', number: 'n1', box_id: box.id }, 'ann')
    await make('letters', { text: 'x', number: 'n2', box_id: box.id }, 'ann')
    const shown = await make('letters', { text: 'x', number: 'n3', box_id: box.id }, 'bob')
    assert.equal((await send({ method: 'DELETE', path: `/v1/boxes/${box.id}`, as: 'bob' })).status, 204)
    for (const number of ['n1', 'n2', 'n3']) await make('letters', { text: 'taken', number })
    const refused = await send({ method: 'POST', path: `/v1/boxes/${box.id}/restore`, as: 'bob' })
    assert.equal(refused.status, 409)
    assert.deepEqual(refused.text.includes(hidden.id), false)
    assert.deepEqual(places(refused), ['DUPLICATE_VALUE', 'DUPLICATE_VALUE'])
    assert.ok(refused.json.errors[0].message.startsWith(`letters ${shown.id}: `), refused.text)
    const all = await send({ method: 'POST', path: `/v1/boxes/${box.id}/restore` })
    assert.equal(places(all).length, 3)
    assert.ok(all.text.includes(hidden.id))
  })

  it('AUT-9, MET-9: a repeated restoration does not show what the caller may no longer read', async (context) => {
    const { send, make } = await trialFor(context, post)
    const { id } = await make('letters', { text: 'mine' }, 'bob')
    const path = `/v1/letters/${id}`
    await send({ method: 'DELETE', path, as: 'bob' })
    const restore = { method: 'POST', path: `${path}/restore`, as: 'bob', headers: { 'idempotency-key': '"again"' } }
    const first = await send(restore)
    assert.deepEqual([first.status, first.json.text], [200, 'mine'])
    assert.deepEqual(told(await send(restore)), told(first))
    await send({ method: 'PATCH', path, body: { owner_id: 'ann' } })
    assert.deepEqual(told(await send(restore)), [204, '', undefined])
  })
})

describe('deleted records', () => {
  it('AUT-9: readDeleted applies together with read, to the record as it was', async (context) => {
    const { send, make } = await trialFor(context, post)
    for (const as of ['ann', 'ann', 'bob']) {
      const { id } = await make('letters', { text: `of ${as}` }, as)
      await send({ method: 'DELETE', path: `/v1/letters/${id}` })
    }
    const seen = async (as: string, query = '') => {
      const { json } = await send({ path: `/v1/letters?include_deleted=true${query}`, as })
      return [json.pagination.total_count, json.data.length]
    }
    assert.deepEqual(await seen('bob'), [1, 1])
    assert.deepEqual(await seen('ann', '&text=of%20ann'), [2, 2])
    assert.deepEqual(await seen('eve', '&q=of'), [0, 0])
    assert.deepEqual(await seen('root'), [3, 3])
  })

  it('AUT-9: a rule that reads through a deleted record permits nothing until that record is restored', async (context) => {
    const through = { through: 'box_id', action: 'read' } as const
    const declared = defineInterface({
      name: 'shelves',
      resources: {
        boxes: {
          fields: { owner_id: Type.String({ readOnly: true }) },
          owner: 'owner_id',
          access: { read: 'owner', create: 'anyone', delete: 'owner', restore: 'owner' },
        },
        letters: {
          fields: { text: Type.String(), box_id: reference('boxes', { onDelete: 'cascade' }) },
          access: { read: through, create: through, delete: through, readDeleted: 'anyone' },
        },
      },
    })
    const { send, make } = await trialFor(context, declared)
    const box = await make('boxes', {}, 'ann')
    const one = await make('letters', { text: 'a', box_id: box.id }, 'ann')
    await make('letters', { text: 'b', box_id: box.id }, 'ann')
    const total = async (as: string) =>
      (await send({ path: '/v1/letters?include_deleted=true', as })).json.pagination.total_count
    await send({ method: 'DELETE', path: `/v1/letters/${one.id}`, as: 'ann' })
    assert.deepEqual([await total('ann'), await total('bob')], [2, 0])
    assert.equal((await send({ method: 'DELETE', path: `/v1/boxes/${box.id}`, as: 'ann' })).status, 204)
    assert.deepEqual([await total('ann'), await total('bob')], [0, 0])
    assert.equal((await send({ method: 'POST', path: `/v1/boxes/${box.id}/restore`, as: 'ann' })).status, 200)
    assert.deepEqual([await total('ann'), await total('bob')], [2, 0])
  })
})
