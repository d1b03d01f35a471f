/** AUT-13, AUT-14: access to single fields. The whole matrix of reads is in `test/field-access.slow.test.ts`. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AccessRule, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { staff } from '../declarations-staff.ts'
import { places, type Received, type Sent, type Trial, trialFor, unmarkedTag } from '../harness.ts'

const jsonPatch = { 'content-type': 'application/json-patch+json' }

/** An employee of ann's with a salary that eve has set, in a team that bob leads. */
async function hire({ make, send }: Trial, more: object = {}, salary: number | null = 100): Promise<string> {
  const team = await make('teams', { name: 'T' }, 'bob')
  const { id } = await make('employees', { name: 'Ann', team_id: team.id, ...more }, 'ann')
  const path = `/v2/employees/${id}`
  if (salary !== null) assert.equal((await send({ path, method: 'PATCH', body: { salary }, as: 'eve' })).status, 200)
  return path
}

describe('writing single fields', () => {
  it('AUT-14: a create that sets a field which the caller may not write is refused, and names it', async (context) => {
    const { send } = await trialFor(context, staff, { memory: true })
    const team = (await send({ path: '/v2/teams', body: { name: 'T' }, as: 'bob' })).json
    const body = { name: 'Ann', salary: 5, rating: 1, team_id: team.id }
    const refused = await send({ path: '/v2/employees', body, as: 'ann' })
    assert.deepEqual([refused.status, refused.json.code, places(refused)], [403, 'FORBIDDEN', ['FORBIDDEN /salary']])
    // The other rule depends on the record, as it would be.
    const alone = await send({ path: '/v2/employees', body: { ...body, salary: null }, as: 'ann' })
    assert.deepEqual([alone.status, places(alone)], [403, ['FORBIDDEN /rating']])
    const older = await send({ path: '/v1/employees', body: { name: 'Ann', pay: 5 }, as: 'ann' })
    assert.deepEqual([older.status, places(older)], [403, ['FORBIDDEN /pay']])
    assert.equal((await send({ path: '/v2/employees', as: 'ann' })).json.pagination.total_count, 0)
    assert.equal((await send({ path: '/v2/employees', body: { ...body, salary: null }, as: 'bob' })).status, 201)
    assert.equal((await send({ path: '/v2/employees', body: { name: 'E', salary: 5 }, as: 'eve' })).json.salary, 5)
  })

  it('AUT-14, RES-14, RES-15: values of the server need no permission, and may be hidden', async (context) => {
    const tickets: InterfaceDeclaration = {
      name: 'tickets',
      resources: {
        tickets: {
          fields: {
            title: { type: 'string' },
            reporter: { type: 'string', default: { caller: 'id' } },
            changed_by: { type: 'string', set: { onCreate: { caller: 'id' }, onUpdate: { caller: 'id' } } },
          },
          access: {
            ...{ read: 'anyone', create: 'anyone', update: 'anyone' },
            fields: { reporter: { write: 'role:editor' }, changed_by: { read: 'role:editor' } },
          },
        },
      },
    }
    const { make, send } = await trialFor(context, tickets, { memory: true })
    const { id, reporter, changed_by } = await make('tickets', { title: 'a' }, 'ann')
    assert.deepEqual([reporter, changed_by], ['ann', null])
    assert.equal((await make('tickets', { title: 'a', reporter: 'ann' }, 'ann')).reporter, 'ann')
    const path = `/v1/tickets/${id}`
    const own = { path: '/v1/tickets', as: 'ann', body: { title: 'a', reporter: 'bob' } }
    assert.deepEqual(places(await send(own)), ['FORBIDDEN /reporter'])
    const patch = (as: string, body: object) => send({ method: 'PATCH', path, as, body })
    assert.deepEqual(places(await patch('bob', { reporter: null })), ['FORBIDDEN /reporter'])
    assert.equal((await patch('bob', { title: 'b' })).json.changed_by, null)
    const { json } = await patch('eve', { reporter: null })
    assert.deepEqual([json.reporter, json.changed_by], ['eve', 'eve'])
  })

  it('AUT-14: an update is refused where the rule does not hold before or after it', async (context) => {
    const trial = await trialFor(context, staff, { memory: true })
    const path = await hire(trial)
    const own = (await trial.make('teams', { name: 'O' }, 'ann')).id
    const cases: readonly (readonly [string, object, number, readonly string[]])[] = [
      ['ann', { salary: 101 }, 403, ['FORBIDDEN /salary']],
      ['ann', { salary: 100 }, 200, []],
      ['ann', { salary: null }, 403, ['FORBIDDEN /salary']],
      ['ann', { name: 'Ann A.', salary: 101, rating: 1 }, 403, ['FORBIDDEN /salary', 'FORBIDDEN /rating']],
      // Who may not read the value cannot confirm a guess.
      ['bob', { salary: 100 }, 403, ['FORBIDDEN /salary']],
      ['bob', { salary: null }, 403, ['FORBIDDEN /salary']],
      ['bob', { rating: 4 }, 200, []],
      // After the change another caller leads the team.
      ['bob', { rating: 5, team_id: own }, 403, ['FORBIDDEN /rating']],
      // Before the change another caller leads the team.
      ['ann', { rating: 5, team_id: own }, 403, ['FORBIDDEN /rating']],
      ['ann', { team_id: own }, 200, []],
      ['ann', { rating: 5 }, 200, []],
    ]
    for (const [as, body, status, errors] of cases) {
      const answer = await trial.send({ path, method: 'PATCH', body, as })
      assert.deepEqual([answer.status, places(answer)], [status, errors], `${as} ${JSON.stringify(body)}`)
    }
    const stored = (await trial.send({ path, as: 'eve' })).json
    assert.deepEqual([stored.name, stored.salary], ['Ann', 100])
  })

  it('AUT-13, AUT-14: PUT keeps what the caller may not read or write', async (context) => {
    const trial = await trialFor(context, staff, { memory: true })
    const details = { phone: '1' }
    const path = await hire(trial, { note: 'n', details, badge: 'b' })
    const put = (as: string, body: object) => trial.send({ path, method: 'PUT', body, as })
    assert.equal((await put('bob', { name: 'Put' })).status, 200)
    // Bob may write the details, and what he reads of them comes back.
    assert.equal((await put('bob', { name: 'By bob', details: null })).status, 200)
    const kept = (await trial.send({ path, as: 'eve' })).json
    assert.deepEqual([kept.name, kept.salary, kept.details, kept.badge], ['By bob', 100, details, 'b'])
    // Ann reads the salary and may not write it; what she may write she clears.
    assert.equal((await put('ann', { name: 'By ann' })).status, 200)
    assert.equal((await trial.send({ path, as: 'eve' })).json.salary, 100)
    assert.deepEqual(places(await put('ann', { name: 'By ann', salary: 1 })), ['FORBIDDEN /salary'])
    // A value is written over one that is not read.
    assert.equal((await put('bob', { name: 'B', details: { phone: '2' } })).status, 200)
    assert.deepEqual((await trial.send({ path, as: 'eve' })).json.details, { phone: '2' })
    assert.equal((await put('eve', { name: 'By eve', team_id: kept.team_id })).status, 200)
    assert.equal((await trial.send({ path, as: 'eve' })).json.salary, null)
  })

  it('AUT-13: a merge patch clears or replaces a value that the caller does not see', async (context) => {
    const trial = await trialFor(context, staff, { memory: true })
    const path = await hire(trial, { details: { phone: '1' } })
    const patch = (body: object) => trial.send({ path, method: 'PATCH', body, as: 'bob' })
    const answer = await patch({ details: { phone: '2' } })
    assert.deepEqual([answer.status, answer.json.details], [200, null])
    assert.deepEqual((await trial.send({ path, as: 'eve' })).json.details, { phone: '2' })
    assert.equal((await patch({ details: null })).status, 200)
    assert.equal((await trial.send({ path, as: 'eve' })).json.details, null)
    // Which state may follow would tell the present one.
    assert.deepEqual(places(await patch({ grade: 'senior' })), ['FORBIDDEN /grade'])
  })

  it('AUT-13: a JSON Patch sees null, and keeps the value unless it sets another', async (context) => {
    const trial = await trialFor(context, staff, { memory: true })
    const path = await hire(trial, { badge: 'b1' })
    const patch = (body: unknown, as = 'bob') => trial.send({ path, method: 'PATCH', headers: jsonPatch, body, as })
    const test = (value: unknown) => ({ op: 'test', path: '/salary', value })
    assert.equal((await patch([test(100)])).status, 409)
    assert.equal((await patch([test(null)])).status, 200)
    assert.equal((await patch([test(100)], 'ann')).status, 200)
    const moved = await patch([{ op: 'copy', from: '/badge', path: '/name' }])
    assert.equal(moved.status, 400)
    assert.equal((await patch([{ op: 'remove', path: '/salary' }])).status, 200)
    assert.deepEqual(places(await patch([{ op: 'replace', path: '/salary', value: 100 }])), ['FORBIDDEN /salary'])
    assert.deepEqual(places(await patch([{ op: 'remove', path: '/salary' }], 'ann')), ['FORBIDDEN /salary'])
    assert.equal((await patch([{ op: 'add', path: '/badge', value: 'b2' }])).status, 200)
    const { salary, badge } = (await trial.send({ path, as: 'eve' })).json
    assert.deepEqual([salary, badge], [100, 'b2'])
  })
})

