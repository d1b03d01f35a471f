import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPlural, pluralOf } from './plural.ts'

const plural =
  `tasks projects line-items people children salespeople news series data metadata media equipment addresses
  statuses buses categories analyses criteria indices photos apis taxis cameras menus plateaus feedback sheep software
  policies wives days boxes tasks-2024 classes lenses countries cities aircraft police skus mice`.split(/\s+/)
for (const name of plural) test(`${name} is plural`, () => assert.equal(isPlural(name), true))

const singular =
  `task project line-item person child address status bus class category analysis basis canvas lens gas box
  country city items-list campus axis chaos company menu day process s`.split(/\s+/)
for (const name of singular) test(`${name} is singular`, () => assert.equal(isPlural(name), false))

for (const [name, wanted] of [
  ['task', 'tasks'],
  ['category', 'categories'],
  ['day', 'days'],
  ['address', 'addresses'],
  ['box', 'boxes'],
  ['person', 'people'],
  ['analysis', 'analyses'],
  ['line-item', 'line-items'],
  ['constructor', 'constructors'],
] as const) {
  test(`${name} becomes ${wanted}`, () => {
    assert.equal(pluralOf(name), wanted)
    assert.equal(isPlural(wanted), true)
  })
}
