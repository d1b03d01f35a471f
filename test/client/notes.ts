/** A server of notebooks and notes for the tests of the client. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { createApp, defineInterface, reference, Type, toNodeHandler } from '../../packages/server/src/index.ts'
import { newDatabase } from '../engine.ts'

const access = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

export const notebooks = defineInterface({
  name: 'notebooks',
  resources: {
    notebooks: { fields: { name: Type.String({ maxLength: 100 }) }, events: true, access },
    notes: {
      fields: {
        title: Type.String({ minLength: 1, maxLength: 100, sort: true, filter: true, search: true }),
        status: Type.Enum(['open', 'done'], { default: 'open' }),
        count: Type.Optional(Type.Integer({ minimum: 0 })),
        body: Type.Optional(Type.String()),
      },
      access,
      history: true,
    },
    pages: {
      fields: { text: Type.String({ sort: true }), notebook_id: reference('notebooks', { onDelete: 'cascade' }) },
      within: 'notebook_id',
      access,
    },
    drafts: { fields: { text: Type.String() }, preconditions: 'required', deletion: { answer: 'summary' }, access },
  },
  limits: { rate: { caller: '1000000/minute' } },
})

/** Serves the notebooks until the test ends. Every request is one of the caller `ann`. */
export async function serveNotes(context: TestContext): Promise<string> {
  const database = await newDatabase()
  const authenticate = () => ({ id: 'ann', roles: ['admin'], expiresAt: Number.POSITIVE_INFINITY })
  const webhookNetworks = ['127.0.0.1/32']
  const app = createApp(notebooks, { database: database.address, log: false, authenticate, webhookNetworks })
  const server = createServer(toNodeHandler(app))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(async () => {
    server.closeAllConnections()
    server.close()
    await app.close()
    await database.remove()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
