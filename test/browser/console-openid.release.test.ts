/** DOC-4, AUT-1: people sign in to the pages with an OpenID provider. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { studio } from '../declarations.ts'
import { noBrowser, openPage, type Site, serveSite, type View } from './browser.ts'
import { revoke, signedInAs, signInWith } from './console.ts'
import { type Provider, startProvider } from './provider.ts'

const skip = noBrowser

interface Scene {
  readonly site: Site
  readonly provider: Provider
  readonly page: Page
}

async function scene(context: TestContext, path: string, view: View = {}): Promise<Scene> {
  const provider = await startProvider(context)
  const site = await serveSite(context, studio, provider.trusted)
  const page = await openPage(context, site, path, { others: [new URL(provider.issuer).origin], ...view })
  return { site, provider, page }
}

const button = (page: Page) => page.getByRole('button', { name: /^Sign in with 127/ })

async function signInThere(page: Page): Promise<void> {
  await button(page).click()
  await page.getByRole('link', { name: /^Continue as/ }).click()
}

/** What a page keeps in its tab, but for the theme. */
function kept(page: Page): Promise<string[]> {
  return page.evaluate('Object.keys(sessionStorage)')
}

const whole = 'AUT-1: somebody signs in with a provider, comes back to the view, and nothing of it stays in the address'
test(whole, { skip }, async (context) => {
  const { site, provider, page } = await scene(context, '/console#/projects?sort=-name')
  await signInThere(page)
  assert.equal(await signedInAs(page), 'ann')
  assert.equal(page.url(), `${site.origin}/console#/projects?sort=-name`)
  assert.deepEqual(await kept(page), [], 'the token is in memory only')
  assert.equal(await page.evaluate('localStorage.length + document.cookie.length'), 0)
  assert.ok(!(await page.content()).includes('eyJ'))
  await page.goBack()
  assert.ok(!page.url().startsWith(`${site.origin}/console?`), 'the code is not in the history')
  assert.deepEqual(provider.asked, ['authorization_code'])
})

const reload = 'a sign-in that is kept survives a reload, is renewed without a word, and ends at the provider'
test(reload, { skip }, async (context) => {
  const { site, provider, page } = await scene(context, '/console')
  provider.lifetime = 11
  await page.getByLabel('Keep me signed in').check()
  await signInThere(page)
  assert.equal(await signedInAs(page), 'ann')
  await page.waitForTimeout(1_500)
  await page.getByRole('link', { name: 'Projects' }).first().click()
  await page.getByText('Nothing here yet').waitFor()
  assert.deepEqual(new Set(provider.asked), new Set(['authorization_code', 'refresh_token']))
  provider.lifetime = 300
  await page.reload()
  assert.equal(await signedInAs(page), 'ann')
  assert.equal(await page.getByText('Sign in again').count(), 0)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Back' }).click()
  await button(page).waitFor()
  assert.equal(page.url(), `${site.origin}/console`)
  assert.deepEqual(await kept(page), [])
  assert.deepEqual(provider.asked.slice(-2).sort(), ['end', 'revoke'])
})

interface Attack {
  readonly name: string
  readonly prepare: (provider: Provider) => void
  readonly says: RegExp
  /** Whether the code goes to the token endpoint. */
  readonly isSent?: boolean
  readonly refusals?: readonly number[]
}

