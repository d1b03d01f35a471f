/** DEL-8, JOB: deletions that run as jobs. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { company, levels } from '../declarations-company.ts'
import { places, type Received, type Sent, type Trial, trialFor } from '../harness.ts'
import { countOf, nowhere, stateOf } from '../steps.ts'

/** A company of two departments with two teams each, of three members: 19 records. */
async function found({ make }: Trial, name: string) {
  const root = await make('companies', { name })
  const departments = []
  const teams = []
  const members = []
  for (const place of ['North', 'South']) {
    const department = await make('departments', { name: `${name} ${place}`, company_id: root.id })
    departments.push(department)
    for (const shift of ['early', 'late']) {
      const team = await make('teams', { name: `${name} ${place} ${shift}`, department_id: department.id })
      teams.push(team)
      let chief: string | undefined
      for (const person of ['Ada', 'Bo', 'Cy']) {
        const member = await make('members', { name: `${person} ${name}`, team_id: team.id, chief_id: chief })
        members.push(member)
        chief = member.id
      }
    }
  }
  return { root, departments, teams, members }
}

/** A runner that waits: what a job is in the middle of can be looked at. */
function held({ app }: Trial) {
  const { step } = app.storage.jobs
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  Object.assign(app.storage.jobs, {
    step: async (...given: Parameters<typeof step>) => {
      await opened
      return step(...given)
    },
  })
  return open
}

function accepted(answer: Received): { job: string; path: string } {
  assert.equal(answer.status, 202, answer.text)
  const { status, job_id, status_url } = answer.json
  assert.deepEqual(Object.keys(answer.json), ['status', 'job_id', 'status_url'])
  assert.equal(status, 'pending')
  assert.equal(status_url, `/v1/jobs/${job_id}`)
  assert.deepEqual([answer.headers.location, answer.headers['retry-after']], [status_url, '1'])
  assert.equal(answer.headers['cache-control'], 'no-store')
  return { job: job_id, path: status_url }
}

it('DEL-8: a deletion of more records than the declared bound is a job, which cascades over four levels', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  const { root, teams, members } = await found(current, 'Acme')
  const other = await found(current, 'Other')
  const badge = await make('badges', { name: 'One', member_id: members[0].id, team_id: teams[1].id })
  const kept = await make('badges', { name: 'Two', member_id: other.members[0].id })
  const { path } = accepted(await send({ method: 'DELETE', path: `/v1/companies/${root.id}` }))
  assert.equal((await send({ path: `/v1/companies/${root.id}` })).status, 404)
  await app.runner.idle()
  const { json, headers } = await send({ path })
  assert.deepEqual([json.status, json.kind, json.progress], ['succeeded', 'deletion', { done: 19, total: 19 }])
  const { id, deleted_at, affected_count } = json.result
  assert.deepEqual([id, affected_count, json.error, json.started_by], [root.id, 19, null, 'root'])
  assert.ok(json.created_at <= json.started_at && json.started_at <= json.finished_at)
  assert.ok(deleted_at <= json.finished_at)
  assert.equal(headers['retry-after'], undefined)
  assert.deepEqual(await Promise.all(levels.map((name) => countOf(current, name))), [1, 2, 4, 12])
  assert.deepEqual(await Promise.all(levels.map((name) => countOf(current, name, '?q=acme'))), [0, 0, 0, 0])
  const retained = levels
    .filter((name) => name !== 'teams')
    .map((name) => countOf(current, name, '?include_deleted=true'))
  assert.deepEqual(await Promise.all(retained), [2, 4, 24])
  const cleared = await send({ path: `/v1/badges/${badge.id}` })
  assert.deepEqual([cleared.json.member_id, cleared.json.team_id], [null, null])
  assert.equal((await send({ path: `/v1/badges/${kept.id}` })).json.member_id, other.members[0].id)
  // The company and its departments come back. The teams are gone for good, and what hung on them stays deleted.
  const back = await send({ method: 'POST', path: `/v1/companies/${root.id}/restore` })
  assert.equal(back.status, 200, back.text)
  assert.deepEqual(await Promise.all(levels.map((name) => countOf(current, name))), [2, 4, 4, 12])
})

it('DEL-8: a small deletion runs at once, unless the client prefers a job', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  const one = await make('companies', { name: 'One' })
  assert.equal((await send({ method: 'DELETE', path: `/v1/companies/${one.id}` })).status, 204)
  const two = await make('companies', { name: 'Two' })
  const headers = { prefer: 'respond-async' }
  const answer = await send({ method: 'DELETE', path: `/v1/companies/${two.id}`, headers })
  const { path } = accepted(answer)
  assert.equal(answer.headers['preference-applied'], 'respond-async')
  await app.runner.idle()
  assert.equal((await send({ path })).json.result.affected_count, 1)
  assert.equal((await send({ method: 'DELETE', path: `/v1/companies/${two.id}`, headers })).status, 404)
})

