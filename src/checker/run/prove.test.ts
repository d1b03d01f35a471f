import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../client/client.ts'
import { served } from '../client/served.fixture.ts'
import { bareCollection, type CollectionProfile, type Profile, usualNames } from '../profile/profile.ts'
import { check, type Verdict } from './check.ts'

const things: CollectionProfile = {
  ...bareCollection('things'),
  operations: ['list', 'create', 'read', 'replace', 'update', 'delete'],
  ...{ example: { name: 'a', size: 1 }, required: ['name'], change: { name: 'b' }, optional: { size: 2 } },
  ...{ invalid: { size: 'much' }, filters: ['name', 'size'], sorts: ['name', 'size'], marker: 'name', pages: ['page'] },
}

/** The cases of a run that have a verdict. */
async function judged(origin: string, verdicts: readonly Verdict[]): Promise<string[]> {
  const client = new Client()
  try {
    const profile: Profile = { base: `${origin}/v1`, collections: [things], names: usualNames, open: [] }
    const { rules } = await check({ profile, client, credential: [['Authorization', 'Bearer s3cret-key']] })
    return rules.flatMap(({ cases }) =>
      cases.filter(({ verdict }) => verdicts.includes(verdict)).map(({ id, verdict }) => `${id} ${verdict}`),
    )
  } finally {
    client.close()
  }
}

test('a server that refuses everything keeps no rule about refusals, and breaks none', async (context) => {
  const origin = await served(context, (_, response) => {
    response.writeHead(422, { 'Content-Type': 'application/json' }).end('{"code":"REFUSED","detail":"No."}')
  })
  assert.deepEqual(await judged(origin, ['holds', 'fails', 'advice']), [])
})
