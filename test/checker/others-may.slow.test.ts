/** A second caller with permissions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { cases } from '../../packages/check/src/cases/cases.ts'
import { Client } from '../../packages/check/src/client/client.ts'
import { discover } from '../../packages/check/src/discovery/discover.ts'
import { tryCollections } from '../../packages/check/src/discovery/try-collections.ts'
import { check } from '../../packages/check/src/run/check.ts'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { serve } from '../../packages/server/src/server/serve.ts'
import { newDatabase } from '../engine.ts'
import { casesOf } from './try-faults.ts'

const library = defineInterface({
  name: 'library',
  resources: {
    authors: {
      fields: { name: { type: 'string', filter: true } },
      access: { read: 'anyone', create: 'anyone', update: 'role:admin', delete: 'role:admin' },
    },
  },
})

test('AUT-3: permissions of the second caller are reported, can be declared, and none of its records remains', async (context) => {
  const client = new Client()
  const database = await newDatabase({ memory: true })
  const serving = await serve({
    ...{ catalog: completeCatalog(library), database: database.address, databaseUnsafe: true },
    ...{ host: '127.0.0.1', port: 0, http: true, rateLimit: 'off' },
  })
  context.after(async () => {
    client.close()
    await serving.close()
    await database.remove()
  })
  const credentialOf = async (subject: string, roles: string[]) => {
    const { key, stored } = makeKey(subject, roles, null)
    await serving.app.storage.keys.add(stored)
    return [['Authorization', `Bearer ${key}`]] as const
  }
  const credential = await credentialOf('checker', ['admin'])
  const other = await credentialOf('other', [])
  const requester = { client, credential }
  const found = await discover(requester, { url: serving.origin })
  const { profile, notices, remains } = await tryCollections(requester, { ...found, cases, other })
  assert.deepEqual(remains, [])
  assert.match(notices.join(), /may create and read records of authors.*otherMay/)

  const failing = async (otherMay: readonly ('create' | 'read')[]) => {
    const collections = profile.collections.map((each) => ({ ...each, otherMay }))
    const report = await check({ profile: { ...profile, collections }, client, credential, other, only: ['AUT-3'] })
    assert.deepEqual(report.remains, [])
    return casesOf(report).flatMap(({ id, verdict }) => (verdict === 'fails' ? [id] : []))
  }
  assert.deepEqual(await failing([]), ['AUT-3/create', 'AUT-3/read'])
  assert.deepEqual(await failing(['create', 'read']), [])
})
