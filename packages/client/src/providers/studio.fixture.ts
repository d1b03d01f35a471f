/** The studio, served on a free port, for the tests of providers. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { studio } from '../../../../test/declarations.ts'
import { newDatabase } from '../../../../test/engine.ts'
import { createApp } from '../../../server/src/server/create-app.ts'
import { toNodeHandler } from '../../../server/src/server/node/listener.ts'
import { type Client, createClient } from '../index.ts'

/**
 * Serves the studio until the end of a test. The clients of both callers send requests over HTTP.
 *
 * @returns also the requests that were received
 */
export async function serveStudio(
  context: TestContext,
): Promise<{ readonly ann: Client; readonly admin: Client; readonly requests: readonly string[] }> {
  const database = await newDatabase()
  const app = createApp(studio, {
    ...{ database: database.address, log: false },
    authenticate: ({ headers }) => {
      const id = String(headers['authorization']).replace('Bearer ', '')
      return { id, roles: id === 'admin' ? ['admin'] : [] }
    },
  })
  const requests: string[] = []
  const handle = toNodeHandler(app)
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${decodeURIComponent(request.url ?? '')}`)
    handle(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    await app.close()
    await database.remove()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { ann: createClient({ url, key: 'ann' }), admin: createClient({ url, key: 'admin' }), requests }
}

/** Serves the studio with tasks of these titles in one project, each of them due a day later. */
export async function serveTasks(context: TestContext, titles: readonly string[]) {
  const clients = await serveStudio(context)
  const project = await clients.ann['projects']!.create({ name: 'Roof' })
  const tasks = []
  for (const [index, title] of titles.entries()) {
    tasks.push(await clients.ann['tasks']!.create({ title, due_on: `2027-01-0${index + 1}`, project_id: project.id }))
  }
  return { ...clients, project, tasks }
}

/** The tasks of a client. */
export function tasksOf(client: Client): Client[string] {
  return client['tasks']!
}
