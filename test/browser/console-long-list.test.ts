/** The console's table of a million records: browsers draw no element that is as high as all of its rows. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import * as Type from 'resourced-contract/model/type'
import { noBrowser, openConsole, serveSite } from './browser.ts'

const skip = noBrowser
const total = 1_000_000

const items = defineInterface({
  name: 'items',
  resources: { items: { fields: { number: Type.Integer({ sort: true }) } } },
})

/** Opens a list whose pages the test makes: a database of this size would take a minute. */
async function openList(context: TestContext, mostByNumber = 100): Promise<{ page: Page; asked: URLSearchParams[] }> {
  const site = await serveSite(context, items)
  const key = await site.keyFor('ann', ['admin'])
  const page = await openConsole(context, site, '/', { key, refusals: [400] })
  const asked: URLSearchParams[] = []
  await page.route(/\/v1\/items\?/, async (route) => {
    const query = new URL(route.request().url()).searchParams
    asked.push(query)
    const limit = Number(query.get('limit'))
    const isByNumber = query.has('offset')
    if (isByNumber && limit > mostByNumber) {
      const problem = { status: 400, code: 'PAGE_TOO_LARGE', title: 'The page is too large' }
      return route.fulfill({ status: 400, contentType: 'application/problem+json', body: JSON.stringify(problem) })
    }
    const start = Number(query.get('offset') ?? query.get('cursor') ?? 0)
    const end = Math.min(total, start + limit)
    const data = Array.from({ length: end - start }, (_, index) => ({
      id: `id-${start + index}`,
      number: start + index,
    }))
    const cursors = isByNumber ? { offset: start } : { next_cursor: end < total ? String(end) : null }
    await route.fulfill({ json: { data, pagination: { total_count: total, limit, ...cursors } } })
  })
  await page.evaluate(`rests = 0; addEventListener('scrollend', () => rests++, true)`)
  await page.evaluate(`location.hash = '#/items?columns=number'`)
  await page.getByText('1,000,000 records').waitFor()
  return { page, asked }
}

/** How far the list is scrolled, in pixels of its rows; `undefined` while rows on the screen are missing. */
function placeOf(page: Page): Promise<number | undefined> {
  return page.locator('.records').evaluate((element) => {
    const bounds = element.getBoundingClientRect()
    const top = bounds.top + element.clientTop
    const seen = [...element.querySelectorAll('tbody tr')].filter((row) => {
      const place = row.getBoundingClientRect()
      return place.bottom > top + 38 && place.top < bounds.bottom
    })
    const isThere = seen.every((row) => row.textContent === row.getAttribute('data-row'))
    const [first] = seen
    if (first === undefined || !isThere) return undefined
    return Number(first.getAttribute('data-row')) * 38 - Math.round(first.getBoundingClientRect().top - top - 38)
  })
}

/** Waits until the list is at a place, and its rows are there. */
async function reach(page: Page, wanted: (place: number) => boolean, what: string): Promise<number> {
  let place: number | undefined
  for (let times = 0; times < 400; times++) {
    place = await placeOf(page)
    if (place !== undefined && wanted(place)) return place
    await page.waitForTimeout(20)
  }
  throw new Error(`${what}: the list is at ${place}`)
}

/** Waits until the list has been at a place for a while: a busy machine pauses in the middle of a move. */
async function rest(page: Page): Promise<number> {
  let before: number | undefined
  let times = 0
  return reach(
    page,
    (place) => {
      times = place === before ? times + 1 : 0
      before = place
      return times >= 12
    },
    'rest',
  )
}

/** Presses a key, and again if the list stays where it is: a browser that ends an animation may lose a key. */
async function press(page: Page, key: string, place: number): Promise<void> {
  for (let presses = 0; presses < 3; presses++) {
    await page.keyboard.press(key)
    for (let times = 0; times < 100; times++) {
      if (Math.abs(((await placeOf(page)) ?? place) - place) > 2) return
      await page.waitForTimeout(20)
    }
  }
}

/**
 * Presses a key some times. Each time the list must move by as much as a page of any list, and by no more; the browser
 * rounds each move to whole pixels. A turn begins where the list came to rest.
 */
async function turnPages(
  page: Page,
  key: 'PageDown' | 'PageUp',
  times: number,
  step: number,
  end = Number.POSITIVE_INFINITY,
): Promise<void> {
  let place = await rest(page)
  const restsOf = () => page.evaluate<number>('rests')
  for (let turn = 1; turn <= times; turn++) {
    const rests = await restsOf()
    await press(page, key, place)
    const [begun, expected] = [place, Math.min(end, place + (key === 'PageDown' ? step : -step))]
    const what = `${key} number ${turn} from ${begun} to ${expected}`
    await reach(page, (reached) => Math.abs(reached - expected) <= 2, what)
    while ((await restsOf()) === rests) await page.waitForTimeout(20)
    place = await reach(page, (reached) => Math.abs(reached - expected) <= 2, what)
  }
}

