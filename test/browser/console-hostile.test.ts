/** Whatever records contain, the console shows it as text, and stays usable. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { noBrowser, openPage, type Site, serveSite } from './browser.ts'
import { signInWith } from './console.ts'

const skip = noBrowser

const words: InterfaceDeclaration = defineInterface({
  name: 'words',
  resources: {
    'odd-words': {
      fields: {
        name: Type.String({ search: true, sort: true, filter: true }),
        notes: Type.Optional(Type.String({ maxLength: 1_100_000 })),
        data: Type.Optional(Type.Object({})),
        parent_id: Type.Optional(reference('odd-words', { onDelete: 'clear' })),
      },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
    },
  },
  limits: { bodyBytes: 4_000_000 },
})

/** Every JavaScript object has a member `constructor`. */
const inherited: InterfaceDeclaration = defineInterface({
  name: 'inherited',
  resources: {
    constructors: {
      fields: {
        name: Type.String({ search: true }),
        constructor: Type.Optional(Type.String({ writeOnly: true, maxLength: 20 })),
        length: Type.Optional(Type.Integer()),
      },
    },
  },
})

const hostile = [
  '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>',
  '&lt;b&gt; &amp; {{7*7}} <%= 7*7 %> javascript:alert(1)',
  'right \u202Eto left\u202C and \u2066isolates\u2069 \u200Fmark',
  'bell \u0007 escape \u001B[31m delete \u007F C1 \u0085 NUL',
  'zero\u200Bwidth\uFEFF\u00AD\u2028line\u2029end \u3164',
  '../../etc/passwd?x=%2F%00#%',
  '%E0%A4%A',
  `W${'o'.repeat(2_400)}w`,
  '👩‍👩‍👧‍👦'.repeat(40),
  `${'a'.repeat(199)}😀😀`,
  '__proto__',
  'null',
  ' ',
]

