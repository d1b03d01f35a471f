/** WHR-5: the id is a filter, in lists, nested lists, QUERY, deletions, exports and older versions. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { company } from '../declarations-company.ts'
import { desk } from '../declarations-desk.ts'
import { places, type Received, type Trial, trialFor } from '../harness.ts'
import { fill, nowhere } from '../steps.ts'

const idsOf = ({ json }: Received): string[] => json.data.map(({ id }: { id: string }) => id)

/** Projects: two of Ann, one of which everybody may read, and one of Bob; each with a task. */
async function projects(trial: Trial) {
  const { make } = trial
  const [hidden, open, other] = [
    await make('projects', { name: 'Hidden' }, 'ann'),
    await make('projects', { name: 'Open', visibility: 'public' }, 'ann'),
    await make('projects', { name: 'Other' }, 'bob'),
  ].map(({ id }) => String(id)) as [string, string, string]
  const tasks: Record<string, string> = {}
  for (const id of [hidden, open, other]) tasks[id] = (await make('tasks', { title: 'Task', project_id: id })).id
  return { hidden, open, other, tasks }
}

it('WHR-5: id, id[in] and id[not] find records that the caller may read, and total_count has their number', async (context) => {
  const current = await trialFor(context, studio)
  const { send } = current
  const { hidden, open, other } = await projects(current)
  const table: [query: string, as: string, found: string[]][] = [
    [`id=${hidden}`, 'ann', [hidden]],
    [`id=${hidden}`, 'bob', []],
    [`id=${nowhere}`, 'ann', []],
    [`id=${hidden}&id=${open}&id=${hidden}`, 'ann', [hidden, open]],
    [`id[in]=${open},${hidden},${nowhere},${other}`, 'ann', [hidden, open]],
    [`id[in]=${open},${hidden},${other}&sort=-name`, 'root', [other, open, hidden]],
    [`id[in]=${open},${hidden},${other}&sort=-created_at`, 'root', [other, open, hidden]],
    [`id[in]=${open},${hidden}&visibility=private`, 'root', [hidden]],
    [`id[in]=${open},${hidden}&id[not]=${hidden}`, 'root', [open]],
    [`id[not]=${hidden}`, 'ann', [open]],
    [`id[not]=${hidden}&id[not]=${other}`, 'root', [open]],
    [`id[in]=${open},${hidden}&q=hid`, 'root', [hidden]],
    [`id[in]=${open},${hidden}&page=2&per_page=1`, 'root', [open]],
    [`id[in]=${open},${hidden}&offset=1&limit=1`, 'root', [open]],
  ]
  for (const [query, as, found] of table) {
    const answer = await send({ path: `/v1/projects?${query}`, as })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(idsOf(answer), found, query)
    if (!/page|offset/.test(query)) assert.equal(answer.json.pagination.total_count, found.length, query)
  }
  const first = await send({ path: `/v1/projects?id[in]=${open},${hidden}&limit=1` })
  const next = await send({
    path: `/v1/projects?id[in]=${open},${hidden}&limit=1&cursor=${first.json.pagination.next_cursor}`,
  })
  assert.deepEqual([idsOf(first), idsOf(next), next.json.pagination.next_cursor], [[hidden], [open], null])
})

it('WHR-5: deleted records are found only where they are asked for', async (context) => {
  const current = await trialFor(context, studio)
  const { send } = current
  const { hidden, open } = await projects(current)
  await send({ method: 'PATCH', path: `/v1/projects/${hidden}`, body: { description: 'x' }, as: 'ann' })
  const { json } = await send({ path: `/v1/tasks?project_id=${hidden}` })
  await send({ method: 'PATCH', path: `/v1/tasks/${json.data[0].id}`, body: { status: 'done' } })
  assert.equal((await send({ method: 'DELETE', path: `/v1/projects/${hidden}` })).status, 204)
  const found = async (more: string) => idsOf(await send({ path: `/v1/projects?id[in]=${hidden},${open}${more}` }))
  assert.deepEqual(await found(''), [open])
  assert.deepEqual(await found('&include_deleted=true'), [hidden, open])
  assert.deepEqual(await found('&include_deleted=only'), [hidden])
})

