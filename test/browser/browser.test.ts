/** The helper of these tests fails for what a page must not do. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { studio } from '../declarations.ts'
import { noBrowser, openPage, serveSite } from './browser.ts'

interface Misdeed {
  readonly name: string
  /** Resolves when the page has done it. */
  readonly commit: (page: Page) => Promise<unknown>
  readonly complaint: RegExp
}

const misdeeds: readonly Misdeed[] = [
  {
    name: 'logs an error',
    commit: (page) => page.evaluate("console.error('oops')"),
    complaint: /the page logs: oops/,
  },
  {
    name: 'throws an error',
    commit: (page) => Promise.all([page.waitForEvent('pageerror'), page.evaluate('void setTimeout(() => oops)')]),
    complaint: /the page throws: oops is not defined/,
  },
  {
    name: 'asks another origin',
    commit: (page) => page.goto('http://127.0.0.1:1/').catch(() => {}),
    complaint: /the page asks http:\/\/127\.0\.0\.1:1\//,
  },
  {
    name: 'asks a private address',
    commit: (page) => page.evaluate("fetch('/internal').then(() => {})"),
    complaint: /\/internal is not a part of the interface/,
  },
  {
    name: 'violates its policy',
    commit: (page) => Promise.all([page.waitForEvent('console'), page.evaluate("void fetch('http://b.example/')")]),
    complaint: /Content Security Policy/,
  },
  {
    name: 'is refused',
    commit: (page) => Promise.all([page.waitForEvent('console'), page.evaluate("void fetch('v1/projects')")]),
    complaint: /status of 401/,
  },
]

for (const { name, commit, complaint } of misdeeds) {
  test(`a test fails if its page ${name}`, { skip: noBrowser }, async (context) => {
    const site = await serveSite(context, studio)
    const ends: (() => Promise<void>)[] = []
    const watched = { after: (end: () => Promise<void>) => void ends.push(end) } as unknown as TestContext
    const page = await openPage(watched, site, '/docs')
    await commit(page)
    await assert.rejects(async () => {
      for (const end of ends) await end()
    }, complaint)
  })
}
