import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import { faults } from 'resourced-contract/spec/fault-entries'
import { issueCodes } from 'resourced-contract/spec/faults'
import { rules } from 'resourced-contract/spec/rules'
import { parse } from 'yaml'
import { commandLinePage, configurationPage } from '../../scripts/command-pages.ts'
import { errorCodesPage, rulesPage } from '../../scripts/contract-pages.ts'
import { declarationPage } from '../../scripts/declaration-page.ts'

const read = (page: string) => readFile(new URL(`../../docs/reference/${page}`, import.meta.url), 'utf8')

test('docs/reference/rules.md is up to date (otherwise: npm run docs)', async () => {
  assert.equal(await read('rules.md'), rulesPage())
})

test('docs/reference/error-codes.md is up to date (otherwise: npm run docs)', async () => {
  assert.equal(await read('error-codes.md'), errorCodesPage())
})

test('docs/reference/declaration.md is up to date (otherwise: npm run docs)', async () => {
  assert.equal(await read('declaration.md'), declarationPage())
})

test('docs/reference/command-line.md is up to date (otherwise: npm run docs)', async () => {
  assert.equal(await read('command-line.md'), commandLinePage())
})

test('docs/reference/configuration.md is up to date (otherwise: npm run docs)', async () => {
  assert.equal(await read('configuration.md'), configurationPage())
})

test('the declaration of docs/reference/declaration.md has no mistakes', () => {
  const [, text = ''] = /```yaml\n(# yaml(?:.|\n)*?)```/.exec(declarationPage()) ?? []
  assert.deepEqual(checkDeclaration(parse(text)), [])
})

test('every rule has a row and an anchor', () => {
  const page = rulesPage()
  for (const rule of rules) assert.ok(page.includes(`<a id="${rule.id.toLowerCase()}"></a>${rule.id} |`), rule.id)
})

test('every error code is described', () => {
  const page = errorCodesPage()
  for (const code of Object.keys(faults)) assert.ok(page.includes(`### ${code}\n`), code)
  for (const code of Object.keys(issueCodes)) assert.ok(page.includes(`| ${code} |`), code)
})
