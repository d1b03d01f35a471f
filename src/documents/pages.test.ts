import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { faults } from '../spec/fault-entries.ts'
import { issueCodes } from '../spec/faults.ts'
import { rules } from '../spec/rules.ts'
import { errorsPage, interfacePage } from './pages.ts'

const read = (page: string) => readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8')

test('docs/interface.md is up to date (otherwise: npm run docs)', async () => {
  assert.equal(await read('interface.md'), interfacePage())
})

test('docs/errors.md is up to date (otherwise: npm run docs)', async () => {
  assert.equal(await read('errors.md'), errorsPage())
})

test('every rule has a row and an anchor', () => {
  const page = interfacePage()
  for (const rule of rules) assert.ok(page.includes(`<a id="${rule.id.toLowerCase()}"></a>${rule.id} |`), rule.id)
})

test('every error code is described', () => {
  const page = errorsPage()
  for (const code of Object.keys(faults)) assert.ok(page.includes(`### ${code}\n`), code)
  for (const code of Object.keys(issueCodes)) assert.ok(page.includes(`| ${code} |`), code)
})
