/** JOB-1, JOB-6, LIM-8: exports and jobs in the console. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { noBrowser, openConsole, serveSite } from './browser.ts'

const skip = noBrowser

const notes = defineInterface({
  name: 'notes',
  limits: { exports: { count: 1 } },
  resources: {
    notes: {
      fields: {
        title: { type: 'string', search: true, sort: true, filter: true },
        pages: { type: 'integer', optional: true, filter: true, sort: true },
        body: { type: 'string', optional: true },
      },
      access: { read: 'anyone', create: 'anyone' },
    },
  },
})

const exported = 'JOB-6: the console exports a view, downloads its file, and shows and deletes the job'
test(exported, { skip }, async (context) => {
  const site = await serveSite(context, notes)
  const key = await site.keyFor('ann')
  const post = async (body: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${site.url}/notes`, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(response.status, 201)
  }
  await post({ title: 'short', pages: 1, body: 'not in the view' })
  await post({ title: 'long, "very"', pages: 90, body: '=1+1' })
  await post({ title: 'longer', pages: 100 })

  const page = await openConsole(context, site, '/notes?pages[gte]=50&sort=-pages&columns=title,pages&q=long', {
    key,
    refusals: [409],
  })
  const exporting = page.getByRole('dialog', { name: 'Export notes' })
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await exporting.getByText('An export cannot search.').waitFor()
  await exporting.getByRole('button', { name: 'Export without the search' }).waitFor()
  await page.keyboard.press('Escape')
  await page.evaluate("location.hash = '#/notes?pages[gte]=50&sort=-pages&columns=title,pages'")

  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const arrives = page.waitForEvent('download')
  await exporting.getByRole('button', { name: 'Export', exact: true }).click()

  const download = await arrives
  assert.match(download.suggestedFilename(), /^notes-[0-9a-f]{8}\.csv$/)
  const lines = (await readFile(await download.path(), 'utf8')).split('\r\n')
  assert.deepEqual(
    lines.map((line) => line.replace(/^[0-9a-f-]{36}/, 'ID')),
    ['id,title,pages', 'ID,"longer",100', 'ID,"long, ""very""",90', ''],
  )
  assert.ok(!page.url().includes(key))
  await exporting.getByRole('button', { name: 'Close' }).click()

  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await exporting.getByLabel('All fields').check()
  await exporting.getByLabel('NDJSON').check()
  await exporting.getByRole('button', { name: 'Export', exact: true }).click()
  await exporting.getByText('EXPORT_QUOTA').waitFor()
  await exporting.getByRole('link', { name: 'Delete exports' }).click()

  await page.getByRole('heading', { name: 'Jobs' }).waitFor()
  assert.match(await page.getByRole('row').nth(1).innerText(), /Export notes\s+succeeded\s+ann/)
  await page.getByRole('link', { name: 'Export notes' }).click()
  const again = page.waitForEvent('download')
  await page.getByRole('button', { name: /^Download/ }).click()
  assert.equal((await readFile(await (await again).path(), 'utf8')).split('\r\n').length, 4)
  await page.getByRole('button', { name: 'Delete with its file' }).click()
  await page.getByText('No jobs yet.').waitFor()
})

test('HED-3: a download goes on where its connection broke', { skip }, async (context) => {
  const site = await serveSite(context, notes)
  const key = await site.keyFor('ann')
  const page = await openConsole(context, site, '/notes', { key, disconnects: true })
  const ranges: (string | undefined)[] = []
  await page.route('**/content', async (route) => {
    const { range } = route.request().headers()
    ranges.push(range)
    if (range === undefined) {
      const response = await route.fetch()
      // The length that it announces is more than it brings.
      const headers = { ...response.headers(), 'content-length': '3' }
      await route.fulfill({ response, headers, body: (await response.body()).subarray(0, 3) })
    } else if (ranges.length === 2) await route.abort('connectionreset')
    else await route.continue()
  })
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const arrives = page.waitForEvent('download')
  await page.getByRole('dialog').getByRole('button', { name: 'Export', exact: true }).click()
  const text = await readFile(await (await arrives).path(), 'utf8')
  assert.equal(text, 'id,title,pages,body,created_at\r\n')
  assert.deepEqual(ranges, [undefined, 'bytes=3-', 'bytes=3-'])
})
