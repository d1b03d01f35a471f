/**
 * `npm run bench:console`: the size of the console, the time to its first view on a slow line, how it shows long lists,
 * and the findings of axe-core. Exits with 1 if a target is missed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { root } from '../scripts/package/contents.ts'
import { buildPages } from '../scripts/package/pages.ts'
import { axeFindingsEverywhere } from '../test/browser/axe.ts'
import { launchBrowser } from '../test/browser/chromium.ts'
import { screensOf } from '../test/browser/console-screens.ts'
import { type StandaloneSite, serveAtlas, serveStandalone } from '../test/browser/standalone-site.ts'
import { askAs, fillStudio } from '../test/browser/studio-records.ts'
import { studio } from '../test/declarations.ts'
import { reportBrowsing, reportMillion } from './console-lists.ts'

/** The slow 4G line of Lighthouse. Each request waits for the latency; connections and TLS cost nothing. */
const slowLine = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 }
/** How many times slower the processor is. */
const slowdown = 4
const rounds = 7

const pages = fileURLToPath(new URL('pages', root))

await buildPages(pages, 'smallest')
reportSize()
const browser = await launchBrowser()
try {
  const atlas = await serveAtlas()
  await reportFirstViews(browser, atlas)
  await reportBrowsing(browser, atlas, report)
  await atlas.close()
  await reportMillion(browser, report)
  await reportFindings(browser)
} finally {
  await browser.close()
}

function report(title: string, value: string, isReached = true): void {
  console.log(`${title}: ${value}${isReached ? '' : ' (missed)'}`)
  if (!isReached) process.exitCode = 1
}

/** The script, the styles and the page, compressed with gzip. Brotli, which browsers prefer, is smaller. */
function reportSize(): void {
  const folder = join(pages, 'console')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:js|css|html)$/.test(name),
  )
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0)
  report('Size of all files, gzip', `${(bytes / 1_000).toFixed(1)} kB (at most 135)`, bytes <= 135_000)
}

async function reportFirstViews(browser: Browser, site: StandaloneSite): Promise<void> {
  const milliseconds = (value: number) => `${Math.round(value)} ms`
  const signIn = await medianTime(browser, site, undefined)
  const circumstances = `latency 150 ms, 1.6 Mbit/s, processor ${slowdown} times slower, median of ${rounds}`
  console.log(`Slow 4G: ${circumstances}`)
  report('  sign-in page, first visit', `${milliseconds(signIn)} (less than 1,000)`, signIn < 1_000)
  report('  overview, first visit with a kept key', milliseconds(await medianTime(browser, site, site.key)))
}

/** The time from the beginning of the navigation to the frame that shows the view. */
async function medianTime(browser: Browser, site: StandaloneSite, key: string | undefined): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const page = await browser.newPage()
    const connection = await page.context().newCDPSession(page)
    await connection.send('Network.enable')
    await connection.send('Network.emulateNetworkConditions', slowLine)
    await connection.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    if (key !== undefined) await page.addInitScript(`sessionStorage.setItem('resourced.credential', '${key}')`)
    await page.addInitScript(noteFirstView(key === undefined ? 'button[type=submit]' : '.tiles'))
    await page.goto(`${site.origin}/console`)
    times.push(await page.evaluate('window.firstView'))
    await page.close()
  }
  return times.sort((one, other) => one - other)[Math.floor(rounds / 2)] ?? 0
}

/** Notes the time of the second frame after an element has appeared: the first one has painted it. */
function noteFirstView(selector: string): string {
  return `window.firstView = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector('${selector}') === null) return
      observer.disconnect()
      requestAnimationFrame(() => requestAnimationFrame(resolve))
    }).observe(document, { childList: true, subtree: true })
  })`
}

async function reportFindings(browser: Browser): Promise<void> {
  const site = await serveStandalone(completeCatalog(studio))
  const screens = screensOf(await fillStudio(askAs(site.url, site.key)))
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  page.setDefaultTimeout(10_000)
  const found = [...(await findingsOf(page, `${site.origin}/console`, async () => {}))]
  await page.addInitScript(`sessionStorage.setItem('resourced.credential', '${site.key}')`)
  for (const { view, steps } of screens)
    found.push(...(await findingsOf(page, `${site.origin}/console#${view}`, steps)))
  for (const each of found) console.log(each)
  const places = `${screens.length + 1} screens, two themes, three widths`
  report(`Findings of axe-core on ${places}`, `${found.length} (0)`, found.length === 0)
  await site.close()
}

async function findingsOf(page: Page, address: string, steps: (page: Page) => Promise<void>): Promise<string[]> {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(address)
  await page.reload()
  await page.locator('h1').first().waitFor()
  await steps(page)
  return axeFindingsEverywhere(page)
}
