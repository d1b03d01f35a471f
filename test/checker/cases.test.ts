/** The cases as a whole: what they say of themselves is so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ruleOf } from '../../src/checker/case.ts'
import { cases, unseen } from '../../src/checker/cases.ts'
import { rules } from '../../src/spec/rules.ts'

test('every rule has cases, or a reason why nothing of it can be seen from outside, and not both', () => {
  const seen = new Set(cases.map(ruleOf))
  assert.deepEqual(
    rules.map(({ id }) => id).filter((id) => seen.has(id) === Object.hasOwn(unseen, id)),
    [],
  )
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
