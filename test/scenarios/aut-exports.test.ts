/** AUT-9: exports contain records that their caller may read, and are served to callers who may read them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AccessRule, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { type Trial, trialFor } from '../harness.ts'

function notes(read: AccessRule | readonly AccessRule[]): InterfaceDeclaration {
  const access = { read, create: 'anyone' } as const
  return { name: 'notes', resources: { notes: { fields: { text: { type: 'string' } }, access } } }
}

async function ask({ send, make }: Trial, as: string): Promise<{ job: string; file: string }> {
  await make('notes', { text: 'one' }, as)
  const { status, text, json } = await send({ path: '/v1/exports', body: { collection: 'notes', format: 'json' }, as })
  assert.equal(status, 202, text)
  return { job: json.status_url, file: `/v1/exports/${json.job_id}/content` }
}

/** A job as it ends: it is tried several times before it is given up. */
async function ended({ app, send }: Trial, path: string): Promise<string> {
  for (let time = 0; time < 600; time++) {
    await app.runner.idle()
    const { status } = (await send({ path })).json
    if (status === 'succeeded' || status === 'failed') return status
    await sleep(100)
  }
  throw new Error('The job does not end.')
}

it('AUT-9: an export does not continue after its access rules have changed', async (context) => {
  const before = await trialFor(context, notes(['anyone']))
  // Whatever it is asked for is left to others.
  Object.assign(before.app.storage.jobs, { claimExport: async () => undefined })
  const { job, file } = await ask(before, 'ann')
  const after = await trialFor(context, notes('role:admin'), { database: before.database })
  assert.equal(await ended(after, job), 'failed')
  assert.equal((await after.send({ path: file })).status, 404)
})

it('AUT-9: an export continues on another server with the same access rules', async (context) => {
  const rule: AccessRule = (caller) => caller.id === 'ann'
  const before = await trialFor(context, notes(rule))
  Object.assign(before.app.storage.jobs, { claimExport: async () => undefined })
  const { job } = await ask(before, 'ann')
  const after = await trialFor(context, notes(rule), { database: before.database })
  assert.equal(await ended(after, job), 'succeeded')
})

it('AUT-9: the file is refused to a caller who may no longer read its collection', async (context) => {
  const before = await trialFor(context, notes('anyone'))
  const { job, file } = await ask(before, 'ann')
  assert.equal(await ended(before, job), 'succeeded')
  assert.equal((await before.send({ path: file, as: 'ann' })).status, 200)
  const after = await trialFor(context, notes('role:admin'), { database: before.database })
  const refused = await after.send({ path: file, as: 'ann' })
  assert.deepEqual([refused.status, refused.json.code], [403, 'FORBIDDEN'])
  assert.equal((await after.send({ path: file })).status, 200)
})

it('AUT-9: an administrator gets the export of another caller if they may read all its records', async (context) => {
  const narrow: AccessRule = { where: { text: 'one' } }
  for (const [read, status] of [
    [narrow, 403],
    [['role:admin', narrow], 200],
  ] as const) {
    const current = await trialFor(context, notes(read))
    const { job, file } = await ask(current, 'ann')
    assert.equal(await ended(current, job), 'succeeded')
    assert.equal((await current.send({ path: file, as: 'ann' })).status, 200)
    assert.equal((await current.send({ path: file })).status, status)
  }
})