/** The status, the text and the tag of an answer, without what differs between any two records. */
function told({ status, text, headers }: Received, id: string): unknown[] {
  const plain = text
    .replaceAll(id, 'ID')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  return [status, plain, unmarkedTag({ headers }), headers['x-total-count']]
}

describe('values that a caller may not read', () => {
  it('AUT-9, AUT-13: answers are the same for any value', async (context) => {
    const contents = [
      { salary: 100, note: 'alpha', badge: 'x1', details: { phone: '1' } },
      { salary: 200, note: 'omega words of another length', badge: 'y2', details: {} },
    ]
    const sent: readonly ((path: string) => Sent)[] = [
      (path) => ({ path }),
      (path) => ({ path: path.replace('v2', 'v1') }),
      (path) => ({ path, method: 'PATCH', body: { name: 'Other' } }),
      (path) => ({ path, method: 'PATCH', body: { badge: 'x1' } }),
      (path) => ({ path, method: 'PATCH', body: { badge: null } }),
      (path) => ({ path, method: 'PATCH', body: { details: { phone: '1' } } }),
      (path) => ({ path, method: 'PATCH', body: { salary: 100 } }),
      (path) => ({ path, method: 'PUT', body: { name: 'Put', details: null } }),
      (path) => ({ path, method: 'PUT', body: { name: 'Put', badge: 'x1' } }),
      (path) => ({ path, method: 'PUT', body: { name: 'Put', note: 'alpha' } }),
      (path) => ({ path, method: 'PATCH', headers: jsonPatch, body: [{ op: 'test', path: '/badge', value: 'x1' }] }),
      (path) => ({ path, method: 'PATCH', headers: jsonPatch, body: [{ op: 'move', from: '/note', path: '/name' }] }),
      (path) => ({ path, method: 'PATCH', headers: jsonPatch, body: [{ op: 'add', path: '/details', value: {} }] }),
      () => ({ path: '/v2/employees?q=alpha' }),
      () => ({ path: '/v2/employees?salary=100' }),
      () => ({ path: '/v2/employees?salary[not]=100' }),
      () => ({ path: '/v2/employees?salary[null]=false' }),
      () => ({ path: '/v2/employees?note[contains]=alpha' }),
      () => ({ path: '/v2/employees?badge=x1' }),
      () => ({ path: '/v2/employees?sort=salary' }),
      () => ({ path: '/v2/employees?salary[gt]=150', method: 'DELETE' }),
      (path) => ({ path, method: 'DELETE', headers: { prefer: 'return=representation' } }),
    ]
    for (const each of sent) {
      const answers: unknown[][] = []
      for (const { salary, ...more } of contents) {
        const trial = await trialFor(context, staff, { memory: true })
        const path = await hire(trial, more, salary)
        const id = path.split('/').at(-1) as string
        const answer = await trial.send({ as: 'bob', ...each(path) })
        const [status, text, tag, total] = told(answer, id)
        // The tag of a list is a digest of what it shows, ids included.
        answers.push([status, text, each(path).path.includes('?') ? undefined : tag, total])
      }
      assert.deepEqual(answers[0], answers[1], JSON.stringify(each('PATH')))
    }
  })

  it('AUT-13: the tag tells who sees which fields, and a change of access changes it', async (context) => {
    const trial = await trialFor(context, staff, { memory: true })
    const path = await hire(trial)
    const tagOf = async (as: string) => (await trial.send({ path, as })).headers['etag']
    const tags = [await tagOf('ann'), await tagOf('bob'), await tagOf('eve')]
    assert.equal(new Set(tags).size, 3)
    assert.equal(await tagOf('root'), await tagOf('root'))
    // Bob hands the team over: he does not see the rating any more, though the record has not changed.
    const { team_id } = (await trial.send({ path, as: 'bob' })).json
    const fresh = { path, as: 'bob', headers: { 'if-none-match': String(tags[1]) } }
    assert.equal((await trial.send(fresh)).status, 304)
    const handed = await trial.send({ path: `/v2/teams/${team_id}`, as: 'root', method: 'PATCH', body: {} })
    assert.equal(handed.status, 403)
    const assign = { path: `/v2/teams/${team_id}`, as: 'root', method: 'DELETE' }
    const updated = await trial.send({
      ...fresh,
      method: 'PATCH',
      headers: { 'if-match': String(tags[1]) },
      body: { rating: 2 },
    })
    assert.equal(updated.status, 200)
    assert.equal((await trial.send({ ...assign, headers: {} })).status, 409)
    const stale = { path, as: 'ann', method: 'PATCH', headers: { 'if-match': String(tags[0]) }, body: { name: 'X' } }
    assert.equal((await trial.send(stale)).status, 412)
    const deletion = (tag: unknown) =>
      trial.send({ path, as: 'bob', method: 'DELETE', headers: { 'if-match': String(tag) } })
    assert.equal((await deletion(await tagOf('eve'))).status, 412)
    assert.equal((await deletion(await tagOf('bob'))).status, 204)
  })

  it('AUT-13: a repeated request does not show what its caller may no longer read', async (context) => {
    const notes = (read: AccessRule): InterfaceDeclaration => ({
      name: 'notes',
      resources: {
        notes: {
          fields: { text: { type: 'string' }, secret: { type: 'string', optional: true } },
          access: { read: 'anyone', create: 'anyone', fields: { secret: { read } } },
        },
      },
    })
    const before = await trialFor(context, notes('role:editor'))
    const sent = { path: '/v1/notes', body: { text: 'a', secret: 'canary' }, headers: { 'idempotency-key': 'key-1' } }
    const first = await before.send({ ...sent, as: 'eve' })
    assert.deepEqual([first.status, first.json.secret], [201, 'canary'])
    assert.equal((await before.send({ ...sent, as: 'eve' })).text, first.text)
    const after = await trialFor(context, notes('role:admin'), { database: before.database })
    const key = before.keys.get('eve') as string
    const again = await after.send({ ...sent, as: key })
    assert.deepEqual([again.status, again.json.secret, again.json.id], [201, null, first.json.id])
    assert.ok(!again.text.includes('canary'))
    assert.notEqual(again.headers['etag'], first.headers['etag'])
  })

  it('AUT-13: a reference that a caller may not read neither lists, counts nor names records', async (context) => {
    const company: InterfaceDeclaration = {
      name: 'company',
      resources: {
        people: {
          fields: { name: { type: 'string' } },
          access: { read: 'anyone', create: 'anyone', delete: 'anyone' },
        },
        reviews: {
          fields: {
            text: { type: 'string' },
            person_id: { type: 'string', reference: 'people', onDelete: 'clear', optional: true },
            judge_id: { type: 'string', reference: 'people', onDelete: 'restrict', optional: true },
          },
          access: {
            read: 'anyone',
            create: 'anyone',
            fields: { person_id: { read: 'role:editor' }, judge_id: { read: 'role:editor' } },
          },
        },
      },
    }
    const { make, send } = await trialFor(context, company, { memory: true })
    const person = (await make('people', { name: 'P' }, 'eve')).id
    const judge = (await make('people', { name: 'J' }, 'eve')).id
    const review = (await make('reviews', { text: 'r', person_id: person, judge_id: judge }, 'eve')).id
    const path = (id: string) => `/v1/people/${id}`
    const preview = async (id: string, as: string) => (await send({ path: `${path(id)}/deletion`, as })).text
    assert.ok((await preview(person, 'eve')).includes('person_id'))
    assert.ok(!(await preview(person, 'bob')).includes('person_id'))
    const blocked = async (as: string) => await send({ path: path(judge), method: 'DELETE', as })
    assert.ok((await blocked('eve')).text.includes(review))
    const refused = await blocked('bob')
    assert.equal(refused.status, 409)
    assert.ok(!refused.text.includes(review), refused.text)
  })

  it('AUT-13: GET /caller says in which records a caller may use a field', async (context) => {
    const { send } = await trialFor(context, staff, { memory: true })
    const of = async (as: string, version = 'v2') =>
      (await send({ path: `/${version}/caller`, as })).json.field_permissions.employees
    const [bob, eve] = [await of('bob'), await of('eve')]
    assert.deepEqual(bob.salary, {
      read: { granted: 'some', rules: ['role:editor', 'owner'] },
      write: { granted: 'none', rules: ['role:editor'] },
    })
    assert.deepEqual([eve.salary.read.granted, eve.salary.write.granted], ['all', 'all'])
    assert.deepEqual(bob.details, { read: { granted: 'none', rules: ['function'] } })
    assert.deepEqual([bob.note.read.granted, bob.name], ['some', undefined])
    assert.deepEqual((await of('bob', 'v1')).pay.read.rules, ['role:editor', 'owner'])
  })
})

