/** The console's views of the server in a real browser: versions and health say what is so, and no more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { dayFromNow, notebooks } from '../declarations-versions.ts'
import { noBrowser, openConsole, serveSite } from './browser.ts'

const skip = noBrowser
const versions = { v1: { deprecated: dayFromNow(-9), sunset: dayFromNow(50), guide: 'https://example.org/v2' }, v2: {} }

const figure = (page: Page, title: string) => page.locator('.tiles li', { hasText: title }).locator('strong')

test('who looks at the versions uses none of them', { skip }, async (context) => {
  const site = await serveSite(context, notebooks(versions), { rateLimit: 'off' })
  const key = await site.keyFor('ann', ['admin'])
  const page = await openConsole(context, site, '/-/versions', { key })
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const row = page.locator('tr', { hasText: 'v1' })
  await row.getByText('deprecated', { exact: true }).waitFor()
  await row.getByText('https://example.org/v2').waitFor()
  await page.reload()
  await row.getByText('deprecated', { exact: true }).waitFor()
  // A program that does use the version is named.
  const used = await fetch(`${site.origin}/v1/notes`, {
    headers: { authorization: `Bearer ${await site.keyFor('old-program', ['admin'])}` },
  })
  assert.equal(used.status, 200)
  await row.getByText('old-program (1)').waitFor()
  assert.doesNotMatch(await row.innerText(), /ann/)
  assert.deepEqual(asked.filter((path) => path.startsWith('/v1/')), []) // biome-ignore format: a line
  await page.locator('tr', { hasText: 'v2' }).getByText('live', { exact: true }).waitFor()
})

test('health has no figure of requests that were too few, and none that is not finite', { skip }, async (context) => {
  const site = await serveSite(context, notebooks(versions), { rateLimit: 'off' })
  const key = await site.keyFor('ann', ['admin'])
  const page = await openConsole(context, site, '/-/health', { key })
  await page.getByText('The server is ready.').waitFor()
  assert.equal(await figure(page, '99 of 100').innerText(), '–')
  await page.route('**/health/metrics', async (route) => {
    const name = 'resourced_request_duration_seconds_bucket'
    const body = `${name}{le="5"} 900\n${name}{le="+Inf"} 1000\nresourced_requests_total{status="200"} 1000\n`
    await route.fulfill({ contentType: 'text/plain', body })
  })
  await page.reload()
  assert.equal(await figure(page, 'More than 1 of 100 requests takes longer than').innerText(), '5 s')
  assert.doesNotMatch(await page.locator('main').innerText(), /Infinity|NaN/)
})

test('a server without metrics, and a caller who may not read them, are no problem', { skip }, async (context) => {
  const site = await serveSite(context, notebooks(versions), { rateLimit: 'off' })
  const other = await openConsole(context, site, '/-/health', { key: await site.keyFor('bob', []) })
  const asked: string[] = []
  other.on('request', (request) => asked.push(request.url()))
  await other.getByText('Only administrators see the metrics.').waitFor()
  await other.locator('nav a', { hasText: 'Versions' }).click()
  await other.locator('tr', { hasText: 'v1' }).getByText('deprecated', { exact: true }).waitFor()
  assert.deepEqual(asked.filter((url) => url.includes('/metrics')), []) // biome-ignore format: a line
  const page = await openConsole(context, site, '/', { key: await site.keyFor('ann', ['admin']), refusals: [404] })
  // As an application answers that is embedded.
  await page.route('**/health/metrics', async (route) => {
    const problem = { status: 404, code: 'NOT_FOUND', detail: 'This server collects no metrics.' }
    await route.fulfill({ status: 404, contentType: 'application/problem+json', body: JSON.stringify(problem) })
  })
  for (const view of ['Health', 'Versions']) {
    await page.locator('nav a', { hasText: view }).click()
    await page.locator('p.quiet', { hasText: 'This server collects no metrics.' }).waitFor()
    assert.equal(await page.locator('[role=alert]').count(), 0)
  }
})
