/** EVT-2 to EVT-6: events in the console, and the history of a record. */
import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { studio } from '../declarations.ts'
import { axeFindingsEverywhere } from './axe.ts'
import { noBrowser, openConsole, type Site, serveSite } from './browser.ts'
import { requestsOf } from './console.ts'
import { mouse, tabTo } from './hands.ts'
import { hostileText } from './studio-records.ts'
import { studioWithEvents } from './studio-with-events.ts'

const skip = noBrowser

/** The rows of the table: event and record. */
async function rows(page: Page): Promise<string[]> {
  const texts = await page.locator('tbody tr').allInnerTexts()
  return texts.map((text) => text.split('\t').slice(0, 2).join(' '))
}

async function start(context: TestContext) {
  const site = await serveSite(context, studioWithEvents, { rateLimit: 'off' })
  const key = await site.keyFor('ann', ['admin'])
  return { site, key, ask: requestsOf(site, key) }
}

const listed = 'EVT-2: events are listed newest first, filtered, and lead to the record as it was'
test(listed, { skip }, async (context) => {
  const { site, key, ask } = await start(context)
  const { id } = await ask('POST', '/projects', { name: 'Kitchen' })
  await ask('PATCH', `/projects/${id}`, { name: 'Kitchen and bath' })
  const { id: task } = await ask('POST', '/tasks', { title: 'Tiles', project_id: id })
  await ask('DELETE', `/tasks/${task}`)

  const page = await openConsole(context, site, '/', { key })
  await mouse(page).press('Events')
  await page.getByRole('row').nth(4).waitFor()
  assert.deepEqual(await rows(page), [
    `deleted Tasks …${task.slice(-8)}`,
    'created Tasks Tiles',
    'updated Projects Kitchen and bath',
    'created Projects Kitchen',
  ])

  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.getByLabel('Field').selectOption('kind')
  await page.getByLabel('created', { exact: true }).check()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('updated', { exact: true }).waitFor({ state: 'hidden' })
  // While the events are read, there are no rows.
  await page.getByRole('row').nth(2).waitFor()
  assert.deepEqual(await rows(page), ['created Tasks Tiles', 'created Projects Kitchen'])
  assert.match(page.url(), /#\/-\/events\?kind=created$/)

  await tabTo(page, 'created')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The record after the change' }).waitFor()
  assert.match(await page.locator('.card').innerText(), /Title\s+Tiles/)
  await page.getByRole('link', { name: 'History of the record' }).click()
  await page.getByRole('row').nth(2).waitFor()
  assert.deepEqual(await rows(page), [`deleted Tasks …${task.slice(-8)}`, 'created Tasks Tiles'])
  await page.getByRole('link', { name: 'deleted' }).click()
  await page.getByText('An event of a deletion does not contain the record.').waitFor()
})

const paged = 'EVT-2: more events than a page are reached by buttons'
test(paged, { skip }, async (context) => {
  const { site, key, ask } = await start(context)
  for (let number = 1; number <= 53; number++) await ask('POST', '/projects', { name: `Project ${number}` })
  const page = await openConsole(context, site, '/-/events', { key })
  await page.getByText('Project 53').waitFor()
  assert.equal((await rows(page)).length, 50)
  await page.getByRole('button', { name: 'Older' }).click()
  await page.getByText('Project 3', { exact: true }).waitFor()
  assert.deepEqual(
    await rows(page),
    ['Project 3', 'Project 2', 'Project 1'].map((name) => `created Projects ${name}`),
  )
  await page.getByRole('button', { name: 'Newer' }).click()
  await page.getByText('Project 53').waitFor()
})

const followed = 'EVT-6: Live shows events as they happen, also after a lost connection, and no other ones'
test(followed, { skip }, async (context) => {
  const { site, key, ask } = await start(context)
  await ask('POST', '/projects', { name: 'Before' })
  const door = await startDoor(context, site)
  const page = await openConsole(context, site, '/-/events?collection=projects', {
    key,
    at: door.at,
    disconnects: true,
  })
  await page.getByText('Before').waitFor()
  await page.getByRole('button', { name: 'Live' }).click()
  await page.getByText('Following').waitFor()
  const { id } = await ask('POST', '/projects', { name: 'Live one' })
  await page.getByText('Live one').waitFor()
  await ask('POST', '/tasks', { title: 'Not a project', project_id: id })
  await ask('DELETE', `/projects/${(await ask('POST', '/projects', { name: 'Live two' })).id}`)
  await page.getByRole('link', { name: 'deleted' }).waitFor()
  const found = await rows(page)
  assert.deepEqual(
    [found.length, ...found.slice(1)],
    [4, 'created Projects Live two', 'created Projects Live one', 'created Projects Before'],
  )
  door.cut()
  await page.getByText('Connecting…').waitFor()
  await ask('POST', '/projects', { name: 'Meanwhile' })
  await page.getByText('Meanwhile').waitFor()
  assert.equal((await rows(page)).length, 5)

  await page.getByRole('button', { name: 'Live' }).click()
  assert.match(page.url(), /#\/-\/events\?collection=projects$/)
})

const history = 'EVT-4: the page of a record shows its history, and nobody sees events of records they may not read'
test(history, { skip }, async (context) => {
  const { site, key, ask } = await start(context)
  const { id } = await ask('POST', '/projects', { name: 'Secret' })
  await ask('PATCH', `/projects/${id}`, { description: 'Plans.' })
  const page = await openConsole(context, site, `/projects/${id}`, { key })
  const shown = page.getByRole('navigation', { name: 'History of the record' })
  await shown.getByRole('link', { name: 'updated' }).waitFor()
  assert.deepEqual(await shown.getByRole('link').allInnerTexts(), ['updated', 'created'])
  await page.getByRole('textbox', { name: 'Description' }).fill('Other plans.')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await shown.getByRole('link', { name: 'updated' }).nth(1).waitFor()

  const other = await openConsole(context, site, '/-/events', { key: await site.keyFor('bob') })
  await other.getByText('No events yet.').waitFor()
})

test('an interface without events offers none', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const page = await openConsole(context, site, '/', { key: await site.keyFor('ann', ['admin']) })
  await page.getByRole('link', { name: 'Jobs' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Events' }).count(), 0)
  await show(page, site, '/-/events')
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor()
})

test('every view of events passes the rules of axe-core', { skip }, async (context) => {
  const { site, key, ask } = await start(context)
  const page = await openConsole(context, site, '/-/events', { key, refusals: [400] })
  await page.getByText('No events yet.').waitFor()
  assert.deepEqual(await axeFindingsEverywhere(page), [])
  const { id } = await ask('POST', '/projects', { name: hostileText, description: 'Long. '.repeat(200) })
  await ask('DELETE', `/projects/${(await ask('POST', '/projects', { name: 'Cellar' })).id}`)
  const [event] = (await ask('GET', `/events?record=${id}`))['data'] as [{ id: string }]
  for (const [view, text] of [
    ['/-/events?live=on&kind=created', 'Following'],
    ['/-/events?created_at[gte]=nonsense', 'Try again'],
    [`/-/events/${event.id}`, 'The record after the change'],
    [`/projects/${id}`, 'History'],
  ] as const) {
    await context.test(view, async () => {
      await show(page, site, view)
      await page.getByText(text).first().waitFor()
      assert.deepEqual(await axeFindingsEverywhere(page), [])
    })
  }
})

/** A proxy before a site, whose connections can be cut. */
async function startDoor(context: TestContext, { origin }: Site): Promise<{ readonly at: string; cut(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const behind = connect(Number(new URL(origin).port), '127.0.0.1')
    for (const each of [socket, behind]) each.on('error', () => {}).on('close', () => sockets.delete(each))
    sockets.add(socket).add(behind)
    socket.pipe(behind).pipe(socket)
  })
  const cut = () => {
    for (const each of sockets) each.destroy()
  }
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  context.after(() => {
    cut()
    server.close()
  })
  return { at: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut }
}

async function show(page: Page, site: Site, view: string): Promise<void> {
  await page.goto(`${site.origin}/console#${view}`)
}
