/** Everything that the console can show: each view, its dialogs and its errors. */
import type { Page } from 'playwright-core'
import type { StudioRecords } from './studio-records.ts'

/** Something that the console shows. */
export interface Screen {
  readonly name: string
  /** The view, such as `/tasks?status=open`. */
  readonly view: string
  /** What leads there from the view, and what is awaited. */
  readonly steps: (page: Page) => Promise<void>
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first()
const dialog = (page: Page) => page.getByRole('dialog')

/** Every screen of the studio of `test/declarations.ts`, for an administrator. */
export function screensOf({ busy, finished, hostile, deleted, task }: StudioRecords): readonly Screen[] {
  const screen = (name: string, view: string, steps: Screen['steps']): Screen => ({ name, view, steps })
  const text = (shown: string | RegExp) => async (page: Page) => {
    await page.getByText(shown).first().waitFor()
  }
  return [
    screen('overview', '/', text('32 records')),
    screen('collection', '/tasks', text('32 records')),
    screen('collection, filtered', '/tasks?status=open&estimate[gte]=3&sort=-title', text('Task 30')),
    screen('collection, empty', '/tasks?q=nothing', text('Nothing here')),
    screen('collection, refused', '/tasks?due_on[gte]=nonsense', text('Try again')),
    screen('summary', '/tasks?group-by=project_id&sum-of=estimate', text('Sum of estimate')),
    screen('filter form', '/tasks', (page) => button(page, 'Add filter').click()),
    screen('columns', '/tasks', (page) => page.locator('summary', { hasText: 'Columns' }).click()),
    screen('selection', '/tasks', (page) => page.getByLabel('Select all loaded records').check()),
    screen('requests', '/tasks', async (page) => {
      await button(page, 'Requests').click()
      await page.locator('.requests summary').first().click()
    }),
    screen('menu of a narrow page', '/tasks', async (page) => {
      await page.setViewportSize({ width: 360, height: 800 })
      await button(page, 'Menu').click()
    }),
    screen('export', '/tasks?status=open', async (page) => {
      await button(page, 'Export').click()
      await dialog(page).waitFor()
    }),
    screen('record', `/tasks/${task}`, text('Secret note')),
    screen('record of a parent', `/projects/${busy}`, text('Tasks')),
    screen('record, hostile', `/projects/${hostile}`, text('onerror')),
    screen('record, missing', '/tasks/nothing', text('Try again')),
    screen('record, wrong', `/tasks/${task}`, async (page) => {
      await page.getByLabel('Title').fill('')
      await button(page, 'Save').click()
      await page.locator('.wrong').first().waitFor()
    }),
    screen('new record', '/-/new/tasks', text('Secret note')),
    screen('new record, wrong', '/-/new/tasks', async (page) => {
      await button(page, 'Create').click()
      await page.locator('.wrong').first().waitFor()
    }),
    screen('deletion', `/projects/${finished}`, async (page) => {
      await button(page, 'Delete').click()
      await dialog(page).getByText('Deletes 1 record').first().waitFor()
    }),
    screen('deletion, refused', `/projects/${busy}`, async (page) => {
      await button(page, 'Delete').click()
      await dialog(page).getByText('open tasks').first().waitFor()
    }),
    screen('deletion of many', '/tasks', async (page) => {
      await page.getByLabel('Select all loaded records').check()
      await button(page, 'Delete selected').click()
      await dialog(page).waitFor()
    }),
    screen('recycle bin', '/-/bin/projects', text('Cellar')),
    screen('deleted record', `/projects/${deleted}`, (page) => page.locator('h1').first().waitFor()),
    screen('jobs', '/-/jobs', text('Jobs')),
    screen('import', '/-/import/users', text('Import')),
    screen('keys', '/-/keys', text('New key')),
    screen('new key', '/-/keys', async (page) => {
      await button(page, 'New key').click()
      await button(page, 'Create').click()
      await page.getByText('only once').waitFor()
    }),
    screen('revocation', '/-/keys', async (page) => {
      await button(page, 'Revoke').click()
      await dialog(page).waitFor()
    }),
    screen('versions', '/-/versions', text('live')),
    screen('health', '/-/health', text('The server is')),
    screen('unknown address', '/nothing', text('Nothing is here')),
  ]
}
