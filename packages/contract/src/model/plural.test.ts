import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSingular, pluralOf } from './plural.ts'

const plural =
  `tasks projects line-items people children salespeople news series data metadata media equipment addresses
  statuses buses categories analyses criteria indices photos apis taxis cameras menus plateaus feedback sheep software
  policies wives days boxes tasks-2024 classes lenses countries cities aircraft police skus mice
  kunden rechnungen artikel bestellungen mitarbeiter termine fahrzeuge adressen konten rechnungs-positionen projekte
  clients factures libri ordini oggetti zamowienia kunder varer tilaukset s`.split(/\s+/)
for (const name of plural) test(`${name} is no singular`, () => assert.equal(isSingular(name), false))

const singular =
  `task project line-item person child address status bus class category analysis basis canvas lens box company
  country city items-list campus axis menu day process customer task-2 invoice employee`.split(/\s+/)
for (const name of singular) test(`${name} is singular`, () => assert.equal(isSingular(name), true))

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
    assert.equal(isSingular(wanted), false)
  })
}
