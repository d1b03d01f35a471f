/** Finds what keeps people from using a page, by the rules of axe-core. */
import axe from 'axe-core'
import type { Page } from 'playwright-core'

const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ' at ' + target.join(' ') + ': ' + failureSummary)))`

/** Every violation of every rule, one line for each element. */
export async function axeFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(`typeof axe === 'object'`))) await page.evaluate(axe.source)
  return page.evaluate(run)
}

/** The widths at which every view is checked, in pixels: a phone, a tablet, a desk. */
export const widths = [360, 768, 1280] as const

/** Checks what a page shows now in both themes and at every width. */
export async function axeFindingsEverywhere(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 })
      found.push(...(await axeFindings(page)).map((each) => `${colorScheme}, ${width} px: ${each}`))
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      if (Number(overflow) > 0) found.push(`${colorScheme}, ${width} px: the page is ${overflow} px too wide`)
    }
  }
  return found
}
