/** Records, and the forms of the console that change them. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { Site } from './browser.ts'

export type RecordJson = Readonly<Record<string, unknown>> & { readonly id: string }

/** The button that saves a form. */
export const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true })

/** Waits until a form is saved. */
export const hasSaved = (page: Page) => page.locator('.form-actions button:disabled', { hasText: /^Save$/ }).waitFor()

/** Sends requests of the interface, which must succeed. */
export function requestsOf({ url }: Site, key: string) {
  return async (method: string, path: string, body?: unknown): Promise<RecordJson> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    assert.ok(response.ok, `${method} ${path}: ${text}`)
    return text === '' ? { id: '' } : JSON.parse(text)
  }
}

/** Signs in with a key in the form that the page shows. */
export async function signInWith(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key or token').fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Waits until somebody is signed in, and gives the id of the caller. */
export async function signedInAs(page: Page): Promise<string> {
  return page.locator('header .caller').innerText()
}

/** Revokes the first key of a caller, as an administrator does it. */
export async function revoke({ url, keyFor }: Site, subject: string): Promise<void> {
  const headers = { Authorization: `Bearer ${await keyFor('root', ['admin'])}` }
  const { status } = await fetch(`${url}/api-keys/key-of-${subject}`, { method: 'DELETE', headers })
  assert.equal(status, 204)
}