const attacks: readonly Attack[] = [
  {
    name: 'an answer with another state is refused',
    prepare: (provider) => {
      provider.spoil = (answer) => answer.set('state', 'other')
    },
    says: /was not begun in this tab/,
  },
  {
    name: 'an answer without a state is refused',
    prepare: (provider) => {
      provider.spoil = (answer) => answer.delete('state')
    },
    says: /was not begun in this tab/,
  },
  {
    name: 'the refusal of a provider is shown as text',
    prepare: (provider) => {
      provider.spoil = (answer) => {
        answer.delete('code')
        answer.set('error', 'access_denied')
        answer.set('error_description', '<img src=x onerror=alert(1)>\u202eNot you')
      }
    },
    says: /The provider refuses: <img src=x onerror=alert\(1\)>␣U\+202ENot you/,
  },
  {
    name: 'an answer of another provider is refused (mix-up, RFC 9207)',
    prepare: (provider) => {
      provider.spoil = (answer) => answer.set('iss', 'https://evil.example')
    },
    says: /comes from another provider/,
  },
  {
    name: 'an answer without an issuer is refused if the provider names itself in each',
    prepare: (provider) => {
      provider.configuration = { authorization_response_iss_parameter_supported: true }
      provider.spoil = (answer) => answer.delete('iss')
    },
    says: /comes from another provider/,
  },
  {
    name: 'a configuration of another issuer is refused',
    prepare: (provider) => {
      provider.configuration = { issuer: 'https://evil.example' }
    },
    says: /calls itself https:\/\/evil\.example/,
  },
  {
    name: 'a code that the provider does not know is refused',
    prepare: (provider) => {
      provider.spoil = (answer) => answer.set('code', 'injected')
    },
    says: /The code is not valid <b>here<\/b>/,
    isSent: true,
    refusals: [400],
  },
  {
    name: 'an ID token of another sign-in is refused',
    prepare: (provider) => {
      provider.claims = { nonce: 'other' }
    },
    says: /token of another sign-in/,
    isSent: true,
  },
  {
    name: 'an ID token for another client is refused',
    prepare: (provider) => {
      provider.claims = { aud: ['someone-else'] }
    },
    says: /token of another sign-in/,
    isSent: true,
  },
]

for (const { name, prepare, says, isSent = false, refusals = [] } of attacks) {
  test(name, { skip }, async (context) => {
    const { provider, page } = await scene(context, '/console', { refusals })
    prepare(provider)
    await button(page).click()
    const there = page.getByRole('link', { name: /^Continue as/ })
    const alert = page.getByRole('alert')
    await there.or(alert).first().waitFor()
    if (await there.isVisible()) await there.click()
    await alert.waitFor()
    assert.match(await alert.innerText(), says)
    assert.ok(!page.url().includes('?'), 'the answer is not in the address')
    assert.equal(provider.asked.length > 0, isSent)
    assert.deepEqual(await kept(page), [])
    assert.ok(await page.getByLabel('API key or token').isVisible(), 'a key is still possible')
  })
}

test('an answer that is used twice signs nobody in', { skip }, async (context) => {
  const { site, page } = await scene(context, '/console')
  await button(page).click()
  const link = page.getByRole('link', { name: /^Continue as/ })
  const address = (await link.getAttribute('href')) ?? ''
  await link.click()
  assert.equal(await signedInAs(page), 'ann')
  await page.goto(new URL(address, site.origin).href)
  await page.getByText('was not begun in this tab, or has been used').waitFor()
})

test('a provider that is down is said to be, and a key still signs in', { skip }, async (context) => {
  const { site, provider, page } = await scene(context, '/console', { disconnects: true })
  provider.stop()
  await button(page).click()
  await page.getByText('does not answer. Try again later, or sign in with a key.').waitFor()
  await signInWith(page, await site.keyFor('bob', ['admin']))
  assert.equal(await signedInAs(page), 'bob')
})

const elsewhere = 'a session that expires is renewed in another tab, and the form that was sent goes on'
test(elsewhere, { skip }, async (context) => {
  const { site, provider, page } = await scene(context, '/console#/-/new/projects', { refusals: [401] })
  await signInWith(page, await site.keyFor('ann', ['admin']))
  await page.getByLabel('Name', { exact: true }).fill('Made in between')
  await revoke(site, 'ann')
  await page.getByRole('button', { name: 'Create' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  const [tab] = await Promise.all([page.context().waitForEvent('page'), button(page).click()])
  await dialog.getByText('Sign in in the other tab').waitFor()
  await tab.getByRole('link', { name: 'Continue as ann' }).click()
  await page.getByText('Created.').waitFor()
  await page.getByRole('heading', { name: 'Made in between' }).waitFor()
  assert.equal(await dialog.count(), 0)
  assert.deepEqual(provider.asked, ['authorization_code'])
  assert.ok(tab.isClosed() || (await tab.getByText('Close this one').isVisible()))
})

test('the API page signs in with the provider too', { skip }, async (context) => {
  const { site, page } = await scene(context, '/docs')
  await signInThere(page)
  await page.locator('#operations-projects-listProjects').waitFor()
  assert.equal(page.url(), `${site.origin}/docs`)
  assert.deepEqual(await kept(page), [])
  await page.locator('#operations-projects-listProjects').getByRole('button').first().click()
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.locator('.live-responses-table').getByText('total_count').waitFor()
})
