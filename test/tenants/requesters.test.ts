/** TEN-2: the database of a tenant knows who asks, so that slow reads have their turns and end with their clients. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { assemble } from '../../packages/server/src/server/app.ts'
import { openServed } from '../../packages/server/src/server/open-served-database.ts'
import type { ServedTenants } from '../../packages/server/src/server/open-tenants.ts'
import type { Requester } from '../../packages/server/src/storage/storage.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { newDatabase } from '../engine.ts'

const declaration: InterfaceDeclaration = {
  name: 'notes',
  tenants: { caller: 'claims.team', create: 'first-use' },
  resources: { notes: { fields: { text: { type: 'string' } }, access: { read: 'anyone', create: 'anyone' } } },
}

test('TEN-2: callers of two tenants with one id are two, and their clients may go', async () => {
  const database = await newDatabase()
  const versions = completeVersions(declaration)
  const failed = (error: unknown) => assert.fail(String(error))
  const address = { database: database.address, databaseUnsafe: true }
  const { storage, tenants } = await openServed(address, versions.stored, { failed })
  const seen: (Requester | undefined)[] = []
  const { open, ...others } = tenants as ServedTenants
  const watched: ServedTenants = {
    ...others,
    async open(id) {
      const opened = await open(id)
      return {
        ...opened,
        run(plan, requester) {
          seen.push(requester)
          return opened.run(plan, requester)
        },
      }
    },
  }
  const app = assemble(versions.stored, { storage, tenants: watched }, { versions, rateLimit: 'off' })
  const leaving = new AbortController()
  for (const team of ['acme', 'globex']) {
    const caller = { id: 'ann', roles: ['admin'], claims: { team }, credential: 'own', expiresAt: 9e15 }
    const body = Buffer.from('{"text":"Hello"}')
    const shared = { secure: true, address: '127.0.0.1', abandoned: () => leaving.signal, readBody: async () => body }
    const headers = { 'content-type': 'application/json' }
    for (const method of ['POST', 'GET']) {
      const { status } = await app.respond({ method, target: '/v1/notes', headers, ...shared }, caller)
      assert.ok(status < 300, `${method} ${status}`)
    }
  }
  assert.deepEqual([...new Set(seen.map((each) => each?.callerId))], ['acme\nann', 'globex\nann'])
  assert.ok(seen.every((each) => each?.abandoned?.() === leaving.signal))
  await app.close()
  await database.remove()
})
