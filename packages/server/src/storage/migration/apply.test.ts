import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { FieldDeclaration } from 'resourced-contract/model/declaration'
import { completeVersions } from '../../versions/versions.ts'
import { declarationOf, standingOf, withDeclaration } from './apply.ts'

function catalogOf(fields: Readonly<Record<string, FieldDeclaration>>, ...versions: string[]) {
  const named = versions.length === 0 ? {} : { versions: Object.fromEntries(versions.map((each) => [each, {}])) }
  return completeVersions({ name: 'n', resources: { books: { fields } }, ...named }).stored
}

const text = { type: 'string', optional: true } as const
const first = catalogOf({ a: text })
const second = catalogOf({ a: text, b: text })
const third = catalogOf({ a: text }, 'v1', 'v2')

test('the declaration applied last is current, those before it are former, all others are new', () => {
  const lineage = withDeclaration(withDeclaration([], first), second)
  assert.deepEqual(lineage, [declarationOf(first), declarationOf(second)])
  assert.deepEqual([standingOf([], first), standingOf(lineage, first)], ['new', 'former'])
  assert.deepEqual([standingOf(lineage, second), standingOf(lineage, third)], ['current', 'new'])
})

test('a declaration of an older version is former, with any tables', () => {
  const lineage = [first, third].reduce(withDeclaration, [])
  assert.equal(standingOf(lineage, second), 'former')
  assert.equal(standingOf(lineage, catalogOf({ b: text }, 'v2')), 'new')
  // Where it has the last version too it is no older one.
  assert.equal(standingOf(lineage, catalogOf({ b: text }, 'v2', 'v1')), 'new')
  assert.equal(standingOf(lineage, { ...catalogOf({ b: text }, 'v2'), versions: new Map() }), 'new')
  // A version may have another name from one day to the next.
  assert.equal(standingOf([declarationOf(first)], catalogOf({ a: text }, '2026')), 'new')
})

test('a declaration that is applied again becomes the last one; a hundred are remembered', () => {
  const lineage = [first, second, first].reduce(withDeclaration, [])
  assert.deepEqual([standingOf(lineage, first), standingOf(lineage, second)], ['current', 'former'])
  const many = Array.from({ length: 150 }, (_, index) => catalogOf({ [`f${index}`]: text }))
  assert.equal(many.reduce(withDeclaration, lineage).length, 100)
})

test('titles, rules and access make no other declaration, because no table depends on them', () => {
  const same = completeCatalog({
    name: 'n',
    resources: { books: { title: 'B', fields: { a: { ...text, maxLength: 5 } }, access: { read: 'anyone' } } },
  })
  assert.deepEqual(declarationOf(same), declarationOf(first))
})