it('WHR-5: a nested list has those of the ids that are in it', async (context) => {
  const current = await trialFor(context, studio)
  const { hidden, open, tasks } = await projects(current)
  const both = `id[in]=${tasks[hidden]},${tasks[open]}`
  const answer = await current.send({ path: `/v1/projects/${hidden}/tasks?${both}`, as: 'ann' })
  assert.deepEqual([idsOf(answer), answer.json.pagination.total_count], [[tasks[hidden]], 1])
})

it('WHR-5: QUERY takes 1,000 ids, beside other parameters', async (context) => {
  const current = await trialFor(context, company)
  const { send } = current
  const ids = await fill(
    current,
    'companies',
    Array.from({ length: 1_001 }, (_, number) => ({ name: `Company ${number}` })),
  )
  const body = { 'id[in]': ids.slice(0, 1_000), limit: 100, sort: '-created_at', fields: ['name'] }
  const answer = await send({ method: 'QUERY', path: '/v1/companies', body })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual([answer.json.pagination.total_count, answer.json.data[0].name], [1_000, 'Company 999'])
  const repeated = await send({ method: 'QUERY', path: '/v1/companies', body: { id: ids.slice(0, 2) } })
  assert.deepEqual(idsOf(repeated), ids.slice(0, 2))
  for (const wrong of [{ 'id[in]': ids }, { id: null }, { id: 7 }, { 'id[in]': ['x'] }]) {
    const refused = await send({ method: 'QUERY', path: '/v1/companies', body: wrong })
    assert.deepEqual([refused.status, refused.json.code], [400, 'INVALID_QUERY'], refused.text)
  }
  const names = await send({ method: 'QUERY', path: '/v1/companies', body: { fields: Array(1_001).fill('name') } })
  assert.equal(names.status, 400)
})

it('WHR-5: a deletion by filter takes ids, and a wrong one deletes nothing', async (context) => {
  const current = await trialFor(context, company)
  const { send, make } = current
  const [one, two, three] = [await make('teams', await team(current)), await make('teams', await team(current)), await make('teams', await team(current))] // biome-ignore format: a line
  const wrong = await send({ method: 'DELETE', path: `/v1/teams?id[in]=${one.id},*` })
  assert.deepEqual([wrong.status, places(wrong)], [400, ['INVALID_VALUE id[in]']])
  const answer = await send({ method: 'DELETE', path: `/v1/teams?id[in]=${one.id},${two.id},${nowhere}` })
  assert.deepEqual([answer.status, answer.json], [200, { deleted_count: 2 }])
  assert.deepEqual(idsOf(await send({ path: '/v1/teams' })), [three.id])
  assert.equal((await send({ method: 'DELETE', path: `/v1/teams?id=${three.id}` })).json.deleted_count, 1)
})

async function team({ make }: Trial) {
  const company = await make('companies', { name: `${Math.random()}` })
  const department = await make('departments', { name: 'D', company_id: company.id })
  return { name: 'T', department_id: department.id }
}

it('WHR-5: an export takes conditions on ids, and refuses one that is no UUID', async (context) => {
  const current = await trialFor(context, studio)
  const { send, app } = current
  const { hidden, open, other } = await projects(current)
  const table: [filter: object, found: string[]][] = [
    [{ id: open }, [open]],
    [{ id: { in: [other, hidden, nowhere] } }, [hidden, other]],
    [{ id: { not: open } }, [hidden]],
    [{ or: [{ id: hidden }, { name: 'Open' }] }, [hidden, open]],
    [{ not: { id: { in: [hidden, other] } } }, [open]],
  ]
  for (const [filter, found] of table) {
    // Ann may not read `other`.
    const body = { collection: 'projects', format: 'json', filter, sort: ['name'] }
    const accepted = await send({ path: '/v1/exports', body, as: 'ann' })
    assert.equal(accepted.status, 202, accepted.text)
    await app.runner.idle()
    const { json } = await send({ path: accepted.json.status_url, as: 'ann' })
    const { text } = await send({ path: json.result.content_url, as: 'ann' })
    const ids = JSON.parse(text).map(({ id }: { id: string }) => id)
    assert.deepEqual(ids, found.filter((id) => id !== other), JSON.stringify(filter)) // biome-ignore format: a line
  }
  for (const filter of [{ id: 'x' }, { id: { in: [open, 'x'] } }, { not: { id: { not: open.toUpperCase() } } }]) {
    const refused = await send({ path: '/v1/exports', body: { collection: 'projects', format: 'json', filter } })
    assert.deepEqual([refused.status, refused.json.errors[0].code], [400, 'INVALID_FORMAT'], refused.text)
  }
})

