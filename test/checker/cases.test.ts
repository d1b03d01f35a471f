/** The cases as a whole: what they say of themselves is so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ruleOf } from '../../src/checker/case/case.ts'
import { cases } from '../../src/checker/cases/cases.ts'
import { rules } from '../../src/spec/rules.ts'

test('every rule either has cases or says why it cannot be observed from outside', () => {
  const withCases = new Set(cases.map(ruleOf))
  const wrong = rules.filter(({ id, unobservable }) => withCases.has(id) === (unobservable !== undefined))
  assert.deepEqual(wrong, [])
})

test('every case has a name of its own, a rule, and needs only what comes before it and is not asked later', () => {
  const before = new Map<string, boolean>()
  for (const { id, after = [], alone = false } of cases) {
    assert.ok(!before.has(id), id)
    assert.ok(
      rules.some((rule) => rule.id === id.slice(0, id.indexOf('/'))),
      id,
    )
    for (const needed of after) {
      assert.ok(before.has(needed), `${id} needs ${needed}`)
      assert.ok(alone || before.get(needed) === false, `${id} needs ${needed}, which is asked later`)
    }
    before.set(id, alone)
  }
})
