/** The two ways to use a page: with a mouse, and with the keyboard alone. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** What a visitor does. Everything is found by the name that the page shows or announces. */
export interface Hands {
  readonly name: string
  /** Presses a button or follows a link. */
  press(name: string): Promise<void>
  /** Replaces the text of a field. */
  type(label: string, text: string): Promise<void>
  /** Replaces the text of a field, and presses Enter. */
  enter(label: string, text: string): Promise<void>
}

/** Makes the hands of a page. */
export type TakeHands = (page: Page) => Hands

export const mouse: TakeHands = (page) => {
  // Behind an open dialog nothing can be used.
  const place = async () => {
    const dialog = page.getByRole('dialog')
    return (await dialog.count()) > 0 ? dialog.last() : page
  }
  const type = async (label: string, text: string) => (await place()).getByLabel(label, { exact: true }).fill(text)
  return {
    name: 'mouse',
    async press(name) {
      const inside = await place()
      const options = { name, exact: true }
      await inside.getByRole('button', options).or(inside.getByRole('link', options)).first().click()
    },
    type,
    async enter(label, text) {
      await type(label, text)
      await page.keyboard.press('Enter')
    },
  }
}

export const keyboard: TakeHands = (page) => {
  const type = async (label: string, text: string) => {
    await tabTo(page, label)
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    await page.keyboard.type(text)
  }
  return {
    name: 'keyboard',
    async press(name) {
      await tabTo(page, name)
      await page.keyboard.press('Enter')
    },
    type,
    async enter(label, text) {
      await type(label, text)
      await page.keyboard.press('Enter')
    },
  }
}

/** What has the focus: its name, and whether a visitor can see that it has the focus. */
const focused = `(() => {
  const element = document.activeElement
  const { outlineStyle } = getComputedStyle(element)
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
  return { name: name.trim(), isVisible: outlineStyle !== 'none', isBody: element === document.body }
})()`

/** Presses Tab until the control with this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const seen: string[] = []
  // A view that is still loading gets its controls later.
  const until = Date.now() + 30_000
  while (Date.now() < until) {
    await page.keyboard.press('Tab')
    const at = (await page.evaluate(focused)) as { name: string; isVisible: boolean; isBody: boolean }
    if (!at.isBody) assert.ok(at.isVisible, `the focus cannot be seen on ${at.name}`)
    if (at.name === name) return
    if (!at.isBody) seen.push(at.name)
  }
  assert.fail(`Tab does not reach ${name}. It reaches ${[...new Set(seen)].join(', ')}.`)
}
