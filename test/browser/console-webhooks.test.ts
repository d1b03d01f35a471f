/** EVT-8 to EVT-11: webhooks and deliveries in the console. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { isSignedBy, startReceiver } from '../receiver.ts'
import { until } from '../until.ts'
import { axeFindingsEverywhere } from './axe.ts'
import { noBrowser, openConsole, type Site, serveSite } from './browser.ts'
import { requestsOf } from './console.ts'
import { keyboard, mouse } from './hands.ts'
import { hostileText } from './studio-records.ts'
import { studioWithEvents } from './studio-with-events.ts'

const skip = noBrowser
const options = { rateLimit: 'off', webhookNetwork: ['127.0.0.1/32'] } as const

async function start(context: TestContext) {
  const site = await serveSite(context, studioWithEvents, options)
  const key = await site.keyFor('ann', ['admin'])
  return { site, key, ask: requestsOf(site, key) }
}

async function show(page: Page, site: Site, view: string): Promise<void> {
  await page.goto(`${site.origin}/console#${view}`)
}

for (const take of [mouse, keyboard]) {
  const made = `EVT-8: a webhook is made, and its secret is shown once and verifies deliveries (${take.name})`
  test(made, { skip }, async (context) => {
    const { site, key, ask } = await start(context)
    const receiver = await startReceiver(context)
    const page = await openConsole(context, site, '/-/webhooks', { key, refusals: [400] })
    await page.getByText('No webhooks yet.').waitFor()
    const hands = take(page)
    await hands.press('New webhook')
    await hands.type('Address', 'ftp://example.com/')
    await hands.enter('Description', 'To the warehouse')
    await page.getByRole('alert').waitFor()
    await hands.enter('Address', receiver.url)
    const shown = page.getByRole('dialog', { name: 'The secret of the webhook' })
    await shown.getByText('only once').waitFor()
    await shown.getByRole('button', { name: 'Copy' }).waitFor()
    await shown.getByText('standardwebhooks').waitFor()
    const secret = await shown.locator('pre').innerText()
    assert.match(secret, /^whsec_/)
    await page.keyboard.press('Escape')
    await hands.press('I have kept it')
    await page.getByRole('heading', { name: '127.0.0.1' }).waitFor()
    assert.ok(!(await page.content()).includes(secret), 'the secret is gone')

    await ask('POST', '/projects', { name: 'Kitchen' })
    await until(() => receiver.got.length > 0)
    assert.ok(receiver.got.every((message) => isSignedBy(secret, message)))
    await page.reload()
    await page.getByText(/^204 in/).waitFor()
    assert.ok(!(await page.content()).includes(secret))
  })
}

test('EVT-8: a webhook is edited, turned off and on, given another secret, and deleted', { skip }, async (context) => {
  const { site, key, ask } = await start(context)
  const receiver = await startReceiver(context)
  const { id } = await ask('POST', '/webhooks', { url: receiver.url })
  // The address that other collections have leads to the view of the webhook.
  const page = await openConsole(context, site, `/webhooks/${id}`, { key })
  const { press, type } = mouse(page)
  const webhook = () => ask('GET', `/webhooks/${id}`)

  await press('Edit')
  await page.getByLabel('deleted', { exact: true }).uncheck()
  await page.getByLabel('tasks', { exact: true }).check()
  await type('Filter by collection, as JSON', '{"tasks": ')
  await press('Save')
  assert.equal(await page.locator('textarea:invalid').count(), 1)
  await type('Filter by collection, as JSON', '{"tasks": {"status": "open"}}')
  await press('Save')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const { events, collections, filter } = await webhook()
  assert.deepEqual(
    { events, collections, filter },
    {
      events: ['created', 'updated', 'restored', 'purged'],
      collections: ['tasks'],
      filter: { tasks: { status: 'open' } },
    },
  )

  await press('Turn off')
  await page.getByText('off', { exact: true }).waitFor()
  assert.equal((await webhook())['active'], false)
  await press('Turn on')
  await page.getByText('on', { exact: true }).waitFor()

  await press('Rotate the secret')
  await press('Rotate')
  const secret = await page.getByRole('dialog').locator('pre').innerText()
  await press('I have kept it')
  const { id: project } = await ask('POST', '/projects', { name: 'Kitchen' })
  await ask('POST', '/tasks', { title: 'Tiles', project_id: project })
  await until(() => receiver.got.length > 0)
  assert.ok(receiver.got.every((message) => isSignedBy(secret, message)))

  await press('Delete')
  await press('Delete')
  await page.getByText('No webhooks yet.').waitFor()
})

test('EVT-11: a failed delivery shows its answer, and is sent again', { skip }, async (context) => {
  const { site, key, ask } = await start(context)
  const receiver = await startReceiver(context, () => 410)
  const { id } = await ask('POST', '/webhooks', { url: receiver.url })
  const { id: project } = await ask('POST', '/projects', { name: 'Kitchen' })
  await until(() => receiver.got.length > 0)
  const page = await openConsole(context, site, '/-/deliveries', { key })
  await page.getByText(/^410 in/).waitFor()
  assert.match(await page.getByRole('row').nth(1).innerText(), /created\s+Projects .*127\.0\.0\.1.*failed, 1 attempt/s)
  await page.getByRole('link', { name: 'created' }).click()
  await page.getByText('thanks').waitFor()
  await page.getByRole('link', { name: 'Event', exact: true }).click()
  await page.getByText('The record after the change').waitFor()
  await page.getByRole('link', { name: 'Deliveries' }).nth(1).click()
  await page.getByText(/^410 in/).waitFor()

  // 410 turned the webhook off.
  await show(page, site, `/-/webhooks/${id}`)
  await page.getByText(/^turned off by the server/).waitFor()
  receiver.answer = () => 204
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('on', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText(/^204 in/).waitFor()
  assert.deepEqual(receiver.typesOf(project), ['projects.created', 'projects.created'])
})

test('EVT-12: deliveries to functions are in the same list, and are sent again', { skip }, async (context) => {
  let calls = 0
  const created = () => {
    if (calls++ === 0) throw new Error('The warehouse is closed.')
  }
  const notes = defineInterface({
    name: 'notes',
    resources: { notes: { fields: { text: { type: 'string' } }, events: true, on: { created } } },
  })
  const site = await serveSite(context, notes, options)
  const key = await site.keyFor('ann', ['admin'])
  await requestsOf(site, key)('POST', '/notes', { text: 'x' })
  const page = await openConsole(context, site, '/-/deliveries', { key })
  await page.getByRole('button', { name: 'Send again' }).waitFor()
  const row = await page.getByRole('row').nth(1).innerText()
  assert.match(row, /created\s+Notes .*resources\.notes\.on\s+succeeded, 2 attempts/s)
  const before = await page.getByRole('row').count()
  await page.getByRole('button', { name: 'Send again' }).first().click()
  await page.getByText('It is sent again').waitFor()
  await page.getByRole('row').nth(before).waitFor()
})

test('EVT-8: who makes a webhook with a credential that expires is told when the webhook ends', {
  skip,
}, async (context) => {
  const { site } = await start(context)
  const end = new Date(Date.now() + 3_600_000).toISOString()
  const key = await site.keyFor('eve', ['admin'], { expires_at: end })
  const page = await openConsole(context, site, '/-/webhooks', { key })
  await mouse(page).press('New webhook')
  await mouse(page).enter('Address', 'https://example.com/')
  const shown = page.getByRole('dialog', { name: 'The secret of the webhook' })
  await shown.getByText('The webhook ends with the credential that made it').waitFor()
  assert.equal(await shown.locator('time').getAttribute('datetime'), end)
  await mouse(page).press('I have kept it')
  assert.equal(await page.locator('main p time').getAttribute('datetime'), end)
})

test('who may not make webhooks is told why, and sees none of others', { skip }, async (context) => {
  const { site, ask } = await start(context)
  await ask('POST', '/webhooks', { url: 'https://example.com/', active: false })
  const page = await openConsole(context, site, '/-/webhooks', { key: await site.keyFor('bob') })
  await page.getByText('No webhooks yet.').waitFor()
  await page.getByText('You may create webhooks only if you have the role admin.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'New webhook' }).count(), 0)
})

test('every view of webhooks passes the rules of axe-core', { skip }, async (context) => {
  const { site, key, ask } = await start(context)
  const page = await openConsole(context, site, '/-/webhooks', { key })
  await page.getByText('No webhooks yet.').waitFor()
  assert.deepEqual(await axeFindingsEverywhere(page), [])
  const long = `https://example.com/${'long'.repeat(60)}?to=${encodeURIComponent(hostileText)}`
  const { id } = await ask('POST', '/webhooks', { url: long, active: false, description: hostileText })
  const receiver = await startReceiver(context, () => 500)
  await ask('POST', '/webhooks', { url: receiver.url, collections: ['projects'] })
  await ask('POST', '/projects', { name: hostileText })
  await until(() => receiver.got.length > 0)
  const [delivery] = (await ask('GET', '/deliveries'))['data'] as [{ id: string }]
  const press = (name: string) => mouse(page).press(name)
  const screens: readonly (readonly [view: string, text: string | RegExp, steps?: () => Promise<void>])[] = [
    ['/-/webhooks', 'Made by'],
    ['/-/webhooks', 'Collections: none means all', () => press('New webhook')],
    [`/-/webhooks/${id}`, 'No deliveries yet.'],
    [`/-/webhooks/${id}`, 'for a day', () => press('Rotate the secret')],
    [`/-/webhooks/${id}`, 'You cannot undo this', () => press('Delete')],
    ['/-/deliveries', 'pending'],
    [`/-/deliveries/${delivery.id}`, 'The last answer'],
  ]
  for (const [view, text, steps] of screens) {
    await context.test(`${view}, ${text}`, async () => {
      await page.setViewportSize({ width: 1280, height: 800 })
      await show(page, site, view)
      await page.reload()
      await page.locator('h1').first().waitFor()
      await steps?.()
      await page.getByText(text).first().waitFor()
      assert.deepEqual(await axeFindingsEverywhere(page), [])
    })
  }
})
