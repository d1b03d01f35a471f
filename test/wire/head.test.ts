/** HED-1: HEAD has the header fields of GET, byte for byte, at every path that supports GET. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiDocument } from '../../packages/server/src/documents/openapi.ts'
import { studio } from '../declarations.ts'
import { connected } from './connected.ts'
import { transports } from './transports.ts'

const json = { 'content-type': 'application/json' }
const nowhere = '00000000-0000-7000-8000-000000000000'

for (const transport of transports) {
  test(`HED-1, HED-3: ${transport}: HEAD has the header fields of GET wherever GET is supported`, async (context) => {
    const { ask, catalog } = await connected(context, studio, transport)
    const make = async (collection: string, body: unknown) => {
      const made = await ask('POST', `/v1/${collection}`, json, JSON.stringify(body))
      assert.equal(made.status, 201, made.body)
      return JSON.parse(made.body).id as string
    }
    const project = await make('projects', { name: 'Garden' })
    const user = await make('users', { name: 'Ann', email: 'ann@example.com' })
    const task = await make('tasks', { title: 'Dig', project_id: project, assignee_id: user })
    for (const title of ['Sow', 'Water', 'Reap']) await make('tasks', { title, project_id: project })
    const ids: Readonly<Record<string, string>> = { projects: project, users: user, tasks: task }

    const paths = (openApiDocument(catalog) as { paths: Record<string, { get?: unknown }> }).paths
    const addresses = Object.entries(paths)
      .filter(([, item]) => item.get !== undefined)
      .map(([path]) => path.replace(/([a-z_]+)\/\{[^}]+\}/g, (_, name: string) => `${name}/${ids[name] ?? nowhere}`))
    const full = addresses.map((path) =>
      path.startsWith('/health') ? path : path.startsWith('/v1') ? path : `/v1${path}`,
    )
    assert.ok(full.length >= 2 * catalog.resources.size + 1, full.join())
    const variants = [
      ...full,
      '/health/live',
      '/health/ready',
      '/v1/tasks?per_page=2&page=2',
      '/v1/tasks?limit=2&offset=1',
      '/v1/tasks?limit=2',
      '/v1/tasks?q=dig&fields=title',
      `/v1/tasks/${nowhere}`,
      '/v1/tasks?colour=red',
      '/v1/nothing',
    ]
    const fields: Record<string, string>[] = [
      {},
      { range: 'bytes=2-9' },
      { range: 'bytes=99999999-' },
      { accept: 'image/png' },
      { 'accept-encoding': 'identity;q=0, gzip' },
      { 'accept-encoding': 'gzip, deflate, br, zstd', range: 'bytes=2-9' },
    ]
    for (const path of variants) {
      const { headers } = await ask('GET', path)
      const conditional: Record<string, string>[] =
        headers.etag === undefined ? [] : [{ 'if-none-match': headers.etag }, { 'if-match': '"other"' }]
      for (const sent of [...fields, ...conditional]) {
        const got = await ask('GET', path, sent)
        const head = await ask('HEAD', path, sent)
        const what = `${path} ${JSON.stringify(sent)}`
        assert.equal(head.status, got.status, what)
        assert.equal(head.body, '', what)
        if (got.body !== '') assert.equal(got.headers['content-length'], String(got.bytes), what)
        const kept = (answer: typeof got) => {
          const {
            date: _,
            'x-request-id': __,
            'content-length': length,
            'content-range': range,
            ...rest
          } = answer.headers
          // Each request changes the metrics. A preview of a deletion has a time, which compresses differently.
          const isTimed = path.endsWith('/deletion') && answer.headers['content-encoding'] !== undefined
          const isSteady = path !== '/health/metrics' && !isTimed
          return isSteady ? { ...rest, length, range } : rest
        }
        assert.deepEqual(kept(head), kept(got), what)
      }
    }
  })
}
