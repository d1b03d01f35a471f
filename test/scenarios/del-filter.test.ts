/** DEL-10: deletion by filter. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { company } from '../declarations-company.ts'
import { places, type Sent, type Trial, trialFor } from '../harness.ts'
import { countOf, stateOf } from '../steps.ts'

const remove = (path: string, more: Partial<Sent> = {}): Sent => ({ method: 'DELETE', path: `/v1/${path}`, ...more })
const prefer = (value: string): Partial<Sent> => ({ headers: { prefer: value } })

async function fill({ make }: Trial, count: number, name = 'Old') {
  const ids: string[] = []
  for (let number = 0; number < count; number++) {
    ids.push((await make('companies', { name: `${name} ${number}` })).id)
  }
  return ids
}

it('DEL-10: matching records are deleted, and the response has their number', async (context) => {
  const current = await trialFor(context, company)
  const { send } = current
  await fill(current, 3)
  await fill(current, 2, 'New')
  const answer = await send(remove('companies?name[starts_with]=old'))
  assert.deepEqual([answer.status, answer.json], [200, { deleted_count: 3 }])
  assert.equal(await countOf(current, 'companies'), 2)
  const none = await send(remove('companies?name[starts_with]=old'))
  assert.deepEqual([none.status, none.json], [200, { deleted_count: 0 }])
  const minimal = await send(remove('companies?name=New 1'.replace(' ', '%20'), prefer('return=minimal')))
  assert.deepEqual([minimal.status, minimal.headers['preference-applied']], [204, 'return=minimal'])
  assert.equal(await countOf(current, 'companies'), 1)
  assert.equal(await countOf(current, 'companies', '?include_deleted=true'), 5)
})

it('DEL-10: without a filter, or with an invalid one, nothing is deleted', async (context) => {
  const current = await trialFor(context, company)
  const { send } = current
  await fill(current, 2)
  const refused: [query: string, code: string, errors: string[]][] = [
    ['', 'FILTER_REQUIRED', []],
    ['?', 'FILTER_REQUIRED', []],
    ['?per_page=1', 'INVALID_QUERY', ['UNKNOWN_PARAMETER per_page']],
    ['?name=Old%200&limit=1', 'INVALID_QUERY', ['UNKNOWN_PARAMETER limit']],
    ['?q=old', 'INVALID_QUERY', ['UNKNOWN_PARAMETER q']],
    ['?name=a%00b', 'INVALID_QUERY', ['INVALID_TEXT name']],
    ['?name[not]=%00', 'INVALID_QUERY', ['INVALID_TEXT name[not]']],
    ['?include_deleted=true&nome=x', 'INVALID_QUERY', ['UNKNOWN_PARAMETER include_deleted', 'UNKNOWN_PARAMETER nome']],
  ]
  for (const [query, code, errors] of refused) {
    const answer = await send(remove(`companies${query}`))
    assert.deepEqual([answer.status, answer.json.code, ...places(answer)], [400, code, ...errors], query)
  }
  assert.equal(await countOf(current, 'companies'), 2)
})

it('DEL-10: works only if it is declared', async (context) => {
  const { send } = await trialFor(context, studio)
  const answer = await send(remove('projects?visibility=private'))
  assert.deepEqual([answer.status, answer.json.code], [405, 'METHOD_NOT_ALLOWED'])
  assert.doesNotMatch(String(answer.headers['allow']), /DELETE/)
  const own = await trialFor(context, company)
  assert.match(String((await own.send({ method: 'OPTIONS', path: '/v1/companies' })).headers['allow']), /DELETE/)
  // A nested collection is read and added to; what it has is deleted by its own address.
  const { id } = await own.make('companies', { name: 'One' })
  assert.equal((await own.send(remove(`companies/${id}/departments?name=x`))).status, 405)
})

it('DEL-10: if more records match than max-affected, none is deleted, and the number is reported', async (context) => {
  const current = await trialFor(context, company)
  const { send } = current
  await fill(current, 4)
  const before = await stateOf(current, ['companies'])
  for (const [bound, strict] of [
    [0, 'handling=strict, '],
    [3, 'handling=strict, '],
    [3, ''],
  ] as const) {
    // biome-ignore format: a line
    const answer = await send(remove('companies?name[starts_with]=old', prefer(`${strict}max-affected=${bound}`)))
    assert.deepEqual([answer.status, answer.json.code], [409, 'TOO_MANY_AFFECTED'])
    assert.deepEqual([answer.json.errors[0].count, answer.json.errors[0].header], [4, 'Prefer'])
  }
  assert.deepEqual(await stateOf(current, ['companies']), before)
  for (const bound of ['handling=strict, max-affected=many', 'max-affected=many', 'max-affected=-1', 'max-affected']) {
    const unread = await send(remove('companies?name[starts_with]=old', prefer(bound)))
    assert.deepEqual([unread.status, unread.json.code], [400, 'UNKNOWN_PREFERENCE'], bound)
  }
  const done = await send(remove('companies?name[starts_with]=old', prefer('handling=strict, max-affected=4')))
  assert.deepEqual([done.status, done.json], [200, { deleted_count: 4 }])
  assert.equal(done.headers['preference-applied'], 'handling=strict, max-affected=4')
})

it('DEL-10: deletes only records that the caller may delete', async (context) => {
  const current = await trialFor(context, {
    name: 'notes',
    resources: {
      notes: {
        fields: { text: { type: 'string', filter: true }, owner_id: { type: 'string', readOnly: true } },
        owner: 'owner_id',
        access: { read: 'anyone', create: 'anyone', delete: ['owner', 'role:admin'] },
        deletion: { byFilter: true },
      },
    },
  })
  const { send, make } = current
  for (const as of ['ann', 'ann', 'bob']) await make('notes', { text: 'same' }, as)
  const told = await send(remove('notes?text=same', { as: 'ann', ...prefer('handling=strict, max-affected=0') }))
  assert.equal(told.json.errors[0].count, 2)
  assert.deepEqual((await send(remove('notes?text=same', { as: 'ann' }))).json, { deleted_count: 2 })
  assert.equal(await countOf(current, 'notes'), 1)
  assert.deepEqual((await send(remove('notes?text=same', { as: 'eve' }))).json, { deleted_count: 0 })
  const closed = await trialFor(context, company)
  assert.equal((await closed.send(remove('companies?name=x', { as: 'bob' }))).status, 403)
})

it('DEL-10: if one record is blocked, none is deleted', async (context) => {
  const current = await trialFor(context, company)
  const { send, make } = current
  const root = await make('companies', { name: 'Acme' })
  const department = await make('departments', { name: 'One', company_id: root.id })
  const team = await make('teams', { name: 'One', department_id: department.id })
  const members = []
  for (const name of ['Ada', 'Bo']) members.push(await make('members', { name, team_id: team.id }))
  await make('audits', { name: 'Open', member_id: members[1].id })
  const before = await stateOf(current, Object.keys(company.resources))
  for (const path of [`members?team_id=${team.id}`, 'teams?name=One', 'companies?name=Acme']) {
    for (const preference of ['return=minimal', 'respond-async']) {
      const answer = await send(remove(path, prefer(preference)))
      assert.deepEqual([answer.status, answer.json.code], [409, 'HAS_DEPENDENTS'], answer.text)
    }
  }
  assert.deepEqual(await stateOf(current, Object.keys(company.resources)), before)
})

it('DEL-10: above the bound it is a job, and the matching records are deleted from its start', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  await fill(current, 7)
  const [first] = (await send({ path: '/v1/companies' })).json.data
  await make('departments', { name: 'Under', company_id: first.id })
  await fill(current, 2, 'New')
  const { step } = app.storage.jobs
  Object.assign(app.storage.jobs, { step: async () => 'more' })
  const answer = await send(remove('companies?name[starts_with]=old'))
  assert.equal(answer.status, 202, answer.text)
  assert.equal(await countOf(current, 'companies'), 2)
  assert.equal((await send({ path: `/v1/companies/${first.id}` })).status, 404)
  Object.assign(app.storage.jobs, { step })
  await app.runner.idle()
  const { json } = await send({ path: answer.json.status_url })
  assert.deepEqual([json.kind, json.status, json.progress], ['filtered-deletion', 'succeeded', { done: 8, total: 8 }])
  assert.deepEqual([json.result.deleted_count, json.result.left_count, json.result.affected_count], [7, 0, 8])
  assert.equal(await countOf(current, 'departments'), 0)
  // A restored one brings what went with it.
  assert.equal((await send({ method: 'POST', path: `/v1/companies/${first.id}/restore` })).status, 200)
  assert.equal(await countOf(current, 'departments'), 1)
})

it('CON-3: a set of records has no entity tag that could match', async (context) => {
  const current = await trialFor(context, company)
  const { send } = current
  await fill(current, 1)
  const { etag = '' } = (await send({ path: '/v1/companies' })).headers
  const path = 'companies?name[starts_with]=old'
  assert.equal((await send(remove(path, { headers: { 'if-match': etag } }))).status, 412)
  assert.equal((await send(remove(path, { headers: { 'if-match': '""' } }))).status, 412)
  assert.equal((await send(remove(path, { headers: { 'if-match': '*' } }))).status, 200)
})

it('DEL-4: business rules hold for each record that matches', async (context) => {
  const current = await trialFor(context, {
    name: 'counters',
    resources: {
      counters: {
        fields: { value: { type: 'integer', filter: true } },
        deletion: { byFilter: true },
        rules: [{ on: 'delete', code: 'NOT_ZERO', message: 'Count down first.', unless: { where: { value: 0 } } }],
      },
    },
  })
  const { send, make } = current
  for (const value of [0, 0, 1]) await make('counters', { value })
  const answer = await send(remove('counters?value[gte]=0'))
  assert.deepEqual([answer.status, answer.json.code], [409, 'NOT_ZERO'])
  assert.deepEqual((await send(remove('counters?value=0'))).json, { deleted_count: 2 })
})