it('DEL-8: while the job runs its targets are gone, and nothing can be created or changed under them', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  const { root, departments, teams, members } = await found(current, 'Acme')
  const free = await found(current, 'Free')
  const open = held(current)
  const { path } = accepted(await send({ method: 'DELETE', path: `/v1/companies/${root.id}` }))
  const pending = await send({ path })
  assert.deepEqual([pending.json.status, pending.headers['retry-after']], ['pending', '1'])
  assert.equal((await send({ path: `/v1/companies/${root.id}` })).status, 404)
  assert.equal((await send({ path: `/v1/companies/${root.id}/departments` })).status, 404)
  assert.equal(await countOf(current, 'companies'), 1)
  const refused = async (sent: Parameters<Trial['send']>[0], error: string) => {
    const answer = await send(sent)
    assert.deepEqual([answer.status, answer.json.code, ...places(answer)], [409, 'BEING_DELETED', error], answer.text)
  }
  const at = (name: string, id: string) => `/v1/${name}/${id}`
  await refused({ path: '/v1/departments', body: { name: 'New', company_id: root.id } }, 'BEING_DELETED /company_id')
  await refused({ path: `${at('companies', root.id)}/departments`, body: { name: 'New' } }, 'BEING_DELETED')
  await refused(
    { path: '/v1/teams', body: { name: 'New', department_id: departments[0].id } },
    'BEING_DELETED /department_id',
  )
  await refused({ path: '/v1/members', body: { name: 'New', team_id: teams[0].id } }, 'BEING_DELETED /team_id')
  await refused({ path: '/v1/audits', body: { name: 'New', member_id: members[5].id } }, 'BEING_DELETED /member_id')
  await refused({ path: '/v1/badges', body: { name: 'New', member_id: members[5].id } }, 'BEING_DELETED /member_id')
  const move = { team_id: free.teams[0].id }
  await refused({ method: 'PATCH', path: at('members', members[0].id), body: move }, 'BEING_DELETED')
  await refused(
    { method: 'PATCH', path: at('teams', free.teams[0].id), body: { department_id: departments[0].id } },
    'BEING_DELETED /department_id',
  )
  await refused({ method: 'DELETE', path: at('members', members[0].id) }, 'BEING_DELETED')
  await refused({ path: '/v1/members/bulk-delete', body: { ids: [members[0].id] } }, 'BEING_DELETED /ids/0')
  await refused({ method: 'POST', path: `${at('companies', root.id)}/restore` }, 'BEING_DELETED')
  // Beside it everything goes on.
  await make('members', { name: 'New', team_id: free.teams[0].id })
  assert.equal((await send({ method: 'DELETE', path: at('members', free.members[2].id) })).status, 204)
  open()
  await app.runner.idle()
  assert.deepEqual(await Promise.all(levels.map((name) => countOf(current, name))), [1, 2, 4, 12])
  assert.equal((await send({ path: '/v1/departments', body: { name: 'New', company_id: root.id } })).status, 400)
  assert.equal((await send({ method: 'POST', path: `${at('companies', root.id)}/restore` })).status, 200)
})

it('DEL-8: a blocked deletion is a 409 at once, names a few readable blockers, and begins no job', async (context) => {
  const current = await trialFor(context, company)
  const { send, make } = current
  const { root, members } = await found(current, 'Acme')
  const hidden = await make('audits', { name: 'Secret', member_id: members[7].id })
  const shown = await make('audits', { name: 'Open', member_id: members[2].id })
  const before = await stateOf(current, Object.keys(company.resources))
  const asked = async (as: string) => {
    const answer = await send({ method: 'DELETE', path: `/v1/companies/${root.id}`, as })
    assert.deepEqual([answer.status, answer.json.code], [409, 'HAS_DEPENDENTS'], answer.text)
    const { collection, count, ids } = answer.json.errors[0]
    assert.equal(collection, 'audits')
    assert.equal(count, as === 'root' ? ids.length : undefined)
    return ids
  }
  assert.deepEqual(await asked('root'), [hidden.id, shown.id])
  assert.deepEqual(await asked('eve'), [shown.id])
  assert.deepEqual(await stateOf(current, Object.keys(company.resources)), before)
  assert.equal(await countOf(current, 'jobs'), 0)
})

