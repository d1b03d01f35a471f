/** What an application does with the package. It is compiled and run in a folder that has installed it. */
import { createServer } from 'node:http'
import {
  type App,
  collectMetrics,
  createApp,
  defineInterface,
  reference,
  type Static,
  Type,
  toFetchHandler,
  toNodeHandler,
} from 'resourced'
import { createClient, ProblemError } from 'resourced/client'
import { type TestApp, testApp } from 'resourced/testing'

const Name = Type.String({ maxLength: 100, sort: true })
const name: Static<typeof Name> = 'a name'
const declaration = defineInterface({
  name: 'shop',
  title: 'Shop',
  description: 'What is on sale.',
  resources: {
    kinds: { fields: { name: Name } },
    things: { fields: { name: Name, kind_id: Type.Optional(reference('kinds', { onDelete: 'clear' })) } },
  },
})

const app: App = createApp(declaration, { database: 'sqlite::memory:' })
await app.ready()
const respond = toFetchHandler(app, { address: () => '192.0.2.1' })
const refused = await respond(new Request(`https://shop.example/v1/things?name=${encodeURIComponent(name)}`))
const ready = await respond(new Request('https://shop.example/health/ready'))

const client = createClient({ url: 'https://shop.example/v1', fetch: (url, init) => respond(new Request(url, init)) })
const problem = await client.caller.get().catch((error: unknown) => error)
if (!(problem instanceof ProblemError) || problem.code !== 'UNAUTHENTICATED') throw problem
const { pagination } = (await app.as({ id: 'me', roles: ['admin'] })['things']?.list()) ?? {}
if (pagination?.total_count !== 0) throw new Error('The collection is not empty.')

const server = createServer(toNodeHandler(app))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
const port = typeof address === 'object' && address !== null ? address.port : 0
const served = await fetch(`http://127.0.0.1:${port}/health/ready`)
await served.text()

console.log(refused.status, ready.status, served.status)
server.closeAllConnections()
await new Promise((resolve) => server.close(resolve))
await app.close()

const tested: TestApp<typeof declaration> = await testApp(declaration, { now: '2027-01-01' })
const [kind] = await tested.seed('kinds', [{ name }])
const read = await tested.request('/v1/kinds', { as: { id: 'ann', roles: ['admin'] } })
console.log(read.status, read.body.data.length, kind.created_at)
await tested.close()

void collectMetrics

// @ts-expect-error A declaration is an object.
;() => createApp('shop')