async function post({ url }: Site, key: string, body: object): Promise<{ id: string }> {
  const response = await fetch(`${url}/odd-words`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  assert.equal(response.status, 201, text.slice(0, 500))
  return JSON.parse(text) as { id: string }
}

// Everything without a shape of its own, but line breaks, tabs and the joiner of emoji.
const disguises = /(?![\n\r\t\u200D])[\p{Cc}\p{Cf}\u2028\u2029\u3164]/u

test('hostile texts are text in every view, and look like what they are', { skip }, async (context) => {
  const site = await serveSite(context, words, { rateLimit: 'off' })
  const subject = 'ann\u202E<b>'
  const key = await site.keyFor(subject, ['admin', '<i>\u202E'])
  const ids: string[] = []
  for (const [index, name] of hostile.entries()) {
    const data = { [`key ${name}`]: name, nested: [name] }
    const parent_id = ids[index - 1]
    ids.push((await post(site, key, { name, notes: name, data, ...(parent_id && { parent_id }) })).id)
  }
  const page = await openPage(context, site, '/console')
  await signInWith(page, key)
  await page.getByRole('heading', { name: 'Words', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Requests' }).click()
  const check = async (place: string) => {
    const found = (await page.locator('body').innerText()).match(disguises)
    assert.equal(found, null, `${place} has U+${found?.[0].codePointAt(0)?.toString(16)}`)
    const titles = (await page.evaluate(
      "[...document.querySelectorAll('[title],[aria-label]')].map((each) => each.title + each.ariaLabel).join()",
    )) as string
    assert.equal(titles.match(disguises), null, `${place} has one in a title`)
    assert.equal(await page.locator('main img, main script, main b, main i, header b').count(), 0, place)
    assert.notEqual(await page.title(), 'owned')
    const width = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number
    assert.ok(width <= 0, `${place} is ${width} pixels too wide`)
  }
  await check('the overview')
  await page.goto(`${site.origin}/console#/odd-words?columns=name,notes,data,parent_id`)
  await page.getByRole('heading', { name: 'Odd words' }).waitFor()
  await page
    .getByRole('link', { name: /<img src=x/ })
    .first()
    .waitFor()
  await check('the list')
  for (const [index, id] of ids.entries()) {
    await page.goto(`${site.origin}/console#/odd-words/${id}`)
    await page.getByLabel('Name', { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), hostile[index])
    await check(`record ${index}`)
  }
  await page.goto(`${site.origin}/console#/-/keys`)
  await page.getByRole('cell', { name: 'ann␣U+202E<b>' }).first().waitFor()
  await check('the keys')
  await page.getByRole('button', { name: 'Revoke' }).first().click()
  await check('a dialog')
})

test('a curl command has no character that disguises it', { skip }, async (context) => {
  const site = await serveSite(context, words)
  const page = await openPage(context, site, '/console#/-/new/odd-words')
  await signInWith(page, await site.keyFor('ann', ['admin']))
  await page.getByLabel('Name', { exact: true }).fill("it's \u202E; rm -rf ~ \u{E0041}")
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Created.').waitFor()
  await page.getByRole('button', { name: 'Requests' }).click()
  await page.locator('.requests summary', { hasText: 'POST' }).click()
  const command = await page.locator('.requests details[open] pre').innerText()
  assert.ok(command.includes(String.raw`{"name":"it'\''s \u202e; rm -rf ~ \udb40\udc41"}`), command)
})

test('addresses that are no views say so', { skip }, async (context) => {
  const site = await serveSite(context, words)
  const page = await openPage(context, site, '/console', { refusals: [404, 400] })
  await signInWith(page, await site.keyFor('ann', ['admin']))
  await page.locator('header .caller').waitFor()
  for (const address of ['#/odd-words/%E0%A4%A', '#/odd-words/a%2Fb%25', '#/odd-words/..%2F..', '#/odd-words/%00']) {
    await page.goto(`${site.origin}/console${address}`)
    await page.getByRole('alert').waitFor()
    assert.ok(await page.locator('header .caller').isVisible(), address)
    await page.goto(`${site.origin}/console#/`)
    await page.getByRole('heading', { name: 'Words', exact: true }).waitFor()
  }
  await page.goto(`${site.origin}/console#/<b>/%00`)
  await page.getByText('Nothing is here').waitFor()
})

test('a text of a megabyte can be opened and changed', { skip }, async (context) => {
  const site = await serveSite(context, words)
  const key = await site.keyFor('ann', ['admin'])
  const { id } = await post(site, key, {
    name: 'long',
    notes: 'x'.repeat(1_000_000),
    data: { text: 'y'.repeat(900_000) },
  })
  const page = await openPage(context, site, `/console#/odd-words/${id}`)
  await signInWith(page, key)
  const notes = page.getByLabel('Notes', { exact: true })
  await notes.waitFor()
  assert.equal((await notes.inputValue()).length, 1_000_000)
  await page.getByLabel('Name', { exact: true }).fill('still long')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.goto(`${site.origin}/console#/odd-words?columns=name,notes,data`)
  await page.getByRole('link', { name: 'still long' }).waitFor()
  const size = (await page.evaluate('document.body.innerHTML.length')) as number
  assert.ok(size < 50_000, `the list has ${size} characters`)
})

test('a thousand collections', { skip }, async (context) => {
  const resources = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [
      `many-things-${index}`,
      {
        fields: {
          name: Type.String(),
        },
        access: { read: 'anyone' as const },
      },
    ]),
  )
  const site = await serveSite(context, defineInterface({ name: 'many', resources }), { rateLimit: 'off' })
  const page = await openPage(context, site, '/console')
  const key = await site.keyFor('ann', ['admin'])
  const begun = Date.now()
  await signInWith(page, key)
  await page.getByPlaceholder('Find in 1000').waitFor({ timeout: 60_000 })
  context.diagnostic(`signed in after ${Date.now() - begun} ms`)
  const heap = (await page.evaluate('performance.memory.usedJSHeapSize')) as number
  context.diagnostic(`${Math.round(heap / 1_048_576)} MiB`)
  const typed = Date.now()
  await page.getByLabel('Find a collection').fill('999')
  await page.locator('.menu').getByRole('link', { name: 'Many things 999' }).click()
  await page.getByRole('heading', { name: 'Many things 999' }).waitFor()
  context.diagnostic(`found one after ${Date.now() - typed} ms`)
  assert.ok((await page.locator('.menu li').count()) < 250)
})

test('fields may be named as what every object inherits', { skip }, async (context) => {
  const site = await serveSite(context, inherited)
  const key = await site.keyFor('ann', ['admin'])
  const page = await openPage(context, site, '/console#/-/new/constructors', { key })
  await page.getByLabel('Name', { exact: true }).fill('One')
  assert.equal(await page.getByLabel('Constructor', { exact: true }).inputValue(), '')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Created.').waitFor()
  const field = page.getByLabel('Constructor', { exact: true })
  assert.equal(await field.inputValue(), '')
  await field.fill('Two')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').waitFor()
})
