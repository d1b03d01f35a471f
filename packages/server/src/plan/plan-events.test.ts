import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always } from 'resourced-contract/model/predicate'
import { planEvents } from './plan-events.ts'

const caller = { id: 'ann', roles: [], claims: {} }

test('there is no plan where no resource has events', () => {
  const catalog = completeCatalog({ name: 'x', resources: { notes: { fields: { title: { type: 'string' } } } } })
  const without = { ...catalog, system: new Map([...catalog.system].filter(([name]) => name !== 'events')) }
  assert.equal(planEvents({ catalog: without, versionCatalog: without, caller }, 0, 10), undefined)
  const [[, any]] = [...catalog.system] as [[string, NonNullable<ReturnType<typeof catalog.system.get>>]]
  const withEvents = { ...catalog, system: new Map([['events', any]]) }
  const plan = planEvents({ catalog: withEvents, versionCatalog: withEvents, caller: 'everyone' }, 7, 10)
  assert.deepEqual(plan && [plan.permitted, plan.filter, plan.after, plan.version], [always, always, 7, 'v1'])
})
