/** Resourced in Hono 4 on Node.js: `node server.js`. On Bun and Deno, only the last lines differ. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { honoAddress, toFetchHandler } from 'resourced'
import { api } from '../tasks.js'

const app = new Hono()

const handle = toFetchHandler(api, { address: honoAddress })
app.all('/api/*', (context) => handle(context.req.raw, context))

app.get('/', (context) => context.text('This page is of Hono.'))
app.post('/echo', async (context) => context.json(await context.req.json()))
app.get('/titles', async (context) => {
  const { data } = await api.as({ id: 'ann', roles: [] }).tasks.list({ fields: 'title' })
  return context.json(data.map(({ title }) => title))
})

const port = Number(process.env.PORT ?? 3000)
const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`Listening at http://127.0.0.1:${port}`)
})
process.once('SIGTERM', () => {
  server.close(() => api.close())
})
