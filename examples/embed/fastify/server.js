/** Resourced in Fastify 5: `node server.js`. */
import Fastify from 'fastify'
import { toNodeHandler } from 'resourced'
import { api } from '../tasks.js'

const app = Fastify()
// Fastify does not know this method of HTTP by itself.
app.addHttpMethod('QUERY', { hasBody: true })

app.register(async (scope) => {
  const handle = toNodeHandler(api)
  // The handler reads bodies itself, so Fastify leaves them alone here.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
  scope.all('/api/*', (request, reply) => {
    reply.hijack()
    handle(request.raw, reply.raw)
  })
})

app.get('/', async () => 'This page is of Fastify.')
app.post('/echo', async (request) => request.body)
app.get('/titles', async () => {
  const { data } = await api.as({ id: 'ann', roles: [] }).tasks.list({ fields: 'title' })
  return data.map(({ title }) => title)
})
app.addHook('onClose', () => api.close())

const address = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`Listening at ${address}`)
process.once('SIGTERM', () => app.close())
