/** The cases as a whole: what they say of themselves is so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rules } from 'resourced-contract/spec/rules'
import { ruleOf, type Step } from '../../packages/check/src/case/case.ts'
import { requestsOf } from '../../packages/check/src/case/define.ts'
import { placed, placementOf } from '../../packages/check/src/case/tiers.ts'
import { cases } from '../../packages/check/src/cases/cases.ts'

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
    before.set(id, alone !== false)
  }
})

test('every case has one tier, and every case about HTTP the section that it follows from', () => {
  const known = new Set([...cases.map(({ id }) => id), ...cases.map(ruleOf)])
  assert.deepEqual(
    placed.filter((each) => !known.has(each)),
    [],
    'rules and cases that do not exist',
  )
  const names = new Set(placed)
  assert.deepEqual(
    cases.filter((each) => !names.has(each.id) && !names.has(ruleOf(each))).map(({ id }) => id),
    [],
    'cases without a tier',
  )
  const isCited = (section = '') =>
    /^RFC (?:9110|9111|9112|9457|8288|6585|8594|9745|5789), section \d|^Fetch, /.test(section)
  const uncited = cases.map((each) => ({ id: each.id, ...placementOf(each) }))
  assert.deepEqual(
    uncited.filter(({ tier, section }) => tier === 'http' && !isCited(section)),
    [],
  )
})

test('every reference in a request is to a step that comes before it, or to a record that the checker creates', () => {
  for (const { id, steps } of cases) {
    const before = new Set(['parent'])
    const check = (each: readonly Step[]): void => {
      for (const step of each) {
        const { between = [], ...rest } = { between: [], ...step } as Step & { between?: readonly Step[] }
        // Records that are created with others have no references to them.
        for (const [, name = ''] of JSON.stringify(rest).matchAll(/«([^«»|]+)\|/g)) {
          assert.ok(before.has(name.replace(/\.\d+$/, '')), `${id} refers to ${name} before that step`)
        }
        for (const name of namesOf(step)) before.add(name)
        check(between)
      }
    }
    check(steps)
  }
})

function namesOf(step: Step): readonly string[] {
  return 'as' in step ? [step.as] : requestsOf(step).map(({ as }) => as)
}
