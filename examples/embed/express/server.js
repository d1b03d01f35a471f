/** Resourced in Express 5: `node server.js`. */
import express from 'express'
import { toNodeHandler } from 'resourced'
import { api } from '../tasks.js'

const app = express()

// The path is the basePath of the application. Body parsers come later: the handler reads bodies itself.
app.use('/api', toNodeHandler(api))

app.use(express.json())
app.get('/', (_request, response) => {
  response.send('This page is of Express.')
})
app.post('/echo', (request, response) => {
  response.json(request.body)
})
app.get('/titles', async (_request, response) => {
  const { data } = await api.as({ id: 'ann', roles: [] }).tasks.list({ fields: 'title' })
  response.json(data.map(({ title }) => title))
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Listening at http://127.0.0.1:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close(() => api.close())
})
