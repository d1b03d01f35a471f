import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faults } from './fault-entries.ts'
import { ruleSections, rules } from './rules.ts'

test('the numbers of a section grow; numbers of rules that are not built yet are left out', () => {
  for (const { prefix, rules: own } of ruleSections) {
    const numbers = own.map(({ id }) =>
      id.startsWith(`${prefix}-`) ? Number(id.slice(prefix.length + 1)) : Number.NaN,
    )
    assert.ok(numbers.every(Number.isInteger), prefix)
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((left, right) => left - right),
    )
    assert.ok(Number(numbers[0]) >= 1, prefix)
  }
})

test('no two sections share a prefix', () => {
  const prefixes = ruleSections.map((section) => section.prefix)
  assert.equal(new Set(prefixes).size, prefixes.length)
})

test('every rule is one or a few whole sentences', () => {
  for (const rule of rules) assert.match(rule.sentence, /^[A-Za-z].+\.$/, rule.id)
})

test('every fault cites a rule that exists', () => {
  const known = new Set<string>(rules.map((rule) => rule.id))
  for (const [code, entry] of Object.entries(faults)) assert.ok(known.has(entry.rule), `${code} cites ${entry.rule}`)
})