test('every part of a million records is reached with keys and the scroll bar, and no row is passed', {
  skip,
}, async (context) => {
  const { page, asked } = await openList(context)
  await page.locator('tr[data-row="3"] a').focus()
  await press(page, 'PageDown', 0)
  await reach(page, (place) => place > 0, 'a page')
  const step = await rest(page)
  await page.keyboard.press('Home')
  await reach(page, (place) => place === 0, 'Home')
  await turnPages(page, 'PageDown', 12, step)
  await page.keyboard.press('End')
  await page.locator(`tr[data-row="${total - 1}"]`).waitFor()
  const end = await reach(page, (place) => place > total * 38 - 800, 'End')
  await turnPages(page, 'PageUp', 5, step)
  await turnPages(page, 'PageDown', 5, step, end)
  const back = await rest(page)
  assert.ok(Math.abs(back - end) <= 2, `the list is at ${back} instead of ${end}`)
  for (const share of [0.25, 0.5, 0.9]) {
    await moveBar(page, share)
    const place = await reach(page, (reached) => Math.abs(reached / end - share) < 0.05, `${share}`)
    await turnPages(page, 'PageDown', 4, step)
    await turnPages(page, 'PageUp', 4, step)
    assert.ok(Math.abs((await rest(page)) - place) <= 8)
  }
  const before = await rest(page)
  await page.mouse.move(600, 500)
  await page.mouse.wheel(0, 380)
  await reach(page, (place) => Math.abs(place - before - 380) <= 2, 'a wheel')
  await page.keyboard.press('Home')
  await reach(page, (place) => place === 0, 'Home')
  assert.ok(asked.length < 100, `${asked.length} pages were read`)
  assert.ok((await page.locator('.records tr').count()) < 100)
})

test('after many small steps the scroll bar goes to its place, and no row moves', { skip }, async (context) => {
  const { page } = await openList(context)
  await moveBar(page, 0.5)
  const before = await rest(page)
  const bar = () => page.locator('.records').evaluate((element) => element.scrollTop)
  const barBefore = await bar()
  await moveStepwise(page, 300, 1_000)
  for (let times = 0; times < 200 && (await bar()) > barBefore + 200_000; times++) await page.waitForTimeout(20)
  const moved = (await bar()) - barBefore
  assert.ok(moved < 200_000, `the scroll bar moved by ${moved}`)
  await reach(page, (place) => place === before + 300_000, 'small steps')
})

/** Moves the scroll bar once in each frame. */
function moveStepwise(page: Page, steps: number, step: number): Promise<void> {
  return page.evaluate(`(async () => {
    for (let count = 0; count < ${steps}; count++) {
      document.querySelector('.records').scrollTop += ${step}
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
  })()`)
}

/** Moves the scroll bar at once. */
function moveBar(page: Page, share: number): Promise<void> {
  return page.locator('.records').evaluate((element, part) => {
    element.scrollTop = part * (element.scrollHeight - element.clientHeight)
  }, share)
}

test('whoever comes back finds the same rows', { skip }, async (context) => {
  const { page } = await openList(context)
  await moveBar(page, 0.3)
  const there = await reach(page, (place) => place > 10_000_000, 'a third')
  await page.evaluate(`location.hash = '#/'`)
  await page.getByText('1,000,000 records').waitFor({ state: 'detached' })
  await page.goBack()
  await reach(page, (place) => place === there, 'back')
})

test('a page by number that the server finds too large is read in parts (LIM-6)', { skip }, async (context) => {
  const { page, asked } = await openList(context, 30)
  await page.locator('tr[data-row="3"] a').focus()
  await page.keyboard.press('End')
  await page.locator(`tr[data-row="${total - 1}"]`).waitFor()
  await rest(page)
  assert.ok(asked.some((query) => query.get('limit') === '25'))
})

test('who drags the scroll bar reads nothing on the way', { skip }, async (context) => {
  const { page, asked } = await openList(context)
  await rest(page)
  const before = asked.length
  await moveStepwise(page, 60, 200_000)
  await reach(page, (place) => place > 700_000 * 38, 'the end of the way')
  // On a machine that draws no frame in time, the list rests on the way.
  assert.ok(asked.length - before < 30, `${asked.length - before} pages were read`)
})
