/** VER-3, VER-4: the successor is linked with the names of its own version. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { desk } from '../../declarations-desk.ts'
import { trialFor } from '../../harness.ts'

const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)

it('VER-3: the link to the successor has the collection names of the successor', async (context) => {
  const versions = { v1: { deprecated: day(-9), sunset: day(30) }, v2: { deprecated: day(-9) }, v3: {} }
  const { send } = await trialFor(context, { ...desk, versions })
  const person = (await send({ method: 'POST', path: '/v3/people', body: { name: 'Ann' } })).json
  const made = await send({ method: 'POST', path: '/v2/tickets', body: { title: 'Key', person_id: person.id } })
  assert.equal(made.status, 201, made.text)
  const { id } = made.json
  const successorOf = async (path: string) =>
    /<([^>]*)>; rel="successor-version"/.exec((await send({ path })).headers['link'] ?? '')?.[1]
  assert.equal(await successorOf(`/v1/tickets/${id}`), `/v2/tickets/${id}`)
  assert.equal(await successorOf(`/v2/tickets/${id}`), `/v3/cases/${id}`)
  assert.equal(await successorOf(`/v2/people/${person.id}/tickets?sort=title`), `/v3/people/${person.id}/cases`)
  assert.equal(await successorOf('/v2/jobs'), '/v3/jobs')
})

it('VER-4: a redirect leads to the name in the successor, and to nothing that the successor lacks', async (context) => {
  const gone: InterfaceDeclaration = {
    ...desk,
    versions: { v1: {}, v2: { sunset: day(-1), afterSunset: 'redirect' }, v3: {} },
    changes: [...(desk.changes ?? []), { version: 'v3', resource: 'remarks', collection: 'removed' }],
  }
  const { send } = await trialFor(context, gone)
  const moved = await send({ path: '/v2/tickets/x/restore', method: 'POST' })
  assert.deepEqual([moved.status, moved.headers['location']], [308, '/v3/cases/x/restore'])
  const retired = await send({ path: '/v2/remarks' })
  assert.deepEqual([retired.status, retired.json.code], [410, 'VERSION_RETIRED'])
  assert.equal((await send({ path: '/v3/remarks' })).status, 404)
})
