import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faults } from './faults.ts'
import { ruleSections, rules } from './rules.ts'

test('a rule number is its section and its place in it', () => {
  for (const section of ruleSections) {
    const expected = section.rules.map((_, index) => `${section.prefix}-${index + 1}`)
    assert.deepEqual(
      section.rules.map((rule) => rule.id),
      expected,
    )
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
