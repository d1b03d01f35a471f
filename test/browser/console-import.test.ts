/** MET-9, ERR-3: imports in the console. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { noBrowser, openConsole, serveSite } from './browser.ts'

const notes = defineInterface({
  name: 'notes',
  resources: {
    notes: {
      fields: {
        title: { type: 'string', minLength: 1, maxLength: 40, sort: true },
        pages: { type: 'integer', optional: true },
        is_read: { type: 'boolean', optional: true },
        due_on: { type: 'string', format: 'date', optional: true },
      },
      access: { read: 'anyone', create: 'anyone' },
    },
  },
})

const imported = 'MET-9: an import is interrupted and continued, creates nothing twice, and says which lines are wrong'
test(imported, { skip: noBrowser }, async (context) => {
  const site = await serveSite(context, notes)
  const key = await site.keyFor('ann')
  const page = await openConsole(context, site, '/-/import/notes', { key, refusals: [400], disconnects: true })

  const rows = Array.from({ length: 60 }, (_, index) => `"Note\n${index}";${index};yes;31.12.2026;x`)
  rows[20] = '"<img src=x onerror=alert(1)>";many;no;;x'
  rows[40] = ';1;maybe;2026-13-01;x'
  const buffer = Buffer.from(`Title;Pages;Is read;dueOn;Colour\r\n${rows.join('\r\n')}\r\n`)
  const choose = page.getByLabel('Drop a CSV, JSON or NDJSON file here')
  await choose.setInputFiles({ name: 'notes.csv', mimeType: 'text/csv', buffer })
  await page.getByText('60 records.').waitFor()
  const fieldOf = (column: string) => page.getByLabel(`Field of ${column}`, { exact: true }).inputValue()
  assert.deepEqual(await Promise.all(['Title', 'Pages', 'Is read', 'dueOn', 'Colour'].map(fieldOf)), [
    ...['title', 'pages', 'is_read', 'due_on'],
    '',
  ])

  // From some point on the server still creates what it is sent, but no response arrives.
  let isLost = true
  let count = 0
  await page.route('**/v1/notes', async (route) => {
    count += 1
    if (!isLost || count < 30) return route.continue()
    await route.fetch()
    return route.abort('internetdisconnected')
  })
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  // The console tries a few times by itself.
  await page.getByText('The server does not answer.').waitFor({ timeout: 90_000 })
  assert.equal(await page.getByRole('status').filter({ hasText: 'Paused' }).count(), 1)
  isLost = false
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByText('58 created, 2 refused.').first().waitFor()

  const listed = await fetch(`${site.url}/notes?limit=100&sort=title`, { headers: { Authorization: `Bearer ${key}` } })
  const { data, pagination } = (await listed.json()) as {
    data: Record<string, unknown>[]
    pagination: { total_count: number }
  }
  assert.equal(pagination.total_count, 58)
  assert.equal(new Set(data.map(({ title }) => title)).size, 58)
  const { title, pages, is_read, due_on } = data[0] ?? {}
  assert.deepEqual([title, pages, is_read, due_on], ['Note\n0', 0, true, '2026-12-31'])

  const cells = await page.getByRole('row').allInnerTexts()
  // Every record has two lines, and the first one is that of the columns.
  assert.match(cells[1] ?? '', /^42\s+pages must be an integer/)
  assert.match(cells[2] ?? '', /^81\s.*title .*is_read .*due_on /s)
  const saves = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save the refused lines' }).click()
  const saved = await readFile(await (await saves).path(), 'utf8')
  assert.match(saved, /^\ufeffimport_error;Title;Pages;Is read;dueOn;Colour\n/)

  const corrected = saved.replace(';many;', ';3;').replace(/;;1;maybe;2026-13-01;/, ';Corrected;1;no;;')
  await page.getByRole('button', { name: 'Import another file' }).click()
  await choose.setInputFiles({ name: 'refused.csv', mimeType: 'text/csv', buffer: Buffer.from(corrected) })
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('2 created, 0 refused.').first().waitFor()
  await page.getByRole('link', { name: 'See the records' }).click()
  await page.getByText('60 records').waitFor()
})
