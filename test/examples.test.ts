/** The examples: one interface, declared in TypeScript and as data. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { parse } from 'yaml'
import studio from '../examples/studio/resources.ts'
import { openApiDocument } from '../packages/server/src/documents/openapi.ts'

const text = await readFile(new URL('../examples/studio/resources.yaml', import.meta.url), 'utf8')
const data = parse(text) as InterfaceDeclaration

test('both forms of the studio are without mistakes', () => {
  assert.deepEqual(checkDeclaration(studio), [])
  assert.deepEqual(checkDeclaration(data), [])
})

test('both forms of the studio are the same interface', () => {
  const [left, right] = [completeCatalog(studio), completeCatalog(data)]
  assert.deepEqual(openApiDocument(left), openApiDocument(right))
  for (const [name, resource] of left.resources) {
    const other = right.resources.get(name)
    const ruled = ({ access, rules, deletion, unique }: typeof resource) => ({ access, rules, deletion, unique })
    assert.deepEqual(ruled(resource), other && ruled(other), name)
  }
})
