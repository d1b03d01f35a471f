/** DEL-4, DEL-8: records that gain references, with `restrict`, to a record that a deletion job has not reached yet. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { type Trial, trialFor } from '../harness.ts'

const name = { type: 'string' } as const
const grove = defineInterface({
  name: 'grove',
  resources: {
    trees: { fields: { name } },
    branches: { fields: { name, tree_id: { reference: 'trees', onDelete: 'cascade' } } },
    nests: { fields: { name, branch_id: { reference: 'branches', onDelete: 'restrict', optional: true } } },
  },
})

/** A trial whose jobs stand still until they are let go. */
async function still(context: TestContext) {
  const trial = await trialFor(context, grove)
  const { jobs } = trial.app.storage
  const { step } = jobs
  Object.assign(jobs, { step: async () => 'more' })
  return {
    ...trial,
    async letGo() {
      Object.assign(jobs, { step })
      await trial.app.runner.idle()
    },
  }
}

const headers = { prefer: 'respond-async' }

async function isLive({ send }: Trial, path: string): Promise<boolean> {
  return (await send({ path })).status === 200
}

it('DEL-8: nothing is restored under a record that a running job deletes', async (context) => {
  const trial = await still(context)
  const { send, make } = trial
  const tree = await make('trees', { name: 'Oak' })
  const branch = await make('branches', { name: 'Low', tree_id: tree.id })
  const nest = await make('nests', { name: 'Jay', branch_id: branch.id })
  const path = `/v1/nests/${nest.id}`
  await send({ method: 'DELETE', path })
  assert.equal((await send({ method: 'DELETE', path: `/v1/trees/${tree.id}`, headers })).status, 202)
  const refused = await send({ method: 'POST', path: `${path}/restore` })
  assert.deepEqual([refused.status, refused.json.code], [409, 'BEING_DELETED'], refused.text)
  assert.equal(refused.json.errors[0].pointer, '/branch_id')
  const posted = await send({ path: '/v1/nests', body: { name: 'Tit', branch_id: branch.id } })
  assert.deepEqual([posted.status, posted.json.code], [409, 'BEING_DELETED'], posted.text)
  await trial.letGo()
  assert.equal(await isLive(trial, `/v1/branches/${branch.id}`), false)
  const lost = await send({ method: 'POST', path: `${path}/restore` })
  assert.deepEqual([lost.status, lost.json.code], [409, 'REFERENCE_DELETED'])
  assert.equal((await send({ method: 'POST', path: `/v1/trees/${tree.id}/restore` })).status, 200)
  assert.equal((await send({ method: 'POST', path: `${path}/restore` })).status, 200)
})
