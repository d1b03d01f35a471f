/** AUT-3, AUT-5: calls in process have the permissions of the caller that the program names. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { etagOf, ProblemError } from '../../packages/client/src/index.ts'
import type { CallerInput } from '../../packages/server/src/policy/own-credentials.ts'
import { type AppOptions, createApp } from '../../packages/server/src/server/create-app.ts'
import { studio } from '../declarations.ts'
import { newDatabase } from '../engine.ts'

async function application(context: TestContext, options: AppOptions = {}, declaration = studio as typeof studio) {
  const database = await newDatabase()
  const app = createApp(declaration, { database: database.address, log: false, ...options })
  context.after(async () => {
    await app.close()
    await database.remove()
  })
  return app
}

const problem = (status: number, code: string) => (error: unknown) => {
  assert.ok(error instanceof ProblemError, String(error))
  assert.deepEqual([error.status, error.code], [status, code])
  return true
}

it('AUT-3: the client creates, reads, changes, deletes and restores', async (context) => {
  const app = await application(context, { basePath: '/api' })
  const { projects, users } = app.as({ id: 'ann', roles: [] })
  assert.ok(projects !== undefined && users !== undefined)
  const made = await projects.create({ name: 'A' })
  const id = String(made['id'])
  assert.deepEqual([made['name'], made['owner_id']], ['A', 'ann'])
  const read = await projects.get(id)
  assert.deepEqual(read, made)
  assert.match(etagOf(read) ?? '', /^"/)
  const changed = await projects.update(id, { description: 'new' }, { ifMatch: etagOf(read) })
  assert.equal(changed['description'], 'new')
  await assert.rejects(
    projects.update(id, { name: 'B' }, { ifMatch: etagOf(read) }),
    problem(412, 'PRECONDITION_FAILED'),
  )
  assert.equal((await projects.replace(id, { name: 'C' }))['description'], null)
  const page = await projects.list({ sort: '-name', limit: 1, q: 'c', fields: 'name' })
  assert.deepEqual([page.data.length, page.pagination['total_count']], [1, 1])
  assert.equal(await projects.delete(id), undefined)
  await assert.rejects(projects.get(id), problem(404, 'NOT_FOUND'))
  assert.equal((await projects.restore(id))['name'], 'C')
  await assert.rejects(users.create({ name: 'x', email: 'x@example.org' }), problem(403, 'FORBIDDEN'))
})

it('AUT-5: another caller does not see what rules hide', async (context) => {
  const app = await application(context)
  const { id } = (await app.as({ id: 'ann', roles: [] })['projects']?.create({ name: 'A' })) ?? {}
  const bob = app.as({ id: 'bob', roles: [] })['projects']
  assert.deepEqual((await bob?.list())?.data, [])
  await assert.rejects(bob?.get(String(id)) ?? Promise.resolve(), problem(403, 'FORBIDDEN'))
  assert.equal((await app.as({ id: 'root', roles: ['admin'] })['projects']?.list())?.data.length, 1)
})

it('ERR-2: a refused call rejects with what the problem says', async (context) => {
  const app = await application(context)
  const client = app.as({ id: 'ann', roles: ['admin'] })
  const wrong = client['projects']?.create({ name: 7, colour: 'red' })
  await assert.rejects(wrong ?? Promise.resolve(), (error: ProblemError) => {
    assert.deepEqual(
      error.errors.map(({ code, pointer }) => `${code} ${pointer}`),
      ['UNKNOWN_FIELD /colour', 'INVALID_TYPE /name'],
    )
    assert.match(error.message, /^400 VALIDATION_FAILED: /)
    assert.match(error.requestId ?? '', /^[\da-f-]{36}$/)
    return true
  })
  for (const id of ['..', '', 'a/b', '%', 'x\0'])
    await assert.rejects(client['projects']?.get(id) ?? Promise.resolve(), problem(404, 'NOT_FOUND'), id)
  await assert.rejects(client['../projects']?.list() ?? Promise.resolve(), problem(404, 'NOT_FOUND'))
  await assert.rejects(
    client['projects']?.create({ description: 'x'.repeat(2_000_000) }) ?? Promise.resolve(),
    problem(413, 'BODY_TOO_LARGE'),
  )
  // A client can be returned by an asynchronous function.
  assert.equal(await client, client)
})

it('LIM-1: calls in process are not counted, and need no credential', async (context) => {
  const limited = { ...studio, limits: { rate: { caller: '1/minute' } } } as const
  const app = await application(context, { authenticate: () => assert.fail('not called') }, limited as typeof studio)
  const { projects } = app.as({ id: 'ann', roles: [] })
  for (let time = 0; time < 3; time++) assert.equal((await projects?.list())?.data.length, 0)
})

it('AUT-1: who is no caller is refused where the client is made', async (context) => {
  const app = await application(context)
  for (const caller of [
    undefined,
    null,
    'ann',
    {},
    { id: 'ann' },
    { id: '', roles: [] },
    { id: 'ann', roles: 'admin' },
  ]) {
    assert.throws(() => app.as(caller as CallerInput), /^TypeError: app\.as\(\) received /)
  }
  const readBody = async () => new Uint8Array()
  const request = { method: 'GET', target: '/v1/projects', headers: {}, secure: true, address: '', readBody }
  const hidden = app.respond as (...given: unknown[]) => ReturnType<typeof app.respond>
  assert.equal((await hidden(request, { id: 'ann', roles: ['admin'], claims: {} })).status, 401)
})

it('ERR-6: while the application is closed, calls fail as requests do', async (context) => {
  const app = await application(context)
  await app.ready()
  const closing = app.close()
  await assert.rejects(app.as({ id: 'ann', roles: [] })['projects']?.list() ?? Promise.resolve(), ProblemError)
  await closing
})
