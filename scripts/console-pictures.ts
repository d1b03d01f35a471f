/**
 * `npm run images`: writes the pictures of the console, `docs/images/*.png`. Data, sizes and texts are always the same,
 * so that a picture changes only when the console does.
 */
import { mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { launchBrowser } from '../test/browser/chromium.ts'
import { type StandaloneSite, serveAtlas } from '../test/browser/standalone-site.ts'
import { root } from './package/contents.ts'
import { buildPages } from './package/pages.ts'

interface Picture {
  readonly name: string
  readonly view: string
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  /** What leads to the picture, and what is awaited. */
  readonly steps: (page: Page) => Promise<void>
}

/** The most bytes of a picture. */
const most = 150_000

const folder = fileURLToPath(new URL('docs/images/', root))
const largeCities =
  '/cities?population[gte]=1000000&sort=-population&columns=name,country_id,population,feature,capital'

/** Every picture. Times and ids are replaced, because they differ each time. */
function picturesOf(iceland: string): readonly Picture[] {
  const shown = (text: string) => async (page: Page) => {
    await page.getByText(text).first().waitFor()
    await page.waitForLoadState('networkidle')
  }
  const open = `/countries/${iceland}`
  return [
    { name: 'console-overview', view: '/', height: 480, steps: shown('138,398 records') },
    { name: 'console-table', view: largeCities, steps: shown('Shanghai') },
    { name: 'console-record', view: open, steps: shown('Reykjavik') },
    {
      name: 'console-deletion',
      view: open,
      async steps(page) {
        await page.getByRole('button', { name: 'Delete' }).click()
        await page.getByRole('dialog').getByText('cities', { exact: false }).first().waitFor()
        await page.waitForLoadState('networkidle')
      },
    },
    {
      name: 'console-change',
      view: largeCities,
      async steps(page) {
        for (const name of ['Shanghai', 'Karachi', 'Mumbai']) await page.getByLabel(`Select ${name}`).check()
        await page.getByRole('button', { name: 'Change selected' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Field').selectOption('Capital')
        await dialog.getByLabel('Capital', { exact: true }).selectOption('no')
        await page.waitForLoadState('networkidle')
      },
    },
    {
      name: 'console-history',
      view: `/-/history${open}`,
      height: 640,
      steps: shown('Nordic Europe'),
    },
    { name: 'console-dark', view: largeCities, dark: true, steps: shown('Shanghai') },
    { name: 'console-narrow', view: open, width: 360, height: 720, steps: shown('Reykjavik') },
  ]
}

/** Replaces ids and times in the page. */
const settle = `{
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { currentNode: node } = walker
    node.data = node.data
      .replace(/[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}/g, '01a1fe02-0d5a-7a53-9b7e-2d1f0c8a4e77')
      .replace(/…[\\da-f]{8}/g, '…0c8a4e77')
      .replace(/\\d{1,2} \\w+ 20\\d\\d, \\d\\d:\\d\\d(:\\d\\d)?/g, '21 Nov 2026, 08:00')
  }
}`

await buildPages(fileURLToPath(new URL('packages/server/pages', root)), 'quickly')
mkdirSync(folder, { recursive: true })
const site = await serveAtlas()
const browser = await launchBrowser()
try {
  const iceland = await idOfIceland(site)
  await changeIceland(site, iceland)
  for (const picture of picturesOf(iceland)) {
    const path = `${folder}${picture.name}.png`
    await take(picture, path)
    const { size } = statSync(path)
    console.log(`${picture.name}.png: ${Math.round(size / 1_000)} kB`)
    if (size > most) throw new Error(`${picture.name}.png has more than ${most / 1_000} kB.`)
  }
} finally {
  await browser.close()
  await site.close()
}

async function take({ view, width = 1280, height = 800, dark = false, steps }: Picture, path: string): Promise<void> {
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    ...{ locale: 'en-GB', timezoneId: 'UTC' },
  })
  await page.addInitScript(`sessionStorage.setItem('resourced.credential', '${site.key}')`)
  await page.goto(`${site.origin}/console#${view}`)
  await steps(page)
  await page.evaluate(settle)
  await page.screenshot({ path, caret: 'hide' })
  await page.close()
}

async function idOfIceland({ url, key }: StandaloneSite): Promise<string> {
  const response = await fetch(`${url}/countries?code=IS&fields=id`, { headers: { Authorization: `Bearer ${key}` } })
  const { data } = (await response.json()) as { data: [{ id: string }] }
  return data[0].id
}

/** Gives a country a history, by two callers. */
async function changeIceland({ url, key }: StandaloneSite, id: string): Promise<void> {
  const send = async (method: string, path: string, credential: string, body: object) => {
    const headers = { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return (await response.json()) as { readonly key?: string }
  }
  const { key: editor = '' } = await send('POST', '/api-keys', key, { subject: 'sigrun', roles: ['editor'] })
  await send('PATCH', `/countries/${id}`, editor, { subregion: 'Nordic Europe', languages: ['Icelandic', 'English'] })
  await send('PATCH', `/countries/${id}`, key, { subregion: 'Northern Europe', area: 103_001 })
  await send('PATCH', `/countries/${id}`, editor, { area: 103_000, languages: ['Icelandic'] })
}