it('WHR-5: every version has the filter, also beside filters by fields that only this version has', async (context) => {
  const current = await trialFor(context, desk)
  const { send, make } = current
  const person = await make('people', { name: 'Ann' })
  const tickets = [await make('cases', { headline: 'One', cents: 150, person_id: person.id }), await make('cases', { headline: 'Two', cents: 250, person_id: person.id })] // biome-ignore format: a line
  const [one, two] = tickets.map(({ id }) => String(id)) as [string, string]
  const table: [path: string, found: string[]][] = [
    [`/v1/tickets?id=${one}&price=1.5&colour[null]=true`, [one]],
    [`/v1/tickets?id[in]=${one},${two}&sort=-subject`, [two, one]],
    [`/v2/people/${person.id}/tickets?id[not]=${one}`, [two]],
    [`/v3/cases?id[in]=${one},${nowhere}`, [one]],
  ]
  for (const [path, found] of table) assert.deepEqual(idsOf(await send({ path })), found, path)
  const { json } = await send({ path: '/v1/openapi.json' })
  const described = json.paths['/tickets'].get.parameters.map((each: { $ref?: string }) => each.$ref?.split('/').at(-1))
  assert.equal(described[0], 'id')
  const items = { type: 'string', format: 'uuid' }
  assert.deepEqual(json.components.parameters.id.schema, { type: 'array', items })
  // The document has one parameter for each comparison, so that it stays small; the tag lists all operators.
  const { fields } = json.tags.find(({ name }: { name: string }) => name === 'tickets')['x-collection']
  assert.deepEqual(fields.id.filter, ['eq', 'not', 'in'])
})

it('WHR-5: jobs, keys and events are found by their ids, and after goes on beside them', async (context) => {
  const events = { ...studio, resources: { ...studio.resources, users: { ...studio.resources.users, events: true } } }
  const current = await trialFor(context, events)
  const { send, make } = current
  await make('users', { name: 'Ann', email: 'ann@example.org' })
  await make('users', { name: 'Bob', email: 'bob@example.org' })
  const all = await send({ path: '/v1/events' })
  const [first, second] = idsOf(all) as [string, string]
  assert.deepEqual(idsOf(await send({ path: `/v1/events?id=${second}` })), [second])
  assert.deepEqual(idsOf(await send({ path: `/v1/events?id[in]=${second},${first},${nowhere}` })), [first, second])
  assert.deepEqual(idsOf(await send({ path: `/v1/events?id[not]=${first}` })), [second])
  // An id that is not there is no position that has expired (EVT-5).
  assert.deepEqual(idsOf(await send({ path: `/v1/events?id=${nowhere}` })), [])
  assert.deepEqual(idsOf(await send({ path: `/v1/events?id=${first}&after=${first}` })), [])
  assert.equal((await send({ path: `/v1/events?after=${nowhere}` })).status, 410)
  const key = idsOf(await send({ path: '/v1/api-keys?subject=bob' }))[0]
  assert.deepEqual(idsOf(await send({ path: `/v1/api-keys?id=${key}` })), [key])
  assert.deepEqual(idsOf(await send({ path: `/v1/jobs?id[in]=${nowhere}` })), [])
})