it('DEL-9: a bulk deletion can be a job too; if one record cannot be deleted, none is', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  const one = await found(current, 'One')
  const two = await found(current, 'Two')
  const audit = await make('audits', { name: 'Open', member_id: two.members[0].id })
  const sent = { path: '/v1/companies/bulk-delete', body: { ids: [one.root.id, two.root.id] } }
  const refused = await send(sent)
  assert.deepEqual([refused.status, ...places(refused)], [409, 'HAS_DEPENDENTS /ids/1'])
  assert.equal(await countOf(current, 'companies'), 2)
  assert.equal((await send({ method: 'DELETE', path: `/v1/audits/${audit.id}` })).status, 204)
  const { path } = accepted(await send(sent))
  assert.equal(await countOf(current, 'companies'), 0)
  await app.runner.idle()
  const { json } = await send({ path })
  assert.deepEqual([json.kind, json.status, json.progress], ['bulk-deletion', 'succeeded', { done: 38, total: 38 }])
  assert.deepEqual([json.result.deleted_count, json.result.affected_count], [2, 38])
  assert.deepEqual(await Promise.all(levels.map((name) => countOf(current, name))), [0, 0, 0, 0])
})

it('JOB-4: a job is visible to its caller and to administrators; lists are limited alike', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  const paths: string[] = []
  for (const as of ['root', 'eve']) {
    const { id } = await make('companies', { name: as })
    paths.push(
      accepted(await send({ method: 'DELETE', path: `/v1/companies/${id}`, as, headers: { prefer: 'respond-async' } }))
        .path,
    )
  }
  const [roots, eves] = paths as [string, string]
  await app.runner.idle()
  const seen = async (path: string, as: string | null) => (await send({ path, as })).status
  assert.deepEqual(await Promise.all(['root', 'eve', 'bob', null].map((as) => seen(roots, as))), [200, 403, 403, 401])
  assert.deepEqual(await Promise.all(['root', 'eve', 'bob', null].map((as) => seen(eves, as))), [200, 200, 403, 401])
  assert.equal(await seen(`/v1/jobs/${nowhere}`, 'root'), 404)
  const listed = async (as: string, query = '') => (await send({ path: `/v1/jobs${query}`, as })).json
  assert.equal((await listed('root')).pagination.total_count, 2)
  assert.deepEqual((await listed('eve')).data.map((each: { status_url: string }) => each.status_url), [eves]) // biome-ignore format: a line
  assert.equal((await listed('bob')).pagination.total_count, 0)
  assert.equal((await listed('root', '?status=succeeded&kind=deletion&sort=-created_at&per_page=1')).data.length, 1)
  // Nobody writes jobs.
  for (const method of ['PUT', 'PATCH']) {
    const answer = await send({ method, path: roots, body: {} })
    assert.deepEqual([answer.status, answer.headers['allow']], [405, 'GET, HEAD, DELETE, OPTIONS'])
  }
  const posted = await send({ path: '/v1/jobs', body: {} })
  assert.deepEqual([posted.status, posted.headers['allow']], [405, 'GET, HEAD, QUERY, OPTIONS'])
})

it('JOB-4: a job is kept for 30 days', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make, clock } = current
  const { id } = await make('companies', { name: 'One' })
  const headers = { prefer: 'respond-async' }
  const { path } = accepted(await send({ method: 'DELETE', path: `/v1/companies/${id}`, headers }))
  await app.runner.idle()
  const day = 86_400_000
  clock.ahead = 30 * day - 60_000
  await app.storage.purgeClock.confirm(Date.now() + clock.ahead)
  await app.runner.maintain()
  assert.equal((await send({ path })).status, 200)
  clock.ahead = 30 * day + 60_000
  await app.runner.maintain()
  assert.equal((await send({ path })).status, 404)
  await app.runner.idle()
  // What remains is the purge that has just run.
  const { json } = await send({ path: '/v1/jobs' })
  assert.deepEqual(json.data.map((each: { kind: string }) => each.kind), ['purge']) // biome-ignore format: a line
  assert.deepEqual([json.data[0].result, json.data[0].started_by], [{ purged_count: 1 }, null])
})

it('CON-4: polling a job costs a 304 until it changes', async (context) => {
  const current = await trialFor(context, company)
  const { app, send } = current
  const { root } = await found(current, 'Acme')
  const open = held(current)
  const { path } = accepted(await send({ method: 'DELETE', path: `/v1/companies/${root.id}` }))
  const { etag = '' } = (await send({ path })).headers
  assert.equal((await send({ path, headers: { 'if-none-match': etag } })).status, 304)
  open()
  await app.runner.idle()
  assert.equal((await send({ path, headers: { 'if-none-match': etag } })).status, 200)
})