describe('events of records whose fields not everybody may read', () => {
  const notes: InterfaceDeclaration = {
    name: 'notes',
    versions: { v1: {}, v2: {} },
    changes: [{ version: 'v2', resource: 'notes', rename: { memo: 'text' } }],
    resources: {
      notes: {
        fields: {
          title: { type: 'string' },
          text: { type: 'string', optional: true },
          price: { type: 'integer', optional: true },
          state: { enum: ['open', 'closed'], default: 'open' },
          owner_id: { type: 'string', readOnly: true },
        },
        owner: 'owner_id',
        events: true,
        access: {
          ...{ read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', readDeleted: 'anyone' },
          fields: {
            text: { read: ['owner', { where: { state: 'open' } }] },
            price: { read: 'role:editor' },
          },
        },
      },
    },
  }

  it('AUT-13, EVT-4: data shows a field where the caller may read it, as it was and as it is', async (context) => {
    const trial = await trialFor(context, notes)
    const { id } = await trial.make('notes', { title: 'one', text: 'canary-a', price: 731_001 }, 'ann')
    const path = `/v2/notes/${id}`
    const change = async (body: object) =>
      assert.equal((await trial.send({ path, method: 'PATCH', body, as: 'ann' })).status, 200)
    const seen = async (as: string, version = 'v2') => {
      const { json, text } = await trial.send({ path: `/${version}/events`, as })
      return { text, data: json.data.map(({ data }: { data: Record<string, unknown> | null }) => data) }
    }
    const shown = async (as: string) =>
      (await seen(as)).data.map((data: never) => data && [data['text'], data['price']])
    assert.deepEqual(await shown('bob'), [['canary-a', null]])
    assert.deepEqual(await shown('eve'), [['canary-a', 731_001]])
    await change({ state: 'closed', text: 'canary-b' })
    // The record is closed by now: what was open is not shown either.
    assert.deepEqual(await shown('bob'), [[null, null], [null, null]]) // biome-ignore format: pairs
    assert.deepEqual(await shown('ann'), [['canary-a', null], ['canary-b', null]]) // biome-ignore format: pairs
    await change({ state: 'open' })
    // The second event shows a record that was closed.
    assert.deepEqual(await shown('bob'), [['canary-a', null], [null, null], ['canary-b', null]]) // biome-ignore format: pairs
    const older = await seen('bob', 'v1')
    assert.deepEqual(
      older.data.map((data: never) => data['memo']),
      ['canary-a', null, 'canary-b'],
    )
    for (const as of ['root', 'ann', 'bob']) assert.ok(!(await seen(as)).text.includes('731001'))
    const [event] = (await trial.send({ path: '/v2/events', as: 'bob' })).json.data
    const one = { path: `/v2/events/${event.id}`, as: 'bob' }
    const before = await trial.send(one)
    assert.equal(before.json.data.text, 'canary-a')
    await change({ state: 'closed' })
    const after = await trial.send({ ...one, headers: { 'if-none-match': String(before.headers['etag']) } })
    assert.deepEqual([after.status, after.json?.data.text], [200, null])
    const asked = await trial.send({ path: '/v2/events?sort=-id', as: 'bob' })
    assert.ok(!asked.text.includes('731001'))
    assert.equal((await trial.send({ path, method: 'DELETE', as: 'ann' })).status, 204)
    assert.ok(!(await seen('bob')).text.includes('canary'))
  })
})
