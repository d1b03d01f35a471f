/**
 * Pages in a real browser. A test that uses it fails if a page logs an error, violates its Content-Security-Policy, or
 * sends a request to another origin or to an address that is not a part of the public interface.
 */
import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { type ServeOptions, type Serving, serve } from '../../packages/server/src/server/serve.ts'
import type { NewKey } from '../../packages/server/src/storage/storage.ts'
import { completeVersions, type Versions } from '../../packages/server/src/versions/versions.ts'
import { newDatabase } from '../engine.ts'
import { launchBrowser } from './chromium.ts'
import { publicRequests } from './public-requests.ts'

export { noBrowser } from './chromium.ts'

let launching: Promise<Browser> | undefined

after(async () => {
  await (await launching?.catch(() => undefined))?.close()
})

/** The browser of this test file. */
export async function browser(): Promise<Browser> {
  launching ??= launchBrowser()
  return launching
}

/** What each test has opened in the browser. It is closed before its server is: its last requests would be refused. */
const opened = new WeakMap<TestContext, BrowserContext[]>()

/** An interface on a free port, with a key for each caller. */
export interface Site extends Pick<Serving, 'origin' | 'app'> {
  /** The address of the current version. */
  readonly url: string
  readonly versions: Versions
  /** Makes a key, or another one with an id of its own. */
  keyFor(subject: string, roles?: readonly string[], more?: Partial<NewKey>): Promise<string>
}

/** Serves a declaration until the end of a test. */
export async function serveSite(
  context: TestContext,
  declaration: InterfaceDeclaration,
  options: Partial<ServeOptions> & { readonly basePath?: string } = {},
): Promise<Site> {
  const { basePath, ...others } = options
  const versions = completeVersions(declaration, basePath)
  const database = await newDatabase()
  const serving = await serve({
    ...{ catalog: versions.stored, versions, database: database.address, host: '127.0.0.1', port: 0, http: true },
    ...others,
  })
  context.after(async () => {
    await Promise.all((opened.get(context) ?? []).map((profile) => profile.close()))
    await serving.close()
    await database.remove()
  })
  const { origin, url, app } = serving
  return {
    ...{ origin, url, app, versions },
    async keyFor(subject, roles = [], more = {}) {
      const key = newKey()
      await app.storage.keys.add({
        ...{ id: `key-of-${subject}`, hash: hashOfKey(key), hint: hintOfKey(key), subject, roles },
        ...{ expires_at: null, created_at: new Date().toISOString(), revoked_at: null },
        ...more,
      })
      return key
    },
  }
}

/** How a page is seen. */
export interface View {
  /** In pixels; 1280 × 800 by default. */
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  /** Statuses of 400 and more that the test provokes: browsers log them as errors. */
  readonly refusals?: readonly number[]
  /** Whether the test cuts connections: browsers log requests without a response as errors. */
  readonly disconnects?: boolean
  /** Other origins that pages may ask. */
  readonly others?: readonly string[]
  /** Where the site is reached, with the prefix of a proxy; its own origin by default. */
  readonly at?: string
  /** A key that the tab has kept: the console opens without asking for one. */
  readonly key?: string
}

/** Opens an address of a site, such as `/console`. What is wrong with the page fails the test at its end. */
export async function openPage(context: TestContext, site: Site, path: string, view: View = {}): Promise<Page> {
  const { width = 1280, height = 800, dark = false, refusals = [], disconnects = false } = view
  const { others = [], at = site.origin, key } = view
  const profile = await (await browser()).newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    ignoreHTTPSErrors: true,
  })
  opened.set(context, [...(opened.get(context) ?? []), profile])
  const isPublic = publicRequests(site.versions)
  const complaints: string[] = []
  const isLost = (text: string) => disconnects && text.includes('net::ERR_')
  const home = new URL(`${at}/`)
  // Of tabs that pages open, too.
  profile.on('console', (message) => {
    const text = message.text()
    const status = /responded with a status of (\d{3})/.exec(text)?.[1]
    const isExpected = status === undefined ? isLost(text) : refusals.includes(Number(status))
    if (message.type() === 'error' && !isExpected) complaints.push(`the page logs: ${text} ${message.location().url}`)
  })
  profile.on('weberror', (error) => complaints.push(`the page throws: ${error.error().message}`))
  profile.on('request', (request) => {
    const { origin, pathname, protocol } = new URL(request.url())
    if (others.includes(origin) || protocol === 'data:') return
    if (origin !== home.origin) complaints.push(`the page asks ${request.url()}`)
    else if (!isPublic(request.method(), pathname.slice(home.pathname.length - 1))) {
      complaints.push(`${request.method()} ${pathname} is not a part of the interface`)
    }
  })
  const page = await profile.newPage()
  page.setDefaultTimeout(30_000)
  if (key !== undefined) await page.addInitScript(`sessionStorage.setItem('resourced.credential', '${key}')`)
  context.after(async () => {
    await profile.close()
    assert.deepEqual(complaints, [])
  })
  await page.goto(`${at}${path}`)
  return page
}

/** Opens a view of the console, such as `/tasks?status=open`, and waits for its heading. */
export async function openConsole(context: TestContext, site: Site, view: string, options: View): Promise<Page> {
  const page = await openPage(context, site, `/console#${view}`, options)
  await page.locator('h1').first().waitFor()
  return page
}
