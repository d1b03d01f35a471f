import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faults } from './faults.ts'
import { ruleSections, rules } from './rules.ts'

test('a rule number is its section and a number that grows: numbers of rules that are not built yet are left free', () => {
  for (const { prefix, rules: own } of ruleSections) {
    const numbers = own.map(({ id }) =>
      id.startsWith(`${prefix}-`) ? Number(id.slice(prefix.length + 1)) : Number.NaN,
    )
    assert.ok(numbers.every(Number.isInteger), prefix)
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((left, right) => left - right),
    )
    assert.equal(numbers[0], 1)
  }
})

test('no two sections share a prefix', () => {
  const prefixes = ruleSections.map((section) => section.prefix)
  assert.equal(new Set(prefixes).size, prefixes.length)
})

test('every rule is one or a few whole sentences', () => {
  for (const rule of rules) assert.match(rule.sentence, /^[A-Za-z].+\.$/, rule.id)
})

test('the level follows from the mark, save where the specification calls a rule optional', () => {
  for (const rule of rules) {
    const expected = { specification: ['must', 'may'], decision: ['should'], beyond: ['may'] }[rule.mark]
    assert.ok(expected.includes(rule.level), `${rule.id} is ${rule.level}`)
  }
})

test('every fault cites a rule that exists', () => {
  const known = new Set<string>(rules.map((rule) => rule.id))
  for (const [code, entry] of Object.entries(faults)) assert.ok(known.has(entry.rule), `${code} cites ${entry.rule}`)
})