it('JOB-3: a job that cannot continue is undone, and says why', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, seen } = current
  const { root } = await found(current, 'Acme')
  const before = await stateOf(current, levels)
  const { step } = app.storage.jobs
  let steps = 0
  const failing: typeof step = (job, now) =>
    ++steps > 2 ? Promise.reject(new Error('the disk is secretly full')) : step(job, now)
  Object.assign(app.storage.jobs, { step: failing })
  const { path } = accepted(await send({ method: 'DELETE', path: `/v1/companies/${root.id}` }))
  let job = await send({ path })
  for (let waits = 0; job.json.status !== 'failed' && waits < 600; waits++) {
    app.runner.wake()
    await new Promise((resolve) => setTimeout(resolve, 100))
    job = await send({ path })
  }
  assert.deepEqual([job.json.status, job.json.error.code, job.json.error.status], ['failed', 'INTERNAL_ERROR', 500])
  assert.doesNotMatch(job.text, /disk/)
  assert.ok(seen.some((each) => each.kind === 'failure' && each.requestId === job.json.job_id))
  assert.deepEqual(
    (await stateOf(current, levels)).map((each) => (each as unknown[])[1]),
    before.map((each) => (each as unknown[])[1]),
  )
})

for (const memory of [false, true]) {
  it(`DEL-8: large deletions are decided like small ones, ${memory ? 'in memory' : 'on another thread'}`, async (context) => {
    const current = await trialFor(context, company, { memory })
    const { app, send, make } = current
    const { root, members } = await found(current, 'Acme')
    const numbers = Array.from({ length: 1_100 }, (_, number) => number)
    await Promise.all(numbers.map((number) => make('departments', { name: `Dep ${number}`, company_id: root.id })))
    const audit = await make('audits', { name: 'Open', member_id: members[11].id })
    const filter = 'name=Acme'
    const ways: Sent[] = [
      { method: 'DELETE', path: `/v1/companies/${root.id}` },
      { path: '/v1/companies/bulk-delete', body: { ids: [root.id] }, headers: { 'idempotency-key': '"one"' } },
      { method: 'DELETE', path: `/v1/companies?${filter}` },
    ]
    const before = await stateOf(current, levels)
    for (const sent of ways) {
      const refused = await send(sent)
      assert.deepEqual([refused.status, refused.json.errors[0].ids], [409, [audit.id]])
      assert.equal((await send({ ...sent, as: 'bob' })).status, 403)
    }
    assert.deepEqual(await stateOf(current, levels), before)
    assert.equal((await send({ method: 'DELETE', path: `/v1/audits/${audit.id}` })).status, 204)
    for (const sent of ways) {
      // Others write meanwhile: whatever was looked at before that is looked at again.
      const others = Array.from({ length: 30 }, async (_, number) => {
        await sleep(number / 2)
        await make('badges', { name: `Badge ${number}` })
      })
      const { path } = accepted(await send(sent))
      await Promise.all(others)
      // The records of a filter are found by its job, perhaps only after the response.
      if (sent !== ways[2]) assert.equal(await countOf(current, 'companies'), 0)
      await app.runner.idle()
      assert.equal((await send({ path })).json.result.affected_count >= 1_103, true)
      assert.deepEqual(await Promise.all(levels.map((name) => countOf(current, name))), [0, 0, 0, 0])
      const back = await send({ method: 'POST', path: `/v1/companies/${root.id}/restore` })
      assert.deepEqual([back.status, back.json.id, back.json.name], [200, root.id, 'Acme'], back.text)
      assert.equal(await countOf(current, 'departments'), 1_102)
    }
    // The key still stands for the first answer.
    assert.equal((await send(ways[1] as Sent)).status, 202)
    assert.equal(await countOf(current, 'companies'), 1)
  })
}

it('DEL-4: rules that are functions are called for deletions of any size', async (context) => {
  const fields = { name: { type: 'string' } } as const
  const current = await trialFor(context, {
    name: 'rules',
    resources: {
      boxes: { fields, deletion: { asynchronous: { above: 10 } } },
      things: {
        fields: { ...fields, box_id: { reference: 'boxes', onDelete: 'cascade' } },
        rules: [
          {
            on: 'delete',
            check: ({ current: thing }) =>
              thing?.['name'] === 'dear' ? { code: 'TOO_DEAR', message: 'It is too dear.' } : undefined,
          },
        ],
      },
    },
  })
  const { app, send, make } = current
  const { id } = await make('boxes', { name: 'Box' })
  await Promise.all(Array.from({ length: 1_100 }, () => make('things', { name: 'cheap', box_id: id })))
  const dear = await make('things', { name: 'dear', box_id: id })
  const refused = await send({ method: 'DELETE', path: `/v1/boxes/${id}` })
  assert.deepEqual([refused.status, refused.json.code], [409, 'TOO_DEAR'])
  await send({ method: 'PATCH', path: `/v1/things/${dear.id}`, body: { name: 'cheap' } })
  accepted(await send({ method: 'DELETE', path: `/v1/boxes/${id}` }))
  await app.runner.idle()
  assert.equal(await countOf(current, 'things'), 0)
})
