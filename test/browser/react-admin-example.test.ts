/** The example of react-admin: built with its sources, and used in a browser by two people. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import studio from '../../examples/studio/resources.ts'
import { createApp } from '../../packages/server/src/server/create-app.ts'
import { toNodeHandler } from '../../packages/server/src/server/node/listener.ts'
import { newDatabase } from '../engine.ts'
import { browser, noBrowser } from './browser.ts'

const source = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** The page with its program and its style, as one text. */
async function buildPage(): Promise<string> {
  const bundling = await rolldown({
    input: source('examples/react-admin/src/main.tsx'),
    platform: 'browser',
    resolve: {
      alias: {
        'resourced/client': source('packages/client/src/index.ts'),
        'resourced/react-admin': source('packages/client/src/providers/react-admin.ts'),
      },
    },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    checks: { moduleLevelDirective: false },
    logLevel: 'warn',
  })
  const { output } = await bundling.generate({ format: 'esm', codeSplitting: false })
  await bundling.close()
  const page = await readFile(source('examples/react-admin/index.html'), 'utf8')
  const program = output[0].code.replaceAll('</script', '<\\/script')
  return page.replace(/<link rel="stylesheet".*?>/, '').replace('src="/src/main.tsx">', () => `>${program}`)
}

/** Serves the page and the interface from one origin. An API key is the id of the caller. */
async function serveExample(context: TestContext) {
  const database = await newDatabase()
  const app = createApp(studio, {
    ...{ database: database.address, log: false },
    authenticate: ({ headers }) => {
      const id = String(headers['authorization']).replace('Bearer ', '')
      return ['ann', 'admin'].includes(id) ? { id, roles: id === 'admin' ? ['admin'] : [] } : undefined
    },
  })
  const page = await buildPage()
  const handle = toNodeHandler(app)
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/v1/')) return handle(request, response)
    response.setHeader('content-type', 'text/html; charset=utf-8').end(request.url === '/' ? page : '')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    await app.close()
    await database.remove()
  })
  return { app, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test('the example of react-admin lists, changes, deletes and restores records', {
  skip: noBrowser,
}, async (context) => {
  const { app, url } = await serveExample(context)
  const admin = app.as({ id: 'admin', roles: ['admin'] })
  const project = await admin['projects']!.create({ name: 'Roof' })
  for (const title of ['Measure', 'Order', 'Build']) {
    await admin['tasks']!.create({ title, project_id: project.id, due_on: '2027-01-01' })
  }
  const page = await (await browser()).newPage()
  context.after(() => page.close())
  const thrown: string[] = []
  page.on('pageerror', ({ message }) => thrown.push(message))
  page.setDefaultTimeout(30_000)
  await page.goto(url)
  await page.getByLabel('API key').fill('admin')
  await page.getByRole('button', { name: 'Sign in' }).click()

  await page.getByRole('link', { name: 'Measure' }).waitFor()
  const roofs = page.getByRole('cell', { name: 'Roof' })
  await roofs.nth(2).waitFor()
  assert.equal(await roofs.count(), 3)
  await page.getByLabel('Search').fill('ord')
  await page.getByText('1 records').waitFor()
  await page.getByLabel('Select Order').click()
  await page.getByRole('button', { name: 'Mark as done' }).click()
  await page.getByRole('cell', { name: 'done', exact: true }).waitFor()
  await page.getByLabel('Search').fill('')

  await page.getByRole('link', { name: 'Measure' }).click()
  await page.getByLabel('Title').fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').filter({ hasText: 'title is required' }).first().waitFor()
  await page.getByLabel('Title').fill('Measure twice')
  await page.getByLabel('Estimate').fill('2')
  const [task] = (await admin['tasks']!.list({ q: 'measure' })).data
  await admin['tasks']!.update(task?.id ?? '', { labels: ['urgent'] })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').filter({ hasText: 'changed' }).waitFor()
  assert.equal((await admin['tasks']!.get(task?.id ?? '')).title, 'Measure')

  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('link', { name: 'New project' }).click()
  await page.getByLabel('Name').fill('Wall')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Delete Wall' }).click()
  await page.getByRole('button', { name: 'Restore Wall' }).click()
  await page.getByRole('button', { name: 'Delete Wall' }).waitFor()
  assert.deepEqual(thrown, [])
})
