import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { RuleContext } from 'resourced-contract/model/declaration'
import { issue } from 'resourced-contract/spec/faults'
import { ruleIssues } from './decide.ts'

const plan = { caller: { id: 'ann', roles: [], claims: {} }, now: 0 }

function issuesOf(check: (context: RuleContext) => unknown) {
  const rule = { on: 'create', check: check as () => undefined } as const
  const { resources } = completeCatalog({ name: 'x', resources: { notes: { fields: {}, rules: [rule] } } })
  const resource = resources.get('notes')
  assert.ok(resource)
  return ruleIssues(plan, { resource, trigger: 'create', current: undefined, next: { id: 'a' } }, [])
}

test('a rule gets the record, the caller and the time, and objects by its return value', () => {
  const objection = { code: 'TOO_LATE', message: 'Too late.' }
  assert.deepEqual(
    issuesOf(() => undefined),
    [],
  )
  assert.deepEqual(
    issuesOf(({ next, caller, now }) =>
      next?.['id'] === 'a' && caller.id === 'ann' && now === 0 ? objection : undefined,
    ),
    [issue('given', { code: 'TOO_LATE', message: 'Too late.' })],
  )
})

test('a rule that returns a promise or an unusable value is a fault of the declaration', () => {
  for (const answer of [Promise.resolve(undefined), null, true, {}]) {
    assert.throws(() => issuesOf(() => answer), TypeError)
  }
})
