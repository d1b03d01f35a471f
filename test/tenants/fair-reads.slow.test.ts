/** LIM-7: tenants take turns with their slow reads, however many callers and reads each of them has. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { createTenants, member, type TenantTrial, tenantTrial } from './tenants.ts'

const declaration: InterfaceDeclaration = {
  name: 'notes',
  tenants: { caller: 'claims.team' },
  // Reads wait for as long, and a busy machine takes long.
  limits: { readTime: 300_000 },
  resources: {
    notes: {
      access: { read: 'anyone', create: 'anyone' },
      fields: { text: { type: 'string', filter: true, maxLength: 500 } },
    },
  },
}

const path = '/v1/notes'
let texts = 0

/** A read that searches each record for texts that no read before it searched for. */
function slowRead({ send }: TenantTrial, team: string, caller: string) {
  const or = Array.from({ length: 10 }, () => ({ text: { contains: `no text has ${++texts}` } }))
  return send({ method: 'QUERY', path, as: member(team, caller), body: { where: { or } } })
}

async function fill({ send }: TenantTrial, team: string): Promise<void> {
  const body = Array.from({ length: 1_000 }, (_, number) => ({ text: `${number} ${'of many '.repeat(50)}` }))
  for (let batch = 0; batch < 2; batch++) {
    const answer = await send({ path, as: member(team), body })
    assert.equal(answer.status, 201, answer.text)
  }
}

it('LIM-7: a slow read of a tenant waits for few of a tenant with a hundred of them', async (t) => {
  const trial = await tenantTrial(declaration)
  t.after(() => trial.close())
  await createTenants(trial, 'many', 'few')
  for (const team of ['many', 'few']) {
    await fill(trial, team)
    // The first one starts threads, or opens connections.
    const answer = await slowRead(trial, team, 'first')
    assert.equal(answer.status, 200, answer.text)
  }
  let ended = 0
  const reads = Array.from({ length: 100 }, async (_, number) => {
    const answer = await slowRead(trial, 'many', `caller ${number}`)
    ended++
    return answer.status
  })
  await reads[0]
  let between = Number.POSITIVE_INFINITY
  // On a busy machine one of them may run for long, and others meanwhile.
  for (let tries = 0; tries < 3; tries++) {
    const before = ended
    const { status, json } = await slowRead(trial, 'few', 'ann')
    assert.deepEqual([status, json.pagination.total_count], [200, 0])
    // Those that ran already end, and as long as this one runs the other turns go on.
    between = Math.min(between, ended - before)
  }
  assert.ok(between <= 10, `after ${between} others`)
  assert.ok(ended < 100, 'the others are not all done')
  assert.deepEqual(new Set(await Promise.all(reads)), new Set([200]))
  t.diagnostic(`after ${between} others`)
})
