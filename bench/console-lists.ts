/** Long lists in the console: memory after browsing, time to reach any part, evenness of scrolling. */
import type { Browser, Page } from 'playwright-core'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { Catalog } from 'resourced-contract/model/resource'
import * as Type from 'resourced-contract/model/type'
import { importRecords } from '../packages/server/src/jobs/import.ts'
import type { SourceRecord } from '../packages/server/src/jobs/source.ts'
import { openSqlite } from '../packages/server/src/storage/sqlite/storage.ts'
import { type StandaloneSite, serveStandalone } from '../test/browser/standalone-site.ts'

/** Prints a figure, and whether its target is reached. */
export type Report = (title: string, value: string, isReached?: boolean) => void

/** How many records are browsed. */
const browsed = 100_000
const million = 1_000_000
/** How many frames are measured. */
const frames = 600

const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(1)
const milliseconds = (value: number) => `${value.toFixed(0)} ms`

/** Scrolls down by almost two screens at a time, each of which has to show its records, until a row is reached. */
const browse = `async (wanted) => {
  const scroller = document.querySelector('.records')
  for (let row = 0; row < wanted; ) {
    scroller.scrollTop += 1.9 * scroller.clientHeight
    row = Math.floor((scroller.scrollTop + scroller.clientHeight) / 38) - 3
    const since = performance.now()
    while (document.querySelector('tr[data-row="' + row + '"]') === null) {
      if (performance.now() - since > 30_000) throw new Error('The table ends before row ' + row)
      await new Promise((resolve) => setTimeout(resolve, 4))
    }
  }
}`

/** Scrolls by 60 pixels in each frame, and gives the duration of each. */
const scrollEvenly = `async (count) => {
  const scroller = document.querySelector('.records')
  const durations = []
  let last = performance.now()
  for (let frame = 0; frame < count; frame++) {
    scroller.scrollTop += 60
    const now = await new Promise((resolve) => requestAnimationFrame(resolve))
    durations.push(now - last)
    last = now
  }
  return durations
}`

/** Moves the scroll bar to a part of the list, and gives the time until all rows of the screen are there. */
const moveTo = `async (share) => {
  const scroller = document.querySelector('.records')
  const since = performance.now()
  scroller.scrollTop = share * (scroller.scrollHeight - scroller.clientHeight)
  const isShown = () => {
    const { top, bottom } = scroller.getBoundingClientRect()
    const rows = [...scroller.querySelectorAll('tbody tr')].filter((row) => {
      const place = row.getBoundingClientRect()
      return place.bottom > top && place.top < bottom
    })
    return rows.length > 5 && rows.every((row) => row.dataset.row !== undefined)
  }
  do await new Promise((resolve) => requestAnimationFrame(resolve))
  while (!isShown() && performance.now() - since < 30_000)
  return performance.now() - since
}`

/** Browses 100,000 records from the first one on. */
export async function reportBrowsing(browser: Browser, site: StandaloneSite, report: Report): Promise<void> {
  const page = await openList(browser, site, '/cities')
  const before = await memoryOf(page)
  const started = performance.now()
  await page.evaluate(`(${browse})(${browsed})`)
  const seconds = (performance.now() - started) / 1_000
  const after = await memoryOf(page)
  const heap = `${megabytes(before.heap)} MB before, ${megabytes(after.heap)} MB after (at most 50)`
  report(`JavaScript heap after ${browsed.toLocaleString('en')} records`, heap, after.heap <= 50_000_000)
  report('  nodes in the document', `${before.nodes} before, ${after.nodes} after`)
  report('  records a second', (browsed / seconds).toFixed(0))
  await page.close()
}

/** Reaches the end of a million records by one key, and other parts with the scroll bar. */
export async function reportMillion(browser: Browser, report: Report): Promise<void> {
  const catalog = completeCatalog(items)
  const site = await serveStandalone(catalog, (file) => fill(file, catalog))
  const page = await openList(browser, site, '/items?sort=number')
  const before = await memoryOf(page)
  await page.locator('tr[data-row="2"] a').first().focus()
  const started = performance.now()
  await page.keyboard.press('End')
  await page.locator(`tr[data-row="${million - 1}"]`).waitFor()
  report('A million records: End shows the last one after', milliseconds(performance.now() - started))
  const jumps: number[] = []
  for (let jump = 1; jump <= 20; jump++) jumps.push(await page.evaluate<number>(`(${moveTo})(${(jump * 0.619) % 1})`))
  report('  another part, median and longest of 20', `${milliseconds(at(jumps, 0.5))}, ${milliseconds(at(jumps, 1))}`)
  const durations = await page.evaluate<number[]>(`(${scrollEvenly})(${frames})`)
  const [median, most, longest] = [0.5, 0.99, 1].map((part) => milliseconds(at(durations, part)))
  report(`  frames while scrolling: median, 99 % of ${frames}, longest`, `${median}, ${most}, ${longest}`)
  const after = await memoryOf(page)
  const heap = `${megabytes(before.heap)} MB before, ${megabytes(after.heap)} MB after (at most 50)`
  report('  JavaScript heap', heap, after.heap <= 50_000_000)
  await page.close()
  await site.close()
}

const items = defineInterface({
  name: 'items',
  resources: { items: { fields: { name: Type.String(), number: Type.Integer({ sort: true }) } } },
})

async function fill(path: string, catalog: Catalog): Promise<void> {
  const resource = catalog.resources.get('items')
  if (resource === undefined) throw new Error('The catalog has no items.')
  const storage = openSqlite(catalog, { path, synchronous: 'off' })
  const caller = { id: 'bench', roles: [], claims: {} }
  await importRecords({ storage, resource, records: records(), caller })
  await storage.close()
}

async function* records(): AsyncGenerator<SourceRecord> {
  for (let number = 0; number < million; number++) {
    yield { line: number + 1, value: { name: `Item ${number}`, number }, size: 0 }
  }
}

async function openList(browser: Browser, { origin, key }: StandaloneSite, view: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.addInitScript(`sessionStorage.setItem('resourced.credential', '${key}')`)
  await page.goto(`${origin}/console#${view}`)
  await page.getByRole('row').nth(20).waitFor()
  return page
}

async function memoryOf(page: Page): Promise<{ heap: number; nodes: number }> {
  const connection = await page.context().newCDPSession(page)
  await connection.send('HeapProfiler.collectGarbage')
  const { usedSize } = await connection.send('Runtime.getHeapUsage')
  const { nodes } = await connection.send('Memory.getDOMCounters')
  await connection.detach()
  return { heap: usedSize, nodes }
}

/** The value that a part of the others is not greater than. */
function at(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}
